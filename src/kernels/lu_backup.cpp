#include "kernels/lu_backup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/panel.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/product.hpp"

namespace espalier {

namespace {

// The sum of x(i) |y(i)|. Several partial sums take less time than one.
template <class T> Real<T> product_of_sizes(Real<T> const* x, T const* y, Index n) {
    constexpr Index lanes = 8;
    std::array<Real<T>, lanes> sums{};
    Index i = 0;
    for (; i + lanes <= n; i += lanes)
        for (Index lane = 0; lane < lanes; ++lane) sums[lane] += x[i + lane] * abs1(y[i + lane]);
    Real<T> sum = std::accumulate(sums.begin(), sums.end(), Real<T>(0));
    for (; i < n; ++i) sum += x[i] * abs1(y[i]);
    return sum;
}

template <class T> void copy(MatrixView<T const> from, MatrixView<T> to) {
    for (Index j = 0; j < from.cols; ++j) std::copy_n(from.column(j), from.rows, to.column(j));
}

// B := B op(M)
template <class T> void multiply_rows(Op op, MatrixView<T const> m, MatrixView<T> b) {
    std::vector<T> memory;
    for_each_row_block<T>(b.rows, [&](Index first, Index count) {
        memory.resize(count * b.cols);
        MatrixView<T> const before{memory.data(), count, b.cols, count},
            block = b.block(first, 0, count, b.cols);
        copy<T>(block, before);
        assign_product<T>(op, before, m, block);
    });
}

} // namespace

template <class T> void LuBackup<T>::save_diagonal(MatrixView<T const> panel, T* memory) {
    memory_ = memory;
    width_ = panel.cols;
    copy<T>(panel.block(0, 0, width_, width_), diagonal());
    saved_.assign(panel.rows - width_, 0);
}

template <class T> void LuBackup<T>::bound_rows(MatrixView<T const> diagonal) {
    std::vector<Real<T>> bounds(diagonal.cols);
    most_of_l_ = 0;
    for (Index j = 0; j < diagonal.cols; ++j) {
        Real<T> const numerator = 1 + product_of_sizes(bounds.data(), diagonal.column(j), j);
        Real<T> const bound = numerator * abs1(T(1) / diagonal(j, j));
        bounds[j] =
            std::isnan(bound) ? std::numeric_limits<Real<T>>::infinity() : bound; // U11 has overflowed
        most_of_l_ = std::max(most_of_l_, bounds[j]);
    }
}

template <class T>
bool LuBackup<T>::save_rows(MatrixView<T const> below, Index first, Index count, Real<T> growth) {
    constexpr Real<T> most_to_multiply = 10; // loses one digit
    MatrixView<T const> const from = below.block(first, 0, count, below.cols);
    if (largest_size_in(from) * most_of_l_ <= std::min(most_to_multiply, growth)) return false;
    copy<T>(from, rows(first, count));
    saved_[first] = static_cast<std::int32_t>(count);
    return true;
}

template <class T> void LuBackup<T>::restore(MatrixView<T> panel, MatrixView<T> upper,
                                             std::span<std::int32_t const> perm, bool has_rows) const {
    Index const num_rows = panel.rows - width_;
    MatrixView<T> const a11 = panel.block(0, 0, width_, width_);
    if (has_rows) {
        std::vector<T> memory(width_ * width_);
        MatrixView<T> const factor{memory.data(), width_, width_, width_};
        for (Index j = 0; j < width_; ++j)
            for (Index i = 0; i < width_; ++i) factor(perm[i], j) = i > j ? a11(i, j) : T(i == j ? 1 : 0);
        multiply_rows<T>(Op::transpose, factor, upper); // A12^T = U12^T (P^T L11)^T
        for (Index j = 0; j < width_; ++j)
            for (Index i = 0; i < width_; ++i) factor(i, j) = i <= j ? a11(i, j) : T(0);
        for (Index first = 0, end = 0; first < num_rows; first = end) {
            Index const count = saved_[first];
            for (end = first + std::max<Index>(count, 1); count == 0 && end < num_rows && saved_[end] == 0;)
                ++end;
            MatrixView<T> const a21 = panel.block(width_ + first, 0, end - first, width_);
            if (count > 0)
                copy<T>(rows(first, count), a21);
            else
                multiply_rows<T>(Op::none, factor, a21);
        }
    }
    copy<T>(diagonal(), a11);
}

ESPALIER_INSTANTIATE_CLASS(LuBackup)

} // namespace espalier
