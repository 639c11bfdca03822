#include "kernels/panel_backup.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "kernels/panel.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/product.hpp"

namespace espalier {

namespace {

constexpr int most_to_multiply = 100; // the default bound of L: accepted panels lose as many digits

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

// B := B M
template <class T> void multiply_rows(MatrixView<T const> m, MatrixView<T> b) {
    std::vector<T> memory;
    for_each_row_block<T>(b.rows, [&](Index first, Index count) {
        memory.resize(count * b.cols);
        MatrixView<T> const before{memory.data(), count, b.cols, count},
            block = b.block(first, 0, count, b.cols);
        copy<T>(block, before);
        assign_product<T>(Op::none, before, m, block);
    });
}

} // namespace

template <class T> void LuBackup<T>::save_diagonal(MatrixView<T const> panel, T* memory) {
    memory_ = memory;
    width_ = panel.cols;
    copy<T>(panel.block(0, 0, width_, width_), diagonal());
    copies_.assign(panel.rows - width_, {});
    used_ = 0;
}

template <class T> void LuBackup<T>::prepare_rows(MatrixView<T const> diagonal, Index pivots) {
    auto const is_number = [](T x) { return is_finite(x); };
    growth_ = 0;
    bounds_.resize(std::max<std::size_t>(bounds_.size(), pivots));
    for (Index j = 0; j < width_; ++j) {
        T const* const u = diagonal.column(j);
        if (j >= pivots) {
            if (!std::all_of(u, u + pivots, is_number)) growth_ = std::numeric_limits<Real<T>>::infinity();
            continue;
        }
        bounds_[j] = (1 + product_of_sizes(bounds_.data(), u, j)) * abs1(T(1) / u[j]);
        if (!(bounds_[j] <= growth_)) growth_ = bounds_[j]; // also if it is not a number
    }
}

template <class T>
bool LuBackup<T>::save_rows(MatrixView<T const> below, Index first, Index count, Real<T> growth) {
    MatrixView<T const> const from = below.block(first, 0, count, below.cols);
    if (growth_ * largest_size_in(from) <= std::min<Real<T>>(most_to_multiply, growth)) return false;
    copies_[first] = {used_.fetch_add(count), count};
    copy<T>(from, rows(copies_[first]));
    return true;
}

template <class T> void LuBackup<T>::drop_rows(Index first, Real<T> largest) {
    if (!(largest <= most_to_multiply)) return;
    Copy& copy = copies_[first];
    Index end = copy.at + copy.count;
    used_.compare_exchange_strong(end, copy.at); // otherwise others have used what follows
    copy = {};
}

template <class T> void LuBackup<T>::restore(MatrixView<T> panel, Index pivots,
                                             std::span<std::int32_t const> column_perm, bool has_rows) const {
    Index const num_rows = panel.rows - width_;
    MatrixView<T> const a11 = panel.block(0, 0, width_, width_);
    if (has_rows) {
        std::vector<T> memory(width_ * width_);
        MatrixView<T> const factor{memory.data(), width_, width_, width_};
        for (Index j = 0; j < width_; ++j)
            for (Index i = 0; i < width_; ++i)
                factor(i, column_perm[j]) = i <= j && i < pivots ? a11(i, j) : T(i == j ? 1 : 0);
        for (Index first = 0, end = 0; first < num_rows; first = end) {
            Index const count = copies_[first].count;
            for (end = first + std::max<Index>(count, 1);
                 count == 0 && end < num_rows && copies_[end].count == 0;)
                ++end;
            MatrixView<T> const a21 = panel.block(width_ + first, 0, end - first, width_);
            if (count > 0)
                copy<T>(rows(copies_[first]), a21);
            else
                multiply_rows<T>(factor, a21);
        }
    }
    copy<T>(diagonal(), a11);
}

template <class T> void restore_ldl(bool conjugate, MatrixView<T> panel, std::span<std::int32_t const> perm,
                                    std::span<T const> off_diagonal, bool has_rows, std::vector<T>& memory) {
    Index const width = panel.cols, pivots = std::ssize(off_diagonal), rest = width - pivots;
    Index const rows = has_rows ? panel.rows : width;
    memory.resize(std::max<std::size_t>(memory.size(), (rows + width) * width));
    MatrixView<T> const scaled{memory.data(), rows, width, rows};
    MatrixView<T> const l{memory.data() + rows * width, width, width, width};
    for (Index j = 0; j < width; ++j)
        for (Index i = 0; i < width; ++i)
            l(perm[i], j) = i > j && j < pivots ? panel(i, j) : T(i == j ? 1 : 0);
    MatrixView<T> const d = panel.block(0, 0, pivots, pivots);
    multiply_by_d<T>(conjugate, d, off_diagonal, l.block(0, 0, width, pivots), scaled);
    for (Index j = pivots; j < width; ++j)
        for (Index i = 0; i < width; ++i)
            scaled(perm[i], j) = i < pivots ? T(0) : i < j ? conj_if(conjugate, panel(j, i)) : panel(i, j);
    Op const op = conjugate ? Op::adjoint : Op::transpose;
    if (has_rows) {
        MatrixView<T> const below = panel.block(width, 0, rows - width, width);
        MatrixView<T> const scaled_below = scaled.block(width, 0, below.rows, width);
        multiply_by_d<T>(conjugate, d, off_diagonal, below.block(0, 0, below.rows, pivots), scaled_below);
        copy<T>(below.block(0, pivots, below.rows, rest), scaled_below.block(0, pivots, below.rows, rest));
        assign_product<T>(op, scaled_below, l, below);
    }
    assign_product<T>(op, scaled.block(0, 0, width, width), l, panel.block(0, 0, width, width));
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void restore_ldl<T>(bool, MatrixView<T>, std::span<std::int32_t const>, std::span<T const>,     \
                                 bool, std::vector<T>&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_CLASS(LuBackup)

} // namespace espalier
