// espalier._core: the classes of the library for the four scalar types, used by the package in ../espalier.
// The package checks its arguments; this module only checks what could crash.
#include <array>
#include <memory>
#include <new>
#include <string>

#include "batch.hpp"
#include "bound_solver.hpp"
#include "comm/fortran_handle.hpp"
#include "interpreter_lock.hpp"
#include "options/option_table.hpp"
#include "options/report_table.hpp"
#include "solve_once.hpp"

namespace espalier::python {
namespace {

// Raises the package's exception for a status, see _errors.py.
void raise(Status status, char const* message) {
    PyObject* const error =
        call_function("espalier._errors", "from_status", "ss", to_string(status), message);
    if (!error) return; // its exception is raised
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
    Py_DECREF(error);
}

void translate(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (Error const& error) {
        raise(error.status(), error.what());
    } catch (std::bad_alloc const&) {
        raise(Status::out_of_memory, "out of memory");
    }
}

// A value of a report. Numbers that may be unknown are marked, and None if they are.
template <class Value, class... Mark> py::object report_value(Value const& value, Mark... mark) {
    if constexpr (std::is_enum_v<Value>) {
        return py::str(to_string(value));
    } else if constexpr (sizeof...(mark) == 0) {
        return py::cast(value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        return value < 0 ? py::object(py::none()) : py::cast(value);
    } else {
        py::list items;
        for (auto const& item : value) items.append(report_value(item, mark...));
        return items;
    }
}

// Returns {"analysis": {"flops": ...}, ...}.
py::dict nested(Report const& report) {
    py::dict out;
    visit_fields(report, [&out](char const* group, char const* name, auto const& value, auto... mark) {
        py::dict level = out;
        if (*group != '\0') {
            if (!out.contains(group)) out[group] = py::dict();
            level = out[group].cast<py::dict>();
        }
        level[name] = report_value(value, mark...);
    });
    return out;
}

template <class Part> py::dict to_python(Part const& part) {
    py::dict out;
    visit_fields(part, [&out]<class Value>(char const* name, Value const& value, auto...) {
        if constexpr (std::is_same_v<Value, std::vector<ProcessPrediction>>) {
            py::list processes;
            for (ProcessPrediction const& process : value) processes.append(to_python(process));
            out[name] = processes;
        } else {
            out[name] = py::cast(value);
        }
    });
    return out;
}

// Calls body(T()) for the scalar type with this character of numpy.
template <class Body> auto with_scalar(char type, Body const& body) {
    switch (type) {
    case 'f':
        return body(float());
    case 'd':
        return body(double());
    case 'F':
        return body(std::complex<float>());
    case 'D':
        return body(std::complex<double>());
    default:
        throw py::value_error("the scalar type is f, d, F or D");
    }
}

std::unique_ptr<AnySolver> make_solver(char type, Options const& options, Communicator const& comm) {
    return with_scalar(type, [&](auto zero) -> std::unique_ptr<AnySolver> {
        return std::make_unique<BoundSolver<decltype(zero)>>(options, comm);
    });
}

// Returns when process 0 has destroyed its solver. Signals are handled after that.
void follow(char type, int comm) {
    ReleasedLock const no_python;
    with_scalar(type, [&](auto zero) { Solver<decltype(zero)>::follow({}, communicator_of_fortran(comm)); });
}

template <class T> void bind_scalar(py::module_& module, std::string const& letter) {
    using Matrix = CscMatrix<T>;
    auto const pointers = py::arg("pointers").noconvert(), indices = py::arg("indices").noconvert(),
               values = py::arg("values").noconvert();
    py::class_<Matrix, std::shared_ptr<Matrix>>(module, ("Matrix" + letter).c_str())
        .def(py::init(&take_arrays<T, std::int32_t>), py::arg("layout"), py::arg("rows"), py::arg("cols"),
             pointers, indices, values, py::arg("claim"))
        .def(py::init(&take_arrays<T, std::int64_t>), py::arg("layout"), py::arg("rows"), py::arg("cols"),
             pointers, indices, values, py::arg("claim"))
        .def_property_readonly("shape", [](Matrix const& a) { return std::pair(a.rows, a.cols); })
        .def_property_readonly("symmetry", [](Matrix const& a) { return to_string(a.symmetry); });

    auto const right = py::arg("b").noconvert();
    module.def(("solve_once" + letter).c_str(), &solve_once<T, std::int32_t>, py::arg("layout"),
               py::arg("rows"), py::arg("cols"), pointers, indices, values, right);
    module.def(("solve_once" + letter).c_str(), &solve_once<T, std::int64_t>, py::arg("layout"),
               py::arg("rows"), py::arg("cols"), pointers, indices, values, right);
    module.def(("solve_batch" + letter).c_str(), &solve_many<T>, py::arg("pattern"), values,
               py::arg("b").noconvert(), py::arg("options"));
}

void bind_solver(py::module_& module) {
    auto const b = py::arg("b").noconvert();
    auto const x = py::arg("x").noconvert();
    auto const op = py::arg("op");
    auto const listeners = py::arg("listeners");
    py::class_<AnySolver>(module, "Solver")
        .def(py::init([](char type, Options const& options) {
                 return make_solver(type, options, Communicator());
             }),
             py::arg("type"), py::arg("options"))
        .def(py::init([](char type, Options const& options, int comm) {
                 return make_solver(type, options, communicator_of_fortran(comm));
             }),
             py::arg("type"), py::arg("options"), py::arg("comm"))
        .def_static("follow", &follow, py::arg("type"), py::arg("comm"))
        .def("set_options", &AnySolver::set_options, py::arg("options"))
        .def("analyze", &AnySolver::analyze, py::arg("matrix"), listeners)
        .def("is_analyzed", &AnySolver::is_analyzed, py::arg("matrix"))
        .def("factorize", &AnySolver::factorize, py::arg("matrix"), listeners)
        .def("solve", &AnySolver::solve, b, x, op, py::arg("refine"), py::arg("by_rows"), listeners)
        .def("solve_sparse", &AnySolver::solve_sparse, py::arg("b"), op, listeners)
        .def("refine", &AnySolver::refine, b, x, op, py::arg("by_rows"), listeners)
        .def("inertia", &AnySolver::inertia)
        .def("determinant", &AnySolver::determinant)
        .def("rcond", &AnySolver::rcond, listeners)
        .def("null_space", &AnySolver::null_space, py::arg("tolerance"), listeners)
        .def("update", &AnySolver::update, py::arg("w"), py::arg("sign"), listeners)
        .def("matrix", &AnySolver::matrix)
        .def("factors", &AnySolver::factors)
        .def("solve_lower", &AnySolver::solve_lower, b, py::arg("adjoint"), listeners)
        .def("selected_inverse", &AnySolver::selected_inverse, listeners)
        .def("inverse_diagonal", &AnySolver::inverse_diagonal, listeners)
        .def("schur_complement", &AnySolver::schur_complement)
        .def("condense", &AnySolver::condense, b, op, listeners)
        .def("expand", &AnySolver::expand, b, py::arg("x_schur").noconvert(), op, listeners)
        .def(
            "predict",
            [](AnySolver& self, int processes, int threads, std::string const& path,
               std::string const& name) { return to_python(self.predict(processes, threads, path, name)); },
            py::arg("processes"), py::arg("threads"), py::arg("path"), py::arg("matrix_name"))
        .def("write_trace", &AnySolver::write_trace, py::arg("path"), py::arg("matrix_name"))
        .def("report", [](AnySolver& self) { return nested(self.report()); });
}

void bind_vocabulary(py::module_& module) {
    py::class_<Options>(module, "Options")
        .def(py::init<>())
        .def(py::init<Options const&>(), py::arg("other"))
        .def(
            "set",
            [](Options& self, std::string const& name, std::string const& value) {
                set_option(self, name, value);
            },
            py::arg("name"), py::arg("value"))
        .def(
            "get", [](Options const& self, std::string const& name) { return get_option(self, name); },
            py::arg("name"))
        .def_readwrite("schur", &Options::schur);
    module.def("option_table", [] {
        static constexpr std::array<char const*, 6> types{"choice", "flag", "count", "size", "real", "text"};
        py::list rows;
        for (OptionRow const& row : option_table())
            rows.append(py::dict(
                py::arg("name") = row.name, py::arg("type") = types[static_cast<std::size_t>(row.type)],
                py::arg("choices") = std::vector<std::string>(row.choices.begin(), row.choices.end()),
                py::arg("unset") = row.unset, py::arg("description") = row.description()));
        return rows;
    });
}

} // namespace

PYBIND11_MODULE(_core, module) {
    module.attr("version") = ESPALIER_VERSION_TEXT;
    module.attr("pybind11_version") = py::make_tuple(PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR);
    py::register_local_exception_translator(&translate);
    bind_vocabulary(module);
    bind_solver(module);
    bind_scalar<float>(module, "S");
    bind_scalar<double>(module, "D");
    bind_scalar<std::complex<float>>(module, "C");
    bind_scalar<std::complex<double>>(module, "Z");
}

} // namespace espalier::python
