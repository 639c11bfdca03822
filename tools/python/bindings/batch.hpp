// solve_batch() for Python, without the interpreter lock.
#pragma once

#include <pybind11/numpy.h>

#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bound_solver.hpp"
#include "espalier/batch.hpp"
#include "interpreter_lock.hpp"

namespace espalier::python {

/// values: systems x stored entries of the pattern; b: systems x nrhs x n. Returns x like b, and the status
/// and the backward error of each system.
template <class T> std::tuple<py::array_t<T>, std::vector<std::string>, std::vector<double>>
solve_many(CscMatrix<T> const& pattern, py::array_t<T, py::array::c_style> const& values,
           py::array_t<T, py::array::c_style> const& b, Options options) {
    options.cancel = [] {
        AcquiredLock const python;
        return PyErr_CheckSignals() != 0; // does nothing on other threads than the main one
    };
    std::span<T const> const all_values(values.data(), static_cast<std::size_t>(values.size()));
    std::span<T const> const right(b.data(), static_cast<std::size_t>(b.size()));
    BatchSolution<T> found;
    try {
        ReleasedLock const no_python;
        found = solve_batch<T>(pattern, all_values, right, b.shape(1), std::move(options));
    } catch (Error const&) {
        if (PyErr_Occurred()) throw py::error_already_set(); // KeyboardInterrupt
        throw;
    }
    py::array_t<T> x({b.shape(0), b.shape(1), b.shape(2)}, found.x.data());
    std::vector<std::string> statuses;
    for (Status const status : found.status) statuses.emplace_back(to_string(status));
    return {x, statuses, found.backward_error};
}

} // namespace espalier::python
