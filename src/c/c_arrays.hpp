// Reads and writes the arrays of an application in the C interface: dense blocks and matrices. An invalid
// array causes an Error that names it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "c/c_session.hpp"
#include "espalier/checked_solver.hpp"
#include "espalier/import.hpp"

namespace espalier {

inline constexpr Index largest_count =
    std::numeric_limits<Index>::max() / 64; // the number of bytes does not overflow

inline void check_block(void const* data, Index rows, Index columns, Index leading, char const* what) {
    if (columns < 0) throw Error(Status::usage, fmt::format("{} has {} columns", what, columns));
    if (leading < std::max<Index>(1, rows))
        throw Error(Status::usage,
                    fmt::format("the leading dimension of {} is {}, but its columns have {} entries", what,
                                leading, rows));
    if (columns > 0 && leading > largest_count / columns)
        throw Error(Status::usage,
                    fmt::format("{} with {} columns of {} entries is larger than the address space", what,
                                columns, leading));
    if (rows > 0 && columns > 0) require_pointer(data, what);
}

// Returns the columns of a block without gaps. Error{bad_input} unless all entries are finite.
template <class T> std::vector<T> gathered(InputBlock block, Index rows, char const* what) {
    check_block(block.data, rows, block.columns, block.leading, what);
    auto const* const data = static_cast<T const*>(block.data);
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(rows * block.columns));
    for (Index j = 0; j < block.columns && rows > 0; ++j)
        values.insert(values.end(), data + j * block.leading, data + j * block.leading + rows);
    require_finite<T>(values, rows, what);
    return values;
}

template <class T> void write_back(std::vector<T> const& values, Index rows, OutputBlock block) {
    for (Index j = 0; j < block.columns && rows > 0; ++j)
        std::copy_n(values.data() + j * rows, rows, static_cast<T*>(block.data) + j * block.leading);
}

/// The number of bytes of a struct that the caller's version of the library and this version have in common.
/// The size 0 stands for `first`, the size in the first version. Additional bytes of the caller must be zero.
template <class Struct> std::size_t common_bytes(Struct const& given, std::size_t first, char const* what) {
    std::uint64_t const size = given.struct_size == 0 ? first : given.struct_size;
    constexpr std::uint64_t largest = 1 << 16;
    if (size < first || size > largest)
        throw Error(Status::usage,
                    fmt::format("{}.struct_size = {}; set it to sizeof(*{}) or to 0", what, size, what));
    auto const* const bytes = reinterpret_cast<unsigned char const*>(&given);
    for (std::size_t k = sizeof(Struct); k < size; ++k)
        if (bytes[k] != 0)
            throw Error(Status::unsupported,
                        fmt::format("{} has a field that this version of the library does not know", what));
    return std::min<std::size_t>(size, sizeof(Struct));
}

/// The fields of the caller's matrix; those that it does not have are zero.
inline espalier_matrix known_fields(espalier_matrix const* given, char const* what) {
    require_pointer(given, what);
    constexpr std::size_t first = offsetof(espalier_matrix, values) + sizeof(void*);
    espalier_matrix fields{};
    std::memcpy(&fields, given, common_bytes(*given, first, what));
    return fields;
}

// Returns spans over the arrays of a matrix. MatrixImport checks their content and the sizes.
template <class T, class I> MatrixArrays<T, I> view_of(espalier_matrix const& given) {
    auto const length = [](Index count) -> std::size_t {
        return count < 0 || count > largest_count ? 0 : count;
    };
    MatrixArrays<T, I> view;
    view.layout = known(given.layout, Layout::coo, "layout");
    view.symmetry = known(given.symmetry, Symmetry::hermitian, "symmetry");
    view.triangle = known(given.triangle, Triangle::upper, "triangle");
    view.base = given.base;
    view.rows = given.rows;
    view.cols = given.cols;
    if (given.entries < 0 || given.entries > largest_count)
        throw Error(Status::bad_input, fmt::format("the matrix has {} entries", given.entries));
    std::size_t starts = length(given.entries);
    if (view.layout != Layout::coo) starts = length(view.layout == Layout::csc ? given.cols : given.rows) + 1;
    if (starts > 0) require_pointer(given.pointers, "pointers");
    if (given.entries > 0) {
        require_pointer(given.indices, "indices");
        require_pointer(given.values, "values");
    }
    view.pointers = {static_cast<I const*>(given.pointers), starts};
    view.indices = {static_cast<I const*>(given.indices), length(given.entries)};
    view.values = {static_cast<T const*>(given.values), length(given.entries)};
    return view;
}

template <class T> MatrixImport<T> imported(espalier_matrix const& given) {
    enum class Width { int32, int64 };
    return known(given.index_type, Width::int64, "index_type") == Width::int32
               ? MatrixImport<T>(view_of<T, std::int32_t>(given))
               : MatrixImport<T>(view_of<T, std::int64_t>(given));
}

} // namespace espalier
