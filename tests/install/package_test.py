"""Contents, dependencies, installation and removal of the Debian package."""

import os
import re
import shutil
import unittest
from pathlib import Path

from support import BUILD, CMAKE, COMPILERS, run, scratch

OUTSIDE = Path(__file__).resolve().parent / "outside"


@unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("cpack"), "dpkg-dev or cpack is not installed")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = scratch(cls)
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder, cwd=BUILD)
        (cls.package,) = cls.folder.glob("espalier_0.1.0_*.deb")

    def test_contents(self):
        listing = run("dpkg-deb", "--contents", self.package)
        for name in ["usr/bin/espalier", "libespalier.so.0.1.0", "libespalier.so.0.1 ->", "libespalier.so ->",
                     "usr/include/espalier/espalier.h", "espalierConfig.cmake", "espalier.pc", "man1/espalier.1",
                     "share/doc/espalier/copyright"]:
            self.assertIn(name, listing)
        self.assertNotRegex(listing, r"(?m)^.*\./(?!usr)\w+/")
        self.assertNotRegex(listing, r"(?m)^-rw.w|^-.{7}w", "files that others may write")

    def test_dependencies_are_the_libraries(self):
        depends = run("dpkg-deb", "--field", self.package, "Depends")
        for name in ["libc6", "libstdc++6", "libscotch-", "libmetis", "libhwloc", "libnuma1",
                     "libopenblas0-pthread"]:
            self.assertIn(name, depends)
        self.assertNotRegex(depends, r"libopenblas0(,| |$)")
        self.assertNotIn("petsc", depends)
        maintainer = run("dpkg-deb", "--field", self.package, "Maintainer")
        self.assertRegex(maintainer, r"^[\w ]+ <[\w.]+@[\w.]+>$")

    @unittest.skipUnless(shutil.which("dpkg-architecture"), "dpkg-dev is not installed")
    def test_libraries_are_in_the_folder_of_the_architecture_where_programs_find_them(self):
        root, build = self.folder / "unpacked", self.folder / "build"
        run("dpkg-deb", "--extract", self.package, root)
        libraries = root / "usr/lib" / run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
        for name in ["libespalier.so.0.1", "cmake/espalier/espalierConfig.cmake", "pkgconfig/espalier.pc"]:
            self.assertTrue((libraries / name).exists(), name)
        self.assertEqual(list(root.glob("usr/lib/*.so*")), [])
        run(CMAKE, "-S", OUTSIDE, "-B", build, "-G", "Ninja", "-DLANGUAGES=C", f"-DCMAKE_PREFIX_PATH={root}/usr",
            f"-DCMAKE_C_COMPILER={COMPILERS['C']}")
        run(CMAKE, "--build", build)
        self.assertIn("1.5 2.0 1.5", run(build / "from_c"))
        flags = run("pkg-config", "--libs", "espalier",
                    env={**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}).split()
        self.assertEqual(Path(flags[0].removeprefix("-L")).resolve(), libraries.resolve())

    @unittest.skipUnless(shutil.which("fakeroot"), "fakeroot is not installed")
    def test_installs_and_removes_cleanly(self):
        root = self.folder / "root"
        for name in ["info", "updates", "triggers"]:
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"

        def dpkg(*words):
            return run("fakeroot", "dpkg", f"--root={root}", f"--log={self.folder / 'log'}", "--force-depends",
                       "--force-script-chrootless", "--force-not-root", *words, env={**os.environ, "PATH": path})

        def left():
            return sorted(str(file) for file in root.glob("**/*") if root / "var" not in [file, *file.parents])

        dpkg("--install", self.package)
        self.assertRegex(run(root / "usr/bin/espalier", "--version"), re.escape("0.1.0"))
        self.assertIn("Status: install ok installed", dpkg("--status", "espalier"))
        dpkg("--purge", "espalier")
        self.assertEqual(left(), [])
