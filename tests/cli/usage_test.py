"""Help, version, and messages for wrong arguments."""

from support import IO_ERROR, USAGE, CommandTest

SOLVE_OPTIONS = """--factorization --precision --ordering --threads --schedule --alloc --comm-threads --split --rhs --nrhs
    --refine --method --levels --block-size --coarsen --runtime --supernodes --pivoting --pivot-tolerance --trace --json --output --max-memory --quiet --verbose""".split()


class Help(CommandTest):
    def test_explains_every_option_the_generators_and_the_exit_codes(self):
        text = self.succeed("solve", "--help")
        for option in SOLVE_OPTIONS:
            self.assertIn(option + " ", text)
        for word in ("Examples", "lap3d:N", "Exit codes", "not_positive_definite", "not available in this version"):
            self.assertIn(word, text)
        self.assertLess(max(map(len, text.splitlines())), 121)

    def test_exists_for_every_command(self):
        general = self.succeed("--help")
        for name in ("solve", "analyze", "compare", "simulate", "generate", "trace", "machine", "dense"):
            self.assertIn(f"  {name} ", general)
            self.assertIn("Examples", self.succeed(name, "--help"))

    def test_version_is_one_line(self):
        self.assertRegex(self.succeed("--version"), r"\Aespalier \d+\.\d+\.\d+\n\Z")


