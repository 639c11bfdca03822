// Checked access to the entries of a MatrixArrays: each size, start and index is checked before it is used.
// Part of import.cpp.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "espalier/import.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

[[noreturn]] inline void reject_view(std::string const& message) {
    throw Error(Status::bad_input, message);
}

/// Limit of rows and columns; sums of sizes and bases below it do not overflow.
inline constexpr Index largest_view_size = Index{1} << 40;

/// Checks base, symmetry, sizes and array lengths. Throws Error{usage} or Error{bad_input}.
template <class T, class I> void check_view_sizes(MatrixArrays<T, I> const& view) {
    if (view.base != 0 && view.base != 1)
        throw Error(Status::usage, fmt::format("base = {}; expected 0 or 1", view.base));
    if (view.symmetry == Symmetry::general && view.triangle != Triangle::full)
        throw Error(Status::usage, "a general matrix cannot be given as a triangle; use triangle = full");
    if (view.rows < 0 || view.cols < 0)
        reject_view(fmt::format("the matrix has negative size {} x {}", view.rows, view.cols));
    if (view.rows > largest_view_size || view.cols > largest_view_size)
        reject_view(fmt::format("the matrix of size {} x {} exceeds the limit of {} rows and columns",
                                view.rows, view.cols, largest_view_size));
    if (view.symmetry != Symmetry::general && view.rows != view.cols)
        reject_view(fmt::format("a {} matrix must be square; this matrix is {} x {}",
                                to_string(view.symmetry), view.rows, view.cols));
    if (view.indices.size() != view.values.size())
        reject_view(
            fmt::format("there are {} indices but {} values", view.indices.size(), view.values.size()));
    if (view.layout == Layout::coo && view.pointers.size() != view.values.size())
        reject_view(
            fmt::format("there are {} row indices but {} values", view.pointers.size(), view.values.size()));
    // No array of the caller has this size, but the import allocates one.
    bool const square = view.rows == view.cols;
    if (view.layout == Layout::coo || (view.layout == Layout::csr && !square)) {
        std::string const absurd = absurd_sizes(square ? view.rows : 0, view.cols, std::ssize(view.values));
        if (!absurd.empty()) reject_view(absurd);
    }
}

/// Checks the starts of a compressed layout. Throws Error{bad_input} if they cannot index the other arrays.
template <class T, class I> void check_view_pointers(MatrixArrays<T, I> const& view) {
    char const* const major = view.layout == Layout::csc ? "column" : "row";
    Index const count = view.layout == Layout::csc ? view.cols : view.rows;
    auto const& start = view.pointers;
    if (std::ssize(start) != count + 1)
        reject_view(fmt::format("there are {} {} starts; a matrix of {} {}s needs {}", start.size(), major,
                                count, major, count + 1));
    if (start[0] != view.base)
        reject_view(
            fmt::format("the first {} start is {}; expected the base {}", major, start[0], view.base));
    for (Index k = 0; k < count; ++k)
        if (start[k + 1] < start[k])
            reject_view(fmt::format("{} starts decrease from {} to {} at {} {} (counted from {})", major,
                                    start[k], start[k + 1], major, k + view.base, view.base));
    // start[count] >= base, so the difference does not overflow.
    if (static_cast<std::uint64_t>(start[count]) - static_cast<std::uint64_t>(view.base) !=
        view.indices.size())
        reject_view(fmt::format("the last {} start is {}, which means {} entries; there are {}", major,
                                start[count], start[count] - view.base, view.indices.size()));
}

/// Converts an index of the caller to a 0-based index. Throws Error{bad_input} if it is out of range.
template <class T, class I> Index checked_view_index(MatrixArrays<T, I> const& view, I given, Index size,
                                                     char const* what, Offset entry) {
    auto const index = static_cast<Index>(given);
    if (index < view.base || index >= size + view.base)
        reject_view(fmt::format("entry {} (counted from {}): {} {} is outside {} .. {}", entry + view.base,
                                view.base, what, index, view.base, size - 1 + view.base));
    return index - view.base;
}

/// Calls visit(row, column, k) for the k-th entry, k = 0, 1, ...
template <class T, class I, class Visit>
void for_each_view_entry(MatrixArrays<T, I> const& view, Visit const& visit) {
    if (view.layout == Layout::coo) {
        for (Offset k = 0; k < std::ssize(view.values); ++k)
            visit(checked_view_index(view, view.pointers[k], view.rows, "row", k),
                  checked_view_index(view, view.indices[k], view.cols, "column", k), k);
        return;
    }
    bool const by_column = view.layout == Layout::csc;
    Index const count = by_column ? view.cols : view.rows;
    Index const size = by_column ? view.rows : view.cols;
    char const* const minor = by_column ? "row" : "column";
    for (Index major = 0; major < count; ++major) {
        Offset const end = static_cast<Offset>(view.pointers[major + 1]) - view.base;
        for (Offset k = static_cast<Offset>(view.pointers[major]) - view.base; k < end; ++k) {
            Index const index = checked_view_index(view, view.indices[k], size, minor, k);
            visit(by_column ? index : major, by_column ? major : index, k);
        }
    }
}

/// Calls visit(row, column, k) for the k-th entry; an entry above the diagonal of a symmetric matrix is
/// replaced by its mirror image and ~k.
template <class T, class I, class Visit>
void for_each_target(MatrixArrays<T, I> const& view, Visit const& visit) {
    bool const folds = view.symmetry != Symmetry::general;
    for_each_view_entry(view, [&](Index row, Index column, Offset k) {
        if (!folds || row >= column)
            visit(row, column, k);
        else
            visit(column, row, ~k);
    });
}

} // namespace espalier
