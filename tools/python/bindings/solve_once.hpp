// One system from the arrays of scipy, solved in one call: for small systems, whose solution takes less time
// than the calls of a Solver from Python.
#pragma once

#include <algorithm>
#include <string>

#include "bound_solver.hpp"
#include "core/scalar.hpp"

namespace espalier::python {

/// Solves A x = b with default options for a matrix that is treated as general. Returns x and the verdict
/// (BoundSolver), or None if b is not a vector of finite numbers with as many entries as A has rows; the
/// package reports this.
template <class T, class I> py::object solve_once(std::string const& layout, Index rows, Index cols,
                                                  py::array_t<I, py::array::c_style> const& pointers,
                                                  py::array_t<I, py::array::c_style> const& indices,
                                                  py::array_t<T, py::array::c_style> const& values,
                                                  py::array_t<T, py::array::c_style> const& b) {
    if (rows == 0 || b.ndim() != 1 || b.shape(0) != rows) return py::none();
    std::span<T const> const right(b.data(), static_cast<std::size_t>(rows));
    if (!std::ranges::all_of(right, is_finite<T>)) return py::none();
    auto const matrix = take_arrays<T, I>(layout, rows, cols, pointers, indices, values, "general");
    py::array_t<T> x(rows);
    BoundSolver<T> solver{Options()};
    auto const verdict = solver.solve_once(matrix, right, {x.mutable_data(), right.size()});
    return py::make_tuple(x, verdict);
}

} // namespace espalier::python