class Misuse(CommandTest):
    def test_words_that_mean_nothing(self):
        self.fail_each(USAGE, ("", "try 'espalier --help'"), ("slove lap3d:4", "unknown command 'slove'"),
                       ("solve", "MATRIX", "try 'espalier solve --help'"),
                       ("solve lap3d:4 --threads 2 --threads 3", "--threads is given more than once"),
                       ("solve lap3d:4 --thread 2", "--thread", "try 'espalier solve --help'"),
                       ("analyze lap3d:4 --rhs ones", "--rhs"), ("solve lap3d:4 lap3d:5", "lap3d:5"),
                       ("solve lap3d:4 --json", "--json"), ("solve lap3d", "lap3d:20"),
                       ("solve random", "random:N:NNZ:SEED"), ("solve lap3d:4 --quiet --verbose",),
                       ("solve lap3d:4 --json - --output -",), ("solve lap3d:4 --json same --output same",),
                       ("solve lap3d:4 --alloc 'a\nb'",), ("solve lap3d:4 --json ''",), ("solve lap3d:4 --output ''",),
                       ("solve lap3d:4 --rhs ''",), ("solve lap3d:4 --ordering ''",), ("solve lap3d:4 --trace ''",))
        self.fail_each(USAGE, *((f"solve lap3d:{size}",) for size in ("", "0", "-2", "x", "4:5:6:7", "999999999999")))
        self.fail_each(IO_ERROR, ("solve lap4d:10", "lap4d:10"), ("solve 'no\nsuch\tfile.mtx'",))
        self.assertEqual(self.names(), [])

    def test_near_words_are_suggested(self):
        self.fail_each(USAGE, *((line, f"did you mean '{near}'?") for line, near in (
            ("slove lap3d:4", "solve"), ("solve lap3d:4 --thread 2", "--threads"), ("trace a.paje --pgn=x", "--png"),
            ("solve lap3d:4 --split 1D", "1d"), ("compare lap3d:4 --vary ordring=amd", "ordering"))))
        self.fail_each(IO_ERROR, ("solve lapd3:4", "did you mean 'lap3d'?"),
                       ("solve lap3d:4 --ordering mestis", "did you mean 'metis'?"))
        self.assertNotIn("did you mean", self.fail_with(USAGE, "solve", "lap3d:4", "--colour", "red"))

    def test_options_that_a_command_does_not_have(self):
        for line, message in (
                ("solve lap3d:4 --colour red", "unknown option '--colour'"),
                ("solve lap3d:4 --thread 2", "unknown option '--thread' (did you mean '--threads'?)"),
                ("solve lap3d:4 -threads=2", "unknown option '-threads' (did you mean '--threads'?)"),
                ("solve --colour", "unknown option '--colour'"), ("solve lap3d:4 -x", "unknown option '-x'"),
                ("solve lap3d:4 lap3d:5 lap3d:6", "unexpected argument 'lap3d:5'"),
                ("machine extra", "unexpected argument 'extra'"),
                ("analyze lap3d:4 --rhs ones", "analyze has no option '--rhs'; solve, compare have it"),
                ("simulate lap3d:4 --null-space x", "simulate has no option '--null-space'; solve has it")):
            with self.subTest(line=line):
                words = line.split()
                self.assertEqual(self.fail_with(USAGE, *words), f"{message}; try 'espalier {words[0]} --help'")
        self.assertEqual(self.fail_with(USAGE, "--threads", 2, "solve", "lap3d:4"),
                         "expected a command, not '--threads'; try 'espalier --help'")
        self.assertIn("unknown command 'slove' (did you mean 'solve'?); the commands are solve, ",
                      self.fail_with(USAGE, "slove", "lap3d:4"))

    def test_missing_values_and_values_of_flags(self):
        threads = "--threads needs auto or a whole number between 1 and 4096, not ''"
        self.fail_each(USAGE, ("solve lap3d:4 --threads", threads + "; try 'espalier solve --help'"), ("solve lap3d:4 --threads=", threads),
                       ("solve lap3d:4 --threads --quiet", threads),
                       ("solve lap3d:4 --schedule", "--schedule needs one of static, dynamic, places, nas, auto, not ''"),
                       ("solve lap3d:4 --ordering", "--ordering needs auto, dissection, "),
                       ("solve lap3d:4 --tolerance", "--tolerance needs auto or a number above zero"),
                       ("solve lap3d:4 --max-memory", "--max-memory needs none or a size"),
                       ("solve lap3d:4 --json --quiet", "--json needs a value: FILE"),
                       ("solve lap3d:4 --rhs", "--rhs needs a value: FILE|ones|random"),
                       ("generate lap3d:4 -o", "--output needs a value: FILE"),
                       ("compare lap3d:4 --vary", "--vary needs NAME=VALUE,VALUE"),
                       ("solve lap3d:4 --quiet=5", "--quiet takes no value"),
                       ("solve lap3d:4 --strict=maybe", "--strict takes no value"))
        self.assertEqual(self.names(), [])

    def test_impossible_options_are_found_before_the_matrix_is_read(self):
        self.fail_each(USAGE, *((f"{line.replace('M', 'missing.mtx', 1)}", part) for line, part in (
            ("solve M --method ilu --condition", "--condition cannot be combined with --method ilu"),
            ("solve M --method ilu --mixed-precision", "--mixed-precision cannot be combined with --method ilu"),
            ("solve M --method ilu --null-space z", "--null-space cannot be combined with --method ilu"),
            ("analyze M --method ilu --factorization ldlt", "--factorization ldlt cannot be combined with --method ilu"),
            ("compare M --vary method=direct,ilu --mixed-precision", "--mixed-precision cannot be combined"),
            ("solve M --refine cg --factorization lu", "--refine cg cannot be combined with --factorization lu"),
            ("analyze M --method ilu --processes 2", "--processes needs --method direct"),
            ("analyze M --method ilu --trace t.paje", "--trace needs --method direct"),
            ("analyze M --processes 1048576 --threads 2", "--processes 1048576 and --threads 2 make more than"))))
        self.fail_each(IO_ERROR, *((f"{line.replace('M', 'missing.mtx', 1)}", part) for line, part in (
            ("solve M --rhs unit", "--rhs 'unit' is neither a generated right-hand side (ones, random) nor a readable file: "),
            ("solve M --rhs one", "(did you mean 'ones'?)"), ("solve M --rhs .", "--rhs '.' is neither"),
            ("compare M --vary threads=1 --rhs b.mtx", "--rhs 'b.mtx' is neither"),
            ("solve M --ordering nofile", "--ordering 'nofile' is neither a method (auto, dissection, scotch, "),
            ("solve M --ordering .", "Is a directory"),
            ("solve M --topology no.xml", "--topology 'no.xml' cannot be read: No such file"),
            ("simulate M --machine no.json", "--machine 'no.json' cannot be read: No such file"),
            ("compare M --vary threads=1 --simulate no.json", "--simulate 'no.json' cannot be read"),
            ("machine --simulate no.json", "--simulate 'no.json' cannot be read"),
            ("dense --simulate no.json", "--simulate 'no.json' cannot be read"))))

    def test_unknown_values_name_the_option_the_value_and_the_choices(self):
        for option, choices in {"--factorization": "auto, llh, llt, ldlt, ldlh, lu", "--precision": "s, d, c, z",
                                "--schedule": "static, dynamic, places, nas, auto", "--alloc": "global, local, interleave",
                                "--split": "1d, 2d", "--input": "root, distributed",
                                "--refine": "auto, none, ir, cg, gmres, bicgstab"}.items():
            message = self.fail_with(USAGE, "solve", "lap3d:4", option, "bogus")
            for part in (option, "'bogus'", choices, "try 'espalier solve --help'"):
                self.assertIn(part, message)

    def test_numbers_out_of_range_or_not_numbers(self):
        for option, values in {"--threads": ["0", "-1", "two", "2.5", "1e3", "0x2", "99999999999999999999", " 2"],
                               "--nrhs": ["0", "-3", "many"], "--comm-threads": ["3", "-1", "x"],
                               "--tolerance": ["0", "-1", "inf", "nan", "small"],
                               "--pivot-tolerance": ["0", "5", "nan"],
                               "--max-memory": ["0", "-1G", "4X", "G", "1e9", "4 G", "1..5G", "nan", "9999999999T",
                                                "0.1B"]}.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assertIn(option, self.fail_with(USAGE, "solve", "missing.mtx", f"{option}={value}"))

    def test_bounds_that_contradict_each_other(self):
        bounds = "--min-block-width 300 --max-block-width 100"
        self.fail_each(USAGE, *((line, bounds.replace(" --", " is above --")) for line in (
            f"solve missing.mtx {bounds}", f"analyze missing.mtx {bounds}", f"simulate missing.mtx {bounds}",
            "compare missing.mtx --max-block-width 100 --vary min-block-width=50,300")))

    def test_outputs_that_are_one_file(self):
        (self.folder / "link").symlink_to("a.out")
        for other in ("./a.out", self.folder / "a.out", "link"):
            message = self.fail_with(USAGE, "solve", "lap3d:4", "--json", "a.out", "--output", other)
            self.assertIn(str(other), message)
        self.assertEqual(self.names(), ["link"])
        self.succeed("solve", "lap3d:4", "--json", "/dev/null", "--output", "/dev/null", "--quiet")

    def test_outputs_over_inputs(self):
        self.succeed("generate", "lap2d:2", "-o", "a.mtx", "--quiet")
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n1\n")
        self.write("order.txt", "0\n1\n2\n3\n")
        arguments = ["solve", "a.mtx", "--rhs", "b.mtx", "--ordering", "order.txt"]
        for name in ("a.mtx", "b.mtx", "order.txt"):
            before = (self.folder / name).read_bytes()
            for option in ("--json", "--output"):
                self.assertIn(name, self.fail_with(USAGE, *arguments, option, f"./{name}"))
            self.assertEqual((self.folder / name).read_bytes(), before)

    def test_outputs_over_the_machine(self):
        self.write("t.xml", "<topology/>")
        self.write("m.json", "{}")
        self.fail_each(USAGE, *((line, "same file") for line in (
            "solve lap3d:3 --topology t.xml --json ./t.xml", "analyze lap3d:3 --topology t.xml --trace ./t.xml",
            "dense --n 10 --topology t.xml --json ./t.xml", "machine --topology t.xml --json ./t.xml",
            "simulate lap3d:3 --machine t.xml --trace ./t.xml", "simulate lap3d:3 --machine m.json --json ./m.json",
            "compare lap3d:3 --vary threads=1 --topology t.xml --csv ./t.xml",
            "compare lap3d:3 --vary topology=here,t.xml --json ./t.xml",
            "compare lap3d:3 --vary threads=1 --simulate m.json --json ./m.json")))
        self.assertEqual((self.folder / "t.xml").read_text() + (self.folder / "m.json").read_text(), "<topology/>{}")

    def test_machines_by_name(self):
        for command in (["solve", "lap3d:3", "--quiet"], ["machine", "--quiet", "--dgemm-order", 50],
                        ["dense", "--n", 20, "--quiet"], ["simulate", "lap3d:3", "--quiet"]):
            option = "--machine" if command[0] == "simulate" else "--topology"
            self.assertEqual(self.succeed(*command, option, "here"), "")
        for command in ("solve", "analyze"):  # before the matrix is read
            self.assertIn("TYPE:COUNT", self.fail_with(USAGE, command, "missing.mtx", "--topology", "core:many"))
            self.assertIn("espalier simulate --machine",
                          self.fail_with(USAGE, command, "lap3d:3", "--topology", "m.json"))

    def test_options_of_the_library_keep_their_dashes(self):
        for option, value in (("--push", "x"), ("--select", "x"), ("--push-init", "x"), ("--seed", "-1"),
                              ("--split-width", "0"), ("--split-rows", "0")):
            self.assertTrue(self.fail_with(USAGE, "solve", "lap3d:3", option, value).startswith(option + " "), option)
