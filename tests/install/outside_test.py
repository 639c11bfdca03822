"""Programs of other projects build and run with an installed tree that was moved after the installation."""

import os
import re
import shutil
import unittest
from pathlib import Path

from support import BUILD, CMAKE, COMPILERS, SOURCE, run, scratch

OUTSIDE = Path(__file__).resolve().parent / "outside"


class Outside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = scratch(cls)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "staged")
        cls.prefix = cls.folder / "moved" / "tree"
        cls.prefix.parent.mkdir()
        (cls.folder / "staged").rename(cls.prefix)
        cls.library = next(cls.prefix.glob("**/libespalier.so")).parent
        cls.with_fortran = bool(COMPILERS["Fortran"]) and any(cls.prefix.glob("**/libespalier_fortran.*"))

    def pkg_config(self, package, *flags):
        found = {**os.environ, "PKG_CONFIG_PATH": str(self.library / "pkgconfig")}
        return run("pkg-config", *flags, package, env=found).split()

    def expect_program_runs(self, program, **settings):
        self.assertIn("1.5 2.0 1.5", run(program, cwd=self.folder, **settings))

    def build_with_cmake(self, languages, name):
        build = self.folder / name
        run(CMAKE, "-S", OUTSIDE, "-B", build, "-G", "Ninja", f"-DLANGUAGES={languages}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", *(f"-DCMAKE_{language}_COMPILER={COMPILERS[language]}"
                                                    for language in languages.split(";")))
        run(CMAKE, "--build", build)
        return build

    def test_cmake_finds_the_package_for_every_language(self):
        languages = "C;CXX;Fortran" if self.with_fortran else "C;CXX"
        build = self.build_with_cmake(languages, "every")
        programs = sorted(path.name for path in build.glob("from_*") if path.is_file())
        self.assertGreaterEqual(len(programs), 3 if self.with_fortran else 2, programs)
        for program in programs:
            self.expect_program_runs(build / program)

    def test_a_project_in_c_alone_needs_no_other_compiler(self):
        self.expect_program_runs(self.build_with_cmake("C", "c") / "from_c")

    def test_pkg_config_finds_everything(self):
        compiled = [("C", "from_c.c", "espalier", ["-std=c11"]), ("CXX", "from_cpp.cpp", "espalier", ["-std=c++20"])]
        if self.with_fortran:
            compiled.append(("Fortran", "from_fortran.f90", "espalier-fortran", []))
        for language, source, package, flags in compiled:
            program = self.folder / f"pkg-{language}"
            run(COMPILERS[language], *flags, OUTSIDE / source, "-o", program,
                *self.pkg_config(package, "--cflags", "--libs"))
            self.expect_program_runs(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
        self.assertEqual(self.pkg_config("espalier", "--modversion"), ["0.1.0"])

    def test_installed_headers_are_public_and_include_no_others(self):
        headers = {path.relative_to(self.prefix / "include") for path in self.prefix.glob("include/**/*")
                   if path.is_file()}
        public = {path.relative_to(SOURCE / "include") for path in SOURCE.glob("include/**/*.h*")}
        self.assertEqual(headers, public)
        for header in headers:
            for name in re.findall(r'#\s*include\s*"([^"]+)"', (self.prefix / "include" / header).read_text()):
                self.assertIn(Path(name), headers, header)

    def test_no_file_contains_the_build_directory(self):
        for path in self.prefix.glob("**/*"):
            if not path.is_file() or path.is_symlink():
                continue
            if path.suffix in {".cmake", ".pc", ".so", ".1", ".hpp", ".h", ""}:
                self.assertNotIn(str(BUILD).encode(), path.read_bytes(), path)
        for binary in [self.library / "libespalier.so", self.prefix / "bin" / "espalier"]:
            self.assertNotRegex(run("readelf", "--dynamic", binary), "R(UN)?PATH")

    def test_links_of_installed_pages_lead_to_installed_files(self):
        pages = list((self.prefix / "share/doc/espalier").glob("**/*.md"))
        self.assertGreater(len(pages), 25)
        for page in pages:
            text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
            for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
                if not target.startswith("http"):
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

    def test_plugins_of_other_programs_find_the_library(self):
        for plugin in (*self.library.glob("libespalier_petsc.so"), *self.library.glob("**/libespalier_ma57.so"),
                       *self.library.glob("**/libhsl.so")):
            found = re.search(r"libespalier\.so\S* => (\S+)", run("ldd", plugin))
            self.assertEqual(Path(found[1]).parent.resolve(), self.library.resolve(), plugin)
            self.assertIn("NODELETE", run("readelf", "--dynamic", plugin))  # loading it repeatedly takes long

    def test_command_runs_from_anywhere(self):
        out = run(self.prefix / "bin" / "espalier", "solve", "lap2d:5", cwd="/")
        self.assertRegex(out, r"(?m)^status +ok$")

    def test_pages_and_completions_are_installed(self):
        for name in ["share/man/man1/espalier.1", "share/bash-completion/completions/espalier",
                     "share/fish/vendor_completions.d/espalier.fish", "share/zsh/site-functions/_espalier",
                     "share/doc/espalier/LICENSE", "share/doc/espalier/cpp.md"]:
            self.assertTrue((self.prefix / name).is_file(), name)

    def test_a_project_may_contain_the_sources_instead(self):
        project = self.folder / "contains"
        project.mkdir()
        shutil.copy(OUTSIDE / "from_cpp.cpp", project)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(contains LANGUAGES C CXX)\n"
            f'add_subdirectory("{SOURCE}" espalier)\n'
            "add_executable(program from_cpp.cpp)\ntarget_link_libraries(program PRIVATE espalier::espalier)\n"
            "foreach(inside espalier test_core)\n  if(TARGET ${inside})\n    message(FATAL_ERROR ${inside})\n"
            "  endif()\nendforeach()\n")
        run(CMAKE, "-S", project, "-B", project / "build", "-G", "Ninja", "-DESPALIER_WITH_MPI=OFF",
            *(f"-DCMAKE_{language}_COMPILER={COMPILERS[language]}" for language in ("C", "CXX")))
