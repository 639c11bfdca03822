#include "refine/tall_block.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "core/scalar.hpp"
#include "kernels/blas.hpp"
#include "kernels/lapack.hpp"

namespace espalier {

namespace {

// Computes A = Q R on this process, with Q in place of A, if there are at least as many rows as columns.
// Otherwise R = A and Q = I.
template <class T> DenseMatrix<T> local_triangle(MatrixView<T> a) {
    auto copy = dense<T>(a.rows, a.cols);
    for (Index j = 0; j < a.cols; ++j) std::copy_n(a.column(j), a.rows, copy.column(j));
    if (a.rows < a.cols) return copy;
    orthonormalize(a);
    auto r = dense<T>(a.cols, a.cols);
    gemm<T>(Op::adjoint, Op::none, T(1), a, view(copy), T(0), view(r));
    return r;
}

// The triangles of all processes. Process 0 has their rows below each other.
template <class T> struct Stacked {
    DenseMatrix<T> mine, all;
    std::vector<Index> begin; // first row of each process in `all`

    Stacked(DistributedRows const& rows, MatrixView<T> a) {
        rows.reduction().all_succeed([&] { mine = local_triangle(a); });
        auto const counts = all_gather(rows.comm(), mine.rows);
        auto joined = gather_joined<T>(rows.comm(), mine.values, 0);
        rows.reduction().all_succeed([&] {
            begin.assign(1, 0);
            for (auto const count : counts) begin.push_back(begin.back() + count);
            if (rows.comm().rank() > 0) return;
            all = dense<T>(begin.back(), a.cols);
            for_each_part(joined, [](T& entry, T part) { entry = part; });
        });
    }
    // Copies the part of each process between `joined`, which has one part after another, and the rows of
    // `all`.
    template <class Copy> void for_each_part(std::vector<T>& joined, Copy const& copy) {
        auto part = joined.begin();
        for (std::size_t r = 0; r + 1 < begin.size(); ++r)
            for (Index j = 0; j < all.cols; ++j)
                for (Index i = begin[r]; i < begin[r + 1]; ++i) copy(all.column(j)[i], *part++);
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
        orthonormalize(view(stacked.all));
        joined.resize(stacked.all.values.size());
        stacked.for_each_part(joined, [](T entry, T& part) { part = entry; });
        for (std::size_t r = 0; r + 1 < stacked.begin.size(); ++r)
            from.push_back(std::as_bytes(std::span(joined).subspan(
                stacked.begin[r] * a.cols, (stacked.begin[r + 1] - stacked.begin[r]) * a.cols)));
    });
    scatter(rows.comm(), from, std::as_writable_bytes(std::span(stacked.mine.values)), 0);
    rows.reduction().all_succeed([&] {
        auto q = dense<T>(a.rows, a.cols);
        if (a.rows < a.cols)
            q = std::move(stacked.mine);
        else
            gemm<T>(Op::none, Op::none, T(1), a, view(stacked.mine), T(0), view(q));
        for (Index j = 0; j < a.cols; ++j) std::copy_n(q.column(j), a.rows, a.column(j));
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
        if (rows.comm().rank() == 0) decompose(view(stacked.all));
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
