"""Effects of the numerical options: scaling, matching, mixed precision and condition; transposed and rank-deficient
systems."""

import math
import re

from support import INACCURATE, SINGULAR, USAGE, CommandTest, backward_error, laplacian, read_array, read_matrix


class Operation(CommandTest):
    def test_transposed_and_adjoint_systems(self):
        for operation, spec in (("transpose", "convdiff3d:3"), ("adjoint", "helmholtz3d:4")):
            self.succeed("generate", spec, "--output", "a.mtx", "--quiet")
            self.succeed("solve", "a.mtx", "--operation", operation, "--output", "x.mtx")
            n, entries = read_matrix(self.folder / "a.mtx")
            x, = read_array(self.folder / "x.mtx")
            mirrored = {(j, i): v.conjugate() if operation == "adjoint" else v for (i, j), v in entries.items()}
            self.assertLess(backward_error((n, mirrored), x, [1.0] * n), 1e-14)
            self.assertGreater(backward_error((n, entries), x, [1.0] * n), 1e-6)
        self.assertIn("one of none, transpose, adjoint", self.fail_with(USAGE, "solve", "lap2d:4", "--operation", "t"))


class MatchingAndScaling(CommandTest):
    def test_matching_is_automatic_and_can_be_turned_off(self):
        # A convection problem with permuted rows: hardly any entry is left on the diagonal.
        self.succeed("generate", "convdiff3d:3", "--output", "a.mtx", "--quiet")
        n, entries = read_matrix(self.folder / "a.mtx")
        self.write_matrix("p.mtx", n, {((i * 17 + 5) % n, j): v for (i, j), v in entries.items()})
        with_matching = self.report("solve", "p.mtx")
        self.assertTrue(with_matching["analysis"]["matched"])
        self.assertEqual(with_matching["analysis"]["structural_rank"], with_matching["matrix"]["n"])
        self.assertEqual(with_matching["factor"]["pivots_replaced"], 0)
        analysis = self.report("analyze", "p.mtx", "--matching", "off")["analysis"]
        self.assertFalse(analysis["matched"])
        self.assertIsNone(analysis["structural_rank"])

    def test_both_can_be_forced_and_turned_off(self):
        report = self.report("solve", "convdiff3d:3", "--matching", "on", "--scaling", "on")
        self.assertTrue(report["analysis"]["matched"])
        self.assertEqual((report["settings"]["matching"], report["settings"]["scaling"]), ("on", "on"))
        for options, scaled in ((), True), (("--scaling", "off", "--matching", "off"), False):
            self.assertEqual(self.report("analyze", "spe10like:3x3x3", *options)["analysis"]["scaled"], scaled)

    def test_static_pivots_that_were_replaced_are_not_blamed_on_the_matrix(self):
        system = ("saddle3d:8", "--matching", "off", "--factorization", "ldlt")
        split = ("--split", "2d", "--split-width", "4", "--split-rows", "4")  # columns of split panels are not delayed
        message = self.fail_with(INACCURATE, "solve", *system, *split, "--refine", "none", "--quiet")
        self.assertRegex(message, "pivots were replaced; --pivoting auto without --split 2d avoids this")
        self.assertNotIn("singular or nearly so", message)
        self.assertEqual(self.report("solve", *system, "--pivoting", "auto")["factor"]["pivots_replaced"], 0)

    def test_useless_static_pivots_are_replaced_by_delayed_ones(self):
        report = self.report("solve", "saddle3d:8", "--matching", "off", "--factorization", "ldlt")
        self.assertRegex(" ".join(report["notes"]), r"because \d+ pivots were replaced \(.*\); factorizing with delayed")
        self.assertEqual(report["factor"]["pivots_replaced"], 0)
        self.assertLess(report["backward_error"], 1e-14)

    def test_structural_rank_is_named(self):
        self.write_matrix("s.mtx", 3, {(0, 0): 1.0, (0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0, (2, 2): 1.0})
        self.assertIn("structural rank is 2 of 3", self.fail_with(SINGULAR, "solve", "s.mtx"))
        self.write_matrix("e.mtx", 3, {(0, 0): 1.0, (0, 1): 1.0, (2, 2): 1.0})
        message = self.fail_with(SINGULAR, "solve", "e.mtx")
        self.assertIn("row 2 has no entry", message)
        self.assertIn("structural rank is 2 of 3", message)

    def test_values_over_thirty_orders_of_magnitude(self):
        n = 60
        entries = {}
        for i in range(n):
            entries[i, i] = 10.0 ** ((i * 7) % 31 - 15)
            entries[i, (i + 1) % n] = 10.0 ** ((i * 11) % 31 - 20)
        self.write_matrix("wild.mtx", n, entries)
        self.assertLess(self.report("solve", "wild.mtx")["backward_error"], 1e-14)


class MixedPrecision(CommandTest):
    def test_reaches_double_accuracy_with_single_factors(self):
        report = self.report("solve", "lap3d:8", "--mixed-precision")
        self.assertEqual((report["factor"]["scalar"], report["settings"]["precision"]), ("s", "d"))
        self.assertLess(report["backward_error"], 1e-14)
        self.assertGreater(report["refine"]["iterations"], 0)

    def test_falls_back_with_a_note(self):
        # A chain held by a spring that is 1e-10 as stiff.
        entries = laplacian(50, 1.0) | {(0, 0): 1.0 + 1e-10}
        self.write_matrix("chain.mtx", 50, entries, symmetry="symmetric")
        report = self.report("solve", "chain.mtx", "--mixed-precision")
        self.assertTrue(report["factor"]["precision_fell_back"])
        self.assertEqual(report["factor"]["scalar"], "d")
        self.assertTrue(any("double" in note for note in report["notes"]), report["notes"])


class Condition(CommandTest):
    def test_of_a_laplacian(self):
        report = self.report("solve", "lap2d:10", "--condition")
        largest, smallest = (8 * math.sin(math.pi * k / 22) ** 2 for k in (10, 1))
        truth = smallest / largest  # 2-norm; the 1-norm is within a factor of 10 of it here
        self.assertLess(report["factor"]["rcond"], 3 * truth)
        self.assertGreater(report["factor"]["rcond"], truth / 10)
        self.assertLess(report["refine"]["forward_error"], 1e-12)
        knowledge = report["knowledge"]
        self.assertEqual(knowledge["inertia"], {"positive": 100, "negative": 0, "zero": 0})
        eigenvalues = [4 * (math.sin(math.pi * i / 22) ** 2 + math.sin(math.pi * j / 22) ** 2)
                       for i in range(1, 11) for j in range(1, 11)]
        self.assertAlmostEqual(knowledge["determinant"]["log_modulus"], sum(map(math.log, eigenvalues)), places=9)
        self.assertEqual(knowledge["determinant"]["phase"], 0)

    def test_is_printed(self):
        text = self.succeed("solve", "saddle3d:3", "--condition")
        for title in ("1/condition", "inertia", "determinant", "forward error"):
            self.assertIn(title, text)

    def test_bound_of_the_error_is_printed_rounded_up(self):
        for n in range(4, 8):
            request = ["solve", f"lap2d:{n}", "--condition", "--threads", "1"]
            printed = float(re.search(r"forward error\s+(\S+) at most", self.succeed(*request))[1])
            bound = self.report(*request)["refine"]["forward_error"]
            self.assertGreaterEqual(printed, bound)
            self.assertLess(printed, 1.1 * bound)

    def test_sign_of_a_determinant(self):
        self.write_matrix("d.mtx", 2, {(0, 0): -2.0, (0, 1): 1.0, (1, 1): 3.0})
        determinant = self.report("solve", "d.mtx", "--condition")["knowledge"]["determinant"]
        self.assertAlmostEqual(determinant["phase"], math.pi)
        self.assertAlmostEqual(determinant["log_modulus"], math.log(6))


class NullSpace(CommandTest):
    def neumann(self, n):
        """A chain with free ends. It is singular, and its null space is the constants."""
        return self.write_matrix("n.mtx", n, laplacian(n, 1.0), symmetry="symmetric")

    def right_hand_side(self, values):
        self.write("b.mtx", f"%%MatrixMarket matrix array real general\n{len(values)} 1\n" + "\n".join(map(repr, values)))

    def test_consistent_system_has_the_solution_of_least_norm(self):
        n = 40
        self.neumann(n)
        b = [1.0 if i < n // 2 else -1.0 for i in range(n)]
        self.right_hand_side(b)
        text = self.succeed("solve", "n.mtx", "--rhs", "b.mtx", "--null-space", "z.mtx", "--output", "x.mtx")
        self.assertRegex(text, r"(?m)^null space \.\.\. ")  # a phase of the progress
        z = read_array(self.folder / "z.mtx")
        self.assertEqual(len(z), 1)
        self.assertLess(max(abs(abs(value) - 1 / math.sqrt(n)) for value in z[0]), 1e-12)
        x, = read_array(self.folder / "x.mtx")
        self.assertLess(abs(sum(x)), 1e-10 * max(map(abs, x)))
        self.assertLess(backward_error(read_matrix(self.folder / "n.mtx"), x, b), 1e-14)

    def test_inconsistent_system_is_told(self):
        self.neumann(20)
        self.right_hand_side([1.0] * 20)
        message = self.fail_with(SINGULAR, "solve", "n.mtx", "--rhs", "b.mtx", "--null-space", "z.mtx", "--quiet")
        self.assertIn("rank 19", message)
        self.assertIn("z.mtx", self.names())

    def test_of_a_regular_matrix_is_empty(self):
        report = self.report("solve", "lap2d:6", "--null-space", "z.mtx")
        self.assertEqual((report["null_space"]["rank"], report["null_space"]["nullity"]), (36, 0))
        self.assertEqual(read_array(self.folder / "z.mtx"), [])

    def test_does_not_go_with_a_transposed_system(self):
        self.fail_with(USAGE, "solve", "lap2d:4", "--null-space", "z.mtx", "--operation", "transpose")

    def test_of_a_matrix_with_an_empty_row(self):
        self.write_matrix("e.mtx", 3, {(0, 0): 1.0, (2, 2): 2.0}, symmetry="symmetric")
        self.fail_with(SINGULAR, "solve", "e.mtx", "--quiet")
        self.fail_with(SINGULAR, "solve", "e.mtx", "--null-space", "z.mtx", "--quiet")  # b = ones has no solution
        z, = read_array(self.folder / "z.mtx")
        self.assertLess(max(abs(abs(value) - expected) for value, expected in zip(z, (0, 1, 0))), 1e-14)
