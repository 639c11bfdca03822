// Checks the arrays of a scipy matrix and copies them to a CscMatrix, without the interpreter lock.
#pragma once

#include <pybind11/numpy.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/import.hpp"
#include "interpreter_lock.hpp"
#include "matrix/convert.hpp"
#include "matrix/triangles.hpp"
#include "options/parse_value.hpp"

namespace espalier::python {

namespace py = pybind11;

/// Symmetry of a matrix as claimed by the caller. `unknown`: detected from the values.
enum class Claim { unknown, general, symmetric, hermitian };

/// The triangle with off-diagonal entries, or Triangle::full if both or none have any.
template <class T> Triangle used_triangle(CscMatrix<T> const& a) {
    bool lower = false, upper = false;
    for (Index column = 0; column < a.cols && !(lower && upper); ++column) {
        // Rows are sorted.
        Offset const begin = a.col_ptr[column], end = a.col_ptr[column + 1];
        if (begin == end) continue;
        upper = upper || a.row_ind[begin] < column;
        lower = lower || a.row_ind[end - 1] > column;
    }
    return lower == upper ? Triangle::full : lower ? Triangle::lower : Triangle::upper;
}

/// Imports a matrix with claimed symmetry. If one triangle is empty, the other represents both. Otherwise
/// both must agree. Errors as import_matrix().
template <class T, class I> CscMatrix<T> import_claimed(MatrixArrays<T, I> view, Claim claim) {
    CscMatrix<T> matrix = import_matrix(view);
    if (claim == Claim::general) return matrix;
    if (claim == Claim::unknown) {
        std::vector<std::string> notes;
        recognize_symmetry(matrix, notes);
        return matrix;
    }
    view.triangle = used_triangle(matrix);
    matrix = {};
    // A real Hermitian matrix is symmetric.
    bool const hermitian = claim == Claim::hermitian && is_complex<T>;
    view.symmetry = hermitian ? Symmetry::hermitian : Symmetry::symmetric;
    return import_matrix(view);
}

/// The constructor of a matrix in Python. A layout and a claim are given by name.
template <class T, class I>
std::shared_ptr<CscMatrix<T>> take_arrays(std::string const& layout, Index rows, Index cols,
                                          py::array_t<I, py::array::c_style> const& pointers,
                                          py::array_t<I, py::array::c_style> const& indices,
                                          py::array_t<T, py::array::c_style> const& values,
                                          std::string const& claim) {
    static constexpr std::array<char const*, 3> layouts{"csc", "csr", "coo"};
    static constexpr std::array<char const*, 4> claims{"unknown", "general", "symmetric", "hermitian"};
    auto const claimed = static_cast<Claim>(parse_choice("claim", claim, claims));
    MatrixArrays<T, I> view;
    view.layout = static_cast<Layout>(parse_choice("layout", layout, layouts));
    view.rows = rows;
    view.cols = cols;
    view.pointers = {pointers.data(), static_cast<std::size_t>(pointers.size())};
    view.indices = {indices.data(), static_cast<std::size_t>(indices.size())};
    view.values = {values.data(), static_cast<std::size_t>(values.size())};
    ReleasedLock const no_python;
    return std::make_shared<CscMatrix<T>>(import_claimed(view, claimed));
}

/// The matrix, stored with the symmetry `wanted`, or null if its values do not have this symmetry.
template <class T>
std::shared_ptr<CscMatrix<T> const> stored_as(Symmetry wanted, std::shared_ptr<CscMatrix<T> const> matrix) {
    Symmetry const given = matrix->symmetry;
    if (given == wanted) return matrix;
    if (wanted == Symmetry::general) return std::make_shared<CscMatrix<T>>(expand_symmetric(*matrix));
    CscMatrix<T> const full = expand_symmetric(*matrix);
    if (!equals_mirror_image(full, wanted == Symmetry::hermitian)) return nullptr;
    return std::make_shared<CscMatrix<T>>(lower_triangle(full, wanted));
}

} // namespace espalier::python
