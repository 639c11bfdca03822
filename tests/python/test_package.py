"""The names, the type hints and the installed files of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import espalier
from espalier._versions import require_compatible

ROOT = Path(__file__).resolve().parents[2]


def run(*command, directory=None, **changes):
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=directory,
                          env={**os.environ, **changes})
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_version_is_that_of_the_project():
    declared = re.search(r"project\(espalier VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert espalier.__version__ == declared[1]


def test_public_names_exist_and_are_documented():
    for name in espalier.__all__:
        thing = getattr(espalier, name)
        assert name.startswith("__") or thing.__doc__, name
    for name in vars(espalier.Solver):
        assert name.startswith("_") or getattr(espalier.Solver, name).__doc__, name


def test_the_type_hints_cover_the_extension():
    hints = (Path(espalier.__file__).parent / "_core.pyi").read_text()
    core = sys.modules["espalier._core"]
    for name in vars(core):
        assert name.startswith("__") or re.search(rf"\b{name}\b", hints), name
    for name in vars(core.Solver):
        assert name.startswith("_") or f"def {name}(" in hints, name


def test_types_are_complete(tmp_path):
    pytest.importorskip("mypy")
    # Older versions of mypy do not know Unpack and unused-ignore, and scipy may have no types.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\nenable_incomplete_feature = Unpack\nwarn_unused_ignores = False\n"
        "disallow_subclassing_any = False\n[mypy-scipy.*]\nignore_missing_imports = True\n"
    )
    use = tmp_path / "use.py"
    use.write_text(
        "import espalier\n"
        "import numpy as np\n"
        "from scipy import sparse\n"
        "A = sparse.identity(3, format='csc')\n"
        "x = espalier.spsolve(A, np.ones(3), ordering='metis', threads=2, mixed_precision=True, schur=[0])\n"
        "solve = espalier.factorized(A, progress=lambda phase, fraction: print(phase, fraction))\n"
        "y = solve(np.ones(3)) + x\n"
        "solver = espalier.Solver(log=print).analyze(A).factorize(A)\n"
        "positive: int = solver.inertia().positive\n"
        "rank: int = solver.null_space().rank\n"
        "error: float = solver.report['backward_error']\n"
        "idle: float = solver.predict(8, 32, trace='predicted.paje').idle_s.sum()\n"
        "memory: float = max(process.memory_bytes for process in solver.predict(8).process)\n"
        "solver.write_trace(b'run.paje', name='identity')\n"
        "M = espalier.ilu(A, 1, block_size=2)\n"
        "factor = espalier.cholesky(A, 0.5, ordering_method='amd').copy()\n"
        "logarithm: float = np.log(factor.D()).sum() + espalier.splu(A, 'NATURAL', relax=1).slogdet().logabsdet\n"
    )
    misuse = tmp_path / "misuse.py"
    misuse.write_text(
        "import espalier\n"
        "espalier.Solver(orderng='metis')\n"
        "espalier.spsolve(1, 2, thraeds=2)\n"
        "espalier.factorized(1, factorisation='lu')\n"
        "espalier.cholesky(1, thread=2)\n"
        "espalier.ilu(1, level=2)\n"
        "espalier.Solver(threads='two')\n"
        "espalier.factorized(1)([1], transpose='T')\n"
        "espalier.splu(1, permc='NATURAL')\n"
    )
    shutil.copytree(Path(espalier.__file__).parent, tmp_path / "espalier")
    mypy = (sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(tmp_path / "cache"))
    run(*mypy, "espalier", "use.py", directory=tmp_path, PYTHONPATH="")
    found = subprocess.run([*mypy, "misuse.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True).stdout
    assert [int(line) for line in re.findall(r"^misuse.py:(\d+): error", found, re.M)] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_the_installed_package_works_alone(tmp_path):
    run(os.environ["CMAKE_COMMAND"], "--install", os.environ["ESPALIER_BUILD"], "--component", "python", "--prefix",
        str(tmp_path))
    installed = tmp_path / "espalier"
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.name.partition(".")[0] for path in files] == ["_core", "_keywords"] and files[0].parent == installed
    for source in (ROOT / "tools/python/espalier").glob("*.py"):  # as the wheel adds them
        shutil.copy(source, installed)
    program = (
        "import espalier, numpy, scipy.sparse as s; "
        "print(espalier.__file__, espalier.spsolve(s.identity(4, format='csc') * 2, numpy.ones(4)))"
    )
    out = run(sys.executable, "-B", "-c", program, PYTHONPATH=str(tmp_path))
    assert out == f"{tmp_path}/espalier/__init__.py [0.5 0.5 0.5 0.5]\n"


def test_a_missing_library_is_named_with_what_to_do(tmp_path):
    package = tmp_path / "espalier"
    shutil.copytree(Path(espalier.__file__).parent, package, ignore=shutil.ignore_patterns("_core.*"))
    missing = "libscotch-7.0.so: cannot open shared object file: No such file or directory"
    (package / "_core.py").write_text(f"raise ImportError({missing!r})\n")
    done = subprocess.run((sys.executable, "-B", "-c", "import espalier"), stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode != 0
    assert f"espalier cannot load a library: {missing}. " in done.stderr and "wheel" in done.stderr


def test_numpy_2_needs_pybind11_2_12(tmp_path):
    for accepted in (("1.24.2", (2, 10)), ("1.26.4", (3, 0)), ("2.0.0rc1", (2, 12)), ("2.3.1", (3, 0))):
        require_compatible(*accepted)
    for numpy, pybind11 in (("2.0.0rc1", (2, 11)), ("2.3.1", (2, 10)), ("10.0.0", (2, 6))):
        with pytest.raises(ImportError, match=rf"pybind11 2\.{pybind11[1]}.*numpy {numpy}.*2\.12 or newer.*numpy < 2"):
            require_compatible(numpy, pybind11)
    assert sys.modules["espalier._core"].pybind11_version >= (2, 10)
    # The import applies it before it uses arrays.
    package = tmp_path / "espalier"
    shutil.copytree(Path(espalier.__file__).parent, package, ignore=shutil.ignore_patterns("_core.*"))
    (package / "_core.py").write_text("version, pybind11_version = '0', (2, 10)\n")
    program = "import numpy; numpy.__version__ = '2.1.0'; import espalier"
    done = subprocess.run((sys.executable, "-B", "-c", program), stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode != 0 and "ImportError: espalier was built with pybind11 2.10" in done.stderr


def test_the_settings_of_the_wheel_name_existing_files():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    settings = project["tool"]["scikit-build"]
    assert [Path(package).name for package in settings["wheel"]["packages"]] == ["espalier"]
    assert all((ROOT / package / "py.typed").exists() for package in settings["wheel"]["packages"])
    assert (ROOT / project["project"]["readme"]).exists()
    version = re.search(settings["metadata"]["version"]["regex"], (ROOT / "CMakeLists.txt").read_text())
    assert version["value"] == espalier.__version__
