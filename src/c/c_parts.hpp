// Arrays of the C interface of which each process has a part. Each process checks its own part, and process 0
// joins them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "c/c_arrays.hpp"
#include "comm/collective.hpp"
#include "espalier/distributed.hpp"
#include "espalier/import.hpp"
#include "matrix/view_entries.hpp"

namespace espalier {

/// The properties that all parts of a matrix must share.
struct PartFacts {
    std::int32_t layout = 0;
    std::int32_t symmetry = 0;
    std::int32_t triangle = 0;
    std::int32_t base = 0;
    std::int64_t rows = 0; ///< 0 in CSR, where each part has its own number.
    std::int64_t cols = 0; ///< 0 in CSC.

    friend bool operator==(PartFacts const&, PartFacts const&) = default;
};

inline PartFacts facts_of(espalier_matrix const& part) {
    return {static_cast<std::int32_t>(part.layout),      static_cast<std::int32_t>(part.symmetry),
            static_cast<std::int32_t>(part.triangle),    part.base,
            part.layout == ESPALIER_CSR ? 0 : part.rows, part.layout == ESPALIER_CSC ? 0 : part.cols};
}

/// A part of a matrix.
template <class T> struct MatrixPart {
    Index majors = 0;                   ///< Columns of CSC, rows of CSR.
    std::vector<std::int64_t> pointers; ///< The number of entries of each column or row (CSC, CSR).
    std::vector<std::int64_t> indices;
    std::span<T const> values;
};

/// Checks one part by itself. The result refers to the values of `given`.
template <class T, class I> MatrixPart<T> checked_part(espalier_matrix const& given) {
    MatrixArrays<T, I> const view = view_of<T, I>(given);
    if (view.base != 0 && view.base != 1)
        throw Error(Status::usage, fmt::format("base = {}; indices count from 0 or from 1", view.base));
    if (view.rows < 0 || view.cols < 0 || view.rows > largest_view_size || view.cols > largest_view_size)
        reject_view(
            fmt::format("the part has an invalid size: {} rows and {} columns", view.rows, view.cols));
    MatrixPart<T> part;
    part.pointers.assign(view.pointers.begin(), view.pointers.end());
    if (view.layout != Layout::coo) {
        check_view_pointers(view);
        part.majors = view.layout == Layout::csc ? view.cols : view.rows;
        for (Index k = 0; k < part.majors; ++k) part.pointers[k] = part.pointers[k + 1] - part.pointers[k];
        part.pointers.pop_back();
    }
    for_each_view_entry(view, [](Index, Index, Offset) {}); // checks the indices of this part
    part.indices.assign(view.indices.begin(), view.indices.end());
    part.values = view.values;
    return part;
}

template <class T> MatrixPart<T> checked_part(espalier_matrix const& given) {
    enum class Width { int32, int64 };
    return known(given.index_type, Width::int64, "index_type") == Width::int32
               ? checked_part<T, std::int32_t>(given)
               : checked_part<T, std::int64_t>(given);
}

/// Collective: joins all parts on process 0 in the order of the processes. Error on all processes: {usage} if
/// the parts differ in a common property; {bad_input} if the whole matrix is invalid; {out_of_memory}.
template <class T>
MatrixImport<T> imported_parts(Communicator const& comm, PartFacts const& mine, MatrixPart<T> part) {
    PartFacts facts = mine;
    broadcast_value(comm, facts, 0);
    all_succeed(comm, [&] {
        if (facts != mine)
            throw Error(Status::usage, "this part differs from that of process 0 in layout, symmetry, "
                                       "triangle, base or size");
    });
    Index const majors = sum(comm, part.majors);
    auto pointers = gather_joined<std::int64_t>(comm, part.pointers, 0);
    auto const indices = gather_joined<std::int64_t>(comm, part.indices, 0);
    part.pointers = part.indices = {};
    auto const values = gather_joined<T>(comm, part.values, 0);
    MatrixImport<T> whole;
    all_succeed(comm, [&] {
        if (comm.rank() > 0) return;
        MatrixArrays<T, std::int64_t> view;
        view.layout = static_cast<Layout>(facts.layout);
        view.symmetry = static_cast<Symmetry>(facts.symmetry);
        view.triangle = static_cast<Triangle>(facts.triangle);
        view.base = facts.base;
        view.rows = view.layout == Layout::csr ? majors : facts.rows;
        view.cols = view.layout == Layout::csc ? majors : facts.cols;
        if (view.layout != Layout::coo) {
            std::int64_t start = facts.base; // from lengths to starts
            for (std::int64_t& length : pointers) start += std::exchange(length, start);
            pointers.push_back(start);
        }
        view.pointers = pointers;
        view.indices = indices;
        view.values = values;
        whole = MatrixImport<T>(view);
    });
    return whole;
}

/// Collective: Error{usage} on all processes unless they all have the same number of columns and the same op,
/// and their rows add up to `order`.
inline void require_rows(Communicator const& comm, Index order, Index rows, Index columns, MatrixOp op) {
    std::int64_t common[] = {columns, static_cast<std::int64_t>(op)};
    broadcast_value(comm, common, 0);
    all_succeed(comm, [&] {
        if (columns != common[0])
            throw Error(Status::usage,
                        fmt::format("this process has {} right-hand sides, but process 0 has {}", columns,
                                    common[0]));
        if (static_cast<std::int64_t>(op) != common[1])
            throw Error(Status::usage,
                        fmt::format("op is {} on this process, but {} on process 0", to_string(op),
                                    to_string(static_cast<MatrixOp>(common[1]))));
    });
    Index const all = sum(comm, rows);
    if (all != order)
        throw Error(Status::usage, fmt::format("the parts of all processes have {} rows in total; the "
                                               "matrix has {}",
                                               all, order));
}

} // namespace espalier
