"""`espalier generate` writes files from which the matrices of the generators are read back."""

import gzip

from support import IO_ERROR, USAGE, CommandTest, backward_error, read_array, read_matrix


class Generate(CommandTest):
    def test_laplacian_is_exact(self):
        self.succeed("generate", "lap2d", 3, "--output", "a.mtx")
        n, entries = read_matrix(self.folder / "a.mtx")
        expected = {}
        for x in range(3):
            for y in range(3):
                expected[3 * x + y, 3 * x + y] = 4.0
                for p, q in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                    if 0 <= p < 3 and 0 <= q < 3:
                        expected[3 * x + y, 3 * p + q] = -1.0
        self.assertEqual((n, entries), (9, expected))

    def test_spellings_and_files_agree(self):
        joined, apart = self.succeed("generate", "lap3d:3"), self.succeed("generate", "lap3d", 3)
        self.assertEqual(joined, apart)
        self.assertIn("n = 27", self.succeed("generate", "lap3d:3", "-o", "a.mtx"))
        self.assertEqual((self.folder / "a.mtx").read_text(), joined)
        self.assertEqual(self.succeed("generate", "lap3d:3", "--output", "a.mtx.gz", "--quiet"), "")
        self.assertEqual(gzip.decompress((self.folder / "a.mtx.gz").read_bytes()).decode(), joined)

    def test_every_kind_makes_a_round_trip_through_a_file(self):
        kinds = ("lap2d:6", "lap3d:4", "elast3d:2", "convdiff3d:3", "helmholtz3d:4", "hermitian3d:3", "saddle3d:3",
                 "random:40:200:1")
        for kind in kinds:
            with self.subTest(kind=kind):
                self.succeed("generate", kind, "--output", "a.mtx", "--quiet")
                direct, read = self.report("solve", kind)["matrix"], self.report("solve", "a.mtx")["matrix"]
                for key in ("n", "nnz", "symmetry", "scalar"):
                    self.assertEqual(direct[key], read[key], key)
                self.succeed("solve", "a.mtx", "--output", "x.mtx", "--quiet")
                matrix, x = read_matrix(self.folder / "a.mtx"), read_array(self.folder / "x.mtx")[0]
                self.assertLess(backward_error(matrix, x, [1.0] * matrix[0]), 1e-11)

    def test_kinds_listed_in_the_help_exist(self):
        text = self.succeed("generate", "--help")
        listed = text.split("Generators:\n")[1].split("\n\n")[0].splitlines()
        self.assertGreater(len(listed), 5)
        for line in listed:
            kind = line.split()[0].split(":")[0]
            with self.subTest(kind=kind):
                # The generator is known and its arguments are wrong: the message shows the right form.
                self.assertIn(line.split()[0], self.fail_with(USAGE, "generate", kind, "x"))

    def test_failures_leave_no_file(self):
        self.fail_each(USAGE, ("generate",), ("generate nothing:3 -o a.mtx",), ("generate lap3d -o a.mtx",),
                       ("generate lap3d 3 4 -o a.mtx",))
        self.fail_each(IO_ERROR, ("generate lap3d:3 -o nowhere/a.mtx",), ("generate lap3d:3 -o /dev/full",))
        self.assertEqual(self.names(), [])
