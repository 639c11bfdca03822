#include "refine/tall_block.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "core/scalar.hpp"
#include "kernels/blas.hpp"
#include "kernels/lapack.hpp"

namespace espalier {

namespace {

template <class T> struct Block {
    Index rows = 0, cols = 0;
    std::vector<T> values;

    Block() = default;
    Block(Index r, Index c) : rows(r), cols(c), values(r * c) {}
    MatrixView<T> view() { return {values.data(), rows, cols, std::max<Index>(rows, 1)}; }
    // Rows first .. first + count - 1 := or =: the entries of a smaller block.
    template <class Copy> void with_rows(Index first, Index count, std::span<T> part, Copy const& copy) {
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < count; ++i) copy(values[first + i + j * rows], part[i + j * count]);
    }
};

// A = Q R on this process with Q in place of A if there are at least as many rows as columns; otherwise R = A
// and Q = 1.
template <class T> Block<T> local_triangle(MatrixView<T> a) {
    Block<T> copy(a.rows, a.cols);
    for (Index j = 0; j < a.cols; ++j) std::copy_n(a.column(j), a.rows, copy.values.data() + j * a.rows);
    if (a.rows < a.cols) return copy;
    orthonormalize(a);
    Block<T> r(a.cols, a.cols);
    gemm<T>(Op::adjoint, Op::none, T(1), a, copy.view(), T(0), r.view());
    return r;
}

// The triangles of all processes, and on process 0 their rows below each other.
template <class T> struct Stacked {
    Block<T> mine, all;
    std::vector<Index> begin{0}; // first row of each process in `all`

    Stacked(DistributedRows const& rows, MatrixView<T> a) {
        rows.reduction().all_succeed([&] { mine = local_triangle(a); });
        auto const counts = all_gather(rows.comm(), mine.rows);
        auto joined = gather_joined<T>(rows.comm(), mine.values, 0);
        rows.reduction().all_succeed([&] {
            for (auto const count : counts) begin.push_back(begin.back() + count);
            if (rows.comm().rank() > 0) return;
            all = Block<T>(begin.back(), a.cols);
            for_each_part(joined, [](T& entry, T part) { entry = part; });
        });
    }
    // The parts of all processes, one after another, with the rows of `all`.
    template <class Copy> void for_each_part(std::vector<T>& joined, Copy const& copy) {
        for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
            Index const count = begin[r + 1] - begin[r];
            all.with_rows(begin[r], count, std::span(joined).subspan(begin[r] * all.cols, count * all.cols),
                          copy);
        }
    }
};

} // namespace

template <class T> void orthonormalize(DistributedRows const& rows, MatrixView<T> a) {
    if (rows.is_alone()) return orthonormalize(a);
    Stacked<T> stacked(rows, a);
    std::vector<T> joined;
    std::vector<std::span<std::byte const>> from;
    rows.reduction().all_succeed([&] {
        if (rows.comm().rank() > 0) return;
        orthonormalize(stacked.all.view());
        joined.resize(stacked.all.values.size());
        stacked.for_each_part(joined, [](T entry, T& part) { part = entry; });
        for (std::size_t r = 0; r + 1 < stacked.begin.size(); ++r)
            from.push_back(std::as_bytes(std::span(joined).subspan(
                stacked.begin[r] * a.cols, (stacked.begin[r + 1] - stacked.begin[r]) * a.cols)));
    });
    scatter(rows.comm(), from, std::as_writable_bytes(std::span(stacked.mine.values)), 0);
    rows.reduction().all_succeed([&] {
        Block<T> q(a.rows, a.cols);
        if (a.rows < a.cols)
            q = std::move(stacked.mine);
        else
            gemm<T>(Op::none, Op::none, T(1), a, stacked.mine.view(), T(0), q.view());
        for (Index j = 0; j < a.cols; ++j) std::copy_n(q.values.data() + j * a.rows, a.rows, a.column(j));
    });
}

template <class T>
std::vector<double> singular_values(DistributedRows const& rows, MatrixView<T> a, MatrixView<T> right) {
    std::vector<double> values;
    auto const decompose = [&](MatrixView<T> block) {
        auto const found = singular_values<T>(block, right);
        values.assign(found.begin(), found.end());
    };
    if (rows.is_alone()) {
        decompose(a);
        return values;
    }
    Stacked<T> stacked(rows, a);
    rows.reduction().all_succeed([&] {
        values.resize(a.cols);
        if (rows.comm().rank() == 0) decompose(stacked.all.view());
    });
    broadcast(rows.comm(), std::as_writable_bytes(std::span(values)), 0);
    for (Index j = 0; j < right.cols; ++j)
        broadcast(rows.comm(), std::as_writable_bytes(std::span(right.column(j), right.rows)), 0);
    return values;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void orthonormalize(DistributedRows const&, MatrixView<T>);                                     \
    template std::vector<double> singular_values(DistributedRows const&, MatrixView<T>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
