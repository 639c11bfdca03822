"""The shared library exports its interfaces and nothing else, and lists its dependencies."""

import re
import unittest

from support import LIBRARY, SOURCE, run

# Demangled names that public C++ headers declare without a definition.
SCALAR = r"(?:float|double|std::complex<float>|std::complex<double>)"
CPP = re.compile(
    rf"(?:typeinfo (?:name )?for |vtable for )?espalier::(?:Error|ProgressSink|Communicator|NumaMemory|Solver<{SCALAR}>"
    rf"|CoarseTasks|CscMatrix<{SCALAR}>|MatrixImport<{SCALAR}>)(?:$|::(?!State)[^:(]*(?:\[abi:cxx11\])?\(.*)"
    rf"|espalier::(?:add_coarse_operator|to_string|set_option|get_option|option_names|report_fields|simulation_of|memory_nodes|query_nodes|move_to_node)(?:\[abi:cxx11\])?\(.*"
    rf"|espalier::Solution<{SCALAR}> espalier::solve<{SCALAR}>\(.*"
    rf"|espalier::BatchSolution<{SCALAR}> espalier::solve_batch<{SCALAR}>\(.*"
    rf"|(?:espalier::CscMatrix|espalier::DenseMatrix|std::vector)<.*>"
    rf" espalier::(?:gather_columns|gather_rows|scatter_rows|read_columns|read_rows)<{SCALAR}>\(.*")


def exported():
    """Returns the demangled names defined in the dynamic symbol table, without the version node."""
    lines = run("nm", "--dynamic", "--defined-only", "--demangle", "--format=posix", LIBRARY).splitlines()
    names = {re.sub(r" [A-Za-z] [0-9a-f]+.*$", "", line).split("@")[0].replace("> >", ">>") for line in lines}
    return {name for name in names if not name.startswith("ESPALIER_")}


class Symbols(unittest.TestCase):
    def test_only_the_interfaces_are_exported(self):
        others = {name for name in exported() if not re.fullmatch(r"espalier_\w+", name) and not CPP.fullmatch(name)}
        self.assertEqual(others, set())

    def test_every_function_of_the_c_header_is_exported(self):
        text = (SOURCE / "include/espalier/espalier.h").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        declared = set(re.findall(r"ESPALIER_API[^;(]*?\b(espalier_\w+)\s*\(", text))
        self.assertGreater(len(declared), 20)
        self.assertEqual(declared, {name for name in exported() if name.startswith("espalier_")})

    def test_solver_is_exported_for_every_scalar(self):
        names = exported()
        for scalar in ["float", "double", "std::complex<float>", "std::complex<double>"]:
            for member in ["analyze", "factorize", "refine", "schur_complement"]:
                self.assertTrue(any(name.startswith(f"espalier::Solver<{scalar}>::{member}(") for name in names),
                                f"Solver<{scalar}>::{member}")
        self.assertIn("typeinfo for espalier::Error", names)

    def test_functions_of_distributed_systems_are_exported_for_every_scalar(self):
        names = exported()
        for scalar in ["float", "double", "std::complex<float>", "std::complex<double>"]:
            for function in ["gather_columns", "gather_rows", "scatter_rows", "read_columns", "read_rows"]:
                self.assertTrue(any(f" espalier::{function}<{scalar}>(" in name for name in names),
                                f"{function}<{scalar}>")

    def test_soname_and_dependencies(self):
        dynamic = run("readelf", "--dynamic", "--wide", LIBRARY)
        self.assertIn("Library soname: [libespalier.so.0.1]", dynamic)
        needed = re.findall(r"Shared library: \[(\S+)\]", dynamic)
        self.assertTrue(any(name.startswith("libscotch-") for name in needed), needed)
        self.assertFalse(any("gtest" in name or "CLI11" in name for name in needed), needed)
