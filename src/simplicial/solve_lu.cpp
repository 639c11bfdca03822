// The triangular solves of SimplicialLu.
#include "simplicial/column_groups.hpp"
#include "simplicial/simplicial_lu.hpp"

namespace espalier {

template <class T> void SimplicialLu<T>::solve(std::span<T> x, Index columns, MatrixOp op) {
    Index const n = std::ssize(pivot_);
    std::size_t const needed = n * group_width(columns);
    if (work_.size() < needed) work_.resize(needed);
    for_each_group(x.data(), n, columns, [&]<int W>(T* group) { solve_group<W>(group, op); });
}

// x := C Q (P R A C Q)^-1 P R x for W columns. The transpose takes the steps in reverse.
template <class T> template <int W> void SimplicialLu<T>::solve_group(T* x, MatrixOp op) {
    auto const n = static_cast<std::int32_t>(pivot_.size());
    T* const work = work_.data();
    std::int32_t const* const column = plan_->form.column.data();
    if (op == MatrixOp::none) {
        for (std::int32_t k = 0; k < n; ++k)
            for (int w = 0; w < W; ++w) work[Offset{k} * W + w] = x[Offset{w} * n + row_[k]] * scale_[k];
        solve_plain<W>(work);
        for (std::int32_t k = 0; k < n; ++k)
            for (int w = 0; w < W; ++w)
                x[Offset{w} * n + column[k]] = work[Offset{k} * W + w] * column_scale_[column[k]];
        return;
    }
    for (std::int32_t k = 0; k < n; ++k)
        for (int w = 0; w < W; ++w)
            work[Offset{k} * W + w] = x[Offset{w} * n + column[k]] * column_scale_[column[k]];
    if (op == MatrixOp::adjoint)
        solve_transposed<W, is_complex<T>>(work);
    else
        solve_transposed<W, false>(work);
    for (std::int32_t k = 0; k < n; ++k)
        for (int w = 0; w < W; ++w) x[Offset{w} * n + row_[k]] = work[Offset{k} * W + w] * scale_[k];
}

// Blocks from last to first. The columns of U contain the entries in rows of earlier blocks.
template <class T> template <int W> void SimplicialLu<T>::solve_plain(T* work) const {
    auto const& start = plan_->form.start;
    auto const subtract = [work](Columns const& columns, std::int32_t k) {
        T x[W];
        for (int w = 0; w < W; ++w) x[w] = work[Offset{k} * W + w];
        std::int32_t const* const ind = columns.ind.data();
        T const* const values = columns.values.data();
        Offset const end = columns.ptr[k + 1];
        for (Offset p = columns.ptr[k]; p < end; ++p)
            for (int w = 0; w < W; ++w) work[Offset{ind[p]} * W + w] -= times(values[p], x[w]);
    };
    for (Index b = std::ssize(start) - 2; b >= 0; --b) {
        std::int32_t const first = start[b], last = start[b + 1];
        if (last - first > 1)
            for (std::int32_t k = first; k < last; ++k) subtract(lower_, k);
        for (std::int32_t k = last - 1; k >= first; --k) {
            for (int w = 0; w < W; ++w) work[Offset{k} * W + w] = times(work[Offset{k} * W + w], inverse_[k]);
            subtract(upper_, k);
        }
    }
}

template <class T> template <int W, bool conjugates> void SimplicialLu<T>::solve_transposed(T* work) const {
    auto const& start = plan_->form.start;
    auto const reduce = [work](Columns const& columns, std::int32_t k) {
        T x[W];
        for (int w = 0; w < W; ++w) x[w] = work[Offset{k} * W + w];
        for (Offset p = columns.ptr[k]; p < columns.ptr[k + 1]; ++p) {
            T const value = conj_if(conjugates, columns.values[p]);
            for (int w = 0; w < W; ++w) x[w] -= times(value, work[Offset{columns.ind[p]} * W + w]);
        }
        for (int w = 0; w < W; ++w) work[Offset{k} * W + w] = x[w];
    };
    for (Index b = 0; b + 1 < std::ssize(start); ++b) {
        for (std::int32_t k = start[b]; k < start[b + 1]; ++k) {
            reduce(upper_, k);
            T const inverse = conj_if(conjugates, inverse_[k]);
            for (int w = 0; w < W; ++w) work[Offset{k} * W + w] = times(work[Offset{k} * W + w], inverse);
        }
        for (std::int32_t k = start[b + 1] - 1; k >= start[b]; --k) reduce(lower_, k);
    }
}

#define ESPALIER_INSTANTIATE(T) template void SimplicialLu<T>::solve(std::span<T>, Index, MatrixOp);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
