// Column permutations, the triangular solve of LDL, and products and solves with the block-diagonal D.
#include "kernels/panel.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/pivot_block.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/triangular.hpp"
#include "kernels/vector.hpp"

namespace espalier {

namespace {

// Calls single(k, d) for each 1x1 pivot and pair(k, block) for each 2x2 pivot of D, in order.
template <class T, class Single, class Pair> void for_each_pivot(bool conjugate, MatrixView<T const> diagonal,
                                                                 std::span<T const> off_diagonal,
                                                                 Single const& single, Pair const& pair) {
    for (Index k = 0; k < diagonal.cols; ++k)
        if (off_diagonal[k] == T(0)) {
            single(k, diagonal(k, k));
        } else {
            pair(k, pivot_block(conjugate, diagonal(k, k), off_diagonal[k], diagonal(k + 1, k + 1)));
            ++k;
        }
}

// to(:, k) = from(:, k) factor. The views may be the same.
template <class T> void scale_column(MatrixView<T const> from, MatrixView<T> to, Index k, T factor) {
    for (Index i = 0; i < from.rows; ++i) to(i, k) = times(from(i, k), factor);
}

// to(:, k : k + 2) = from(:, k : k + 2) d. The views may be the same.
template <class T>
void multiply_column_pair(MatrixView<T const> from, MatrixView<T> to, Index k, PivotBlock<T> const& d) {
    for (Index i = 0; i < from.rows; ++i) {
        T const x0 = from(i, k);
        T const x1 = from(i, k + 1);
        to(i, k) = times(x0, d.d00) + times(x1, d.d10);
        to(i, k + 1) = times(x0, d.d01) + times(x1, d.d11);
    }
}

// The largest |Re| + |Im| in the first `counted` rows; `counted` is clamped to 0 .. block.rows.
template <class T> Real<T> largest_of_counted(MatrixView<T const> block, Index counted) {
    if (counted <= 0) return 0;
    return largest_size_in(block.block(0, 0, std::min(block.rows, counted), block.cols));
}

// x := x factor for a real column. Returns the largest size of the results.
template <class T> struct ScaleColumn {
    template <int bytes> ESPALIER_INLINE static T run(T* x, Index n, T factor) {
        constexpr int width = vector::lanes<T, bytes>;
        vector::VectorOf<T, width> largest = {};
        Index i = 0;
        for (; i + width <= n; i += width) {
            vector::VectorOf<T, width> a;
            vector::load(a, x + i);
            a *= factor;
            vector::store(a, x + i);
            a = a < 0 ? -a : a;
            largest = a > largest ? a : largest;
        }
        T result = 0;
        for (int lane = 0; lane < width; ++lane) result = std::max(result, largest[lane]);
        for (; i < n; ++i) result = std::max(result, std::abs(x[i] *= factor));
        return result;
    }
};

// (x y) := (x y) d for two real columns and a symmetric d. Returns the largest size of the results.
template <class T> struct ScaleColumnPair {
    template <int bytes> ESPALIER_INLINE static T run(T* x, T* y, Index n, T d00, T d10, T d11) {
        constexpr int width = vector::lanes<T, bytes>;
        vector::VectorOf<T, width> largest = {};
        Index i = 0;
        for (; i + width <= n; i += width) {
            vector::VectorOf<T, width> a, b;
            vector::load(a, x + i);
            vector::load(b, y + i);
            auto c = a * d00 + b * d10, d = a * d10 + b * d11;
            vector::store(c, x + i);
            vector::store(d, y + i);
            c = c < 0 ? -c : c;
            d = d < 0 ? -d : d;
            c = c > d ? c : d;
            largest = c > largest ? c : largest;
        }
        T result = 0;
        for (int lane = 0; lane < width; ++lane) result = std::max(result, largest[lane]);
        for (; i < n; ++i) {
            T const a = x[i], b = y[i];
            x[i] = a * d00 + b * d10;
            y[i] = a * d10 + b * d11;
            result = std::max({result, std::abs(x[i]), std::abs(y[i])});
        }
        return result;
    }
};

// Does divide_by_d() for the block of rows, and returns what largest_of_counted() does.
template <class T> Real<T> divide_and_measure(bool conjugate, MatrixView<T const> diagonal,
                                              std::span<T const> off_diagonal, MatrixView<T> block,
                                              Index counted) {
    if constexpr (is_complex<T>) {
        divide_by_d(conjugate, diagonal, off_diagonal, block);
        return largest_of_counted<T>(block, counted);
    } else {
        auto const instructions = widest_instruction_set();
        T largest = 0;
        for_each_pivot<T>(
            conjugate, diagonal, off_diagonal,
            [&](Index k, T d) {
                T const found =
                    vector::run_with<ScaleColumn<T>>(instructions, block.column(k), block.rows, T(1) / d);
                largest = std::max(largest, found);
            },
            [&](Index k, PivotBlock<T> const& d) {
                auto const inv = inverse(conjugate, d);
                T const found =
                    vector::run_with<ScaleColumnPair<T>>(instructions, block.column(k), block.column(k + 1),
                                                         block.rows, inv.d00, inv.d10, inv.d11);
                largest = std::max(largest, found);
            });
        return counted >= block.rows ? largest : largest_of_counted<T>(block, counted);
    }
}

// The cycles of a permutation of columns that are longer than 1.
class Cycles {
  public:
    explicit Cycles(std::span<std::int32_t const> perm) : perm_(perm) {
        std::vector<bool> seen(perm.size(), false);
        for (std::int32_t j = 0; j < std::ssize(perm); ++j) {
            if (seen[j] || perm[j] == j) continue;
            starts_.push_back(j);
            for (std::int32_t i = j; !seen[i]; i = perm[i]) seen[i] = true;
        }
    }
    // Permutes the columns of a block of rows, so that a column is still in cache when it is overwritten.
    template <class T> void permute(MatrixView<T> block) const {
        std::array<T, most_rows> saved;
        for (std::int32_t const start : starts_) {
            std::copy_n(block.column(start), block.rows, saved.data());
            std::int32_t j = start;
            for (; perm_[j] != start; j = perm_[j])
                std::copy_n(block.column(perm_[j]), block.rows, block.column(j));
            std::copy_n(saved.data(), block.rows, block.column(j));
        }
    }

  private:
    static constexpr Index most_rows = 256; // of for_each_row_block()

    std::span<std::int32_t const> perm_;
    std::vector<std::int32_t> starts_; // the first column of each cycle
};

} // namespace

PivotStats& PivotStats::operator+=(PivotStats const& other) {
    replaced += other.replaced;
    negative += other.negative;
    delayed += other.delayed;
    range += other.range;
    if (zero_column < 0) zero_column = other.zero_column;
    return *this;
}

template <class T> void permute_columns(MatrixView<T> b, std::span<std::int32_t const> perm) {
    Cycles const cycles(perm);
    for_each_row_block<T>(b.rows,
                          [&](Index first, Index rows) { cycles.permute(b.block(first, 0, rows, b.cols)); });
}

template <class T> Real<T> solve_panel_ldl(bool conjugate, MatrixView<T const> diagonal,
                                           std::span<std::int32_t const> perm,
                                           std::span<T const> off_diagonal, MatrixView<T> b, Index counted) {
    if (b.rows == 0) return 0;
    Cycles const cycles(perm);
    Real<T> largest = 0;
    for_each_row_block<T>(b.rows, [&](Index first, Index rows) {
        auto const block = b.block(first, 0, rows, b.cols);
        cycles.permute(block);
        solve_right<T>(conjugate ? Op::adjoint : Op::transpose, Diag::unit, diagonal, block);
        Real<T> const found = divide_and_measure(conjugate, diagonal, off_diagonal, block, counted - first);
        largest = std::max(largest, found);
    });
    return largest;
}

template <class T> Real<T> solve_panel_lu(MatrixView<T const> diagonal, MatrixView<T> b, Index counted) {
    Real<T> largest = 0;
    for_each_row_block<T>(b.rows, [&](Index first, Index rows) {
        auto const block = b.block(first, 0, rows, b.cols);
        solve_right<T>(Op::none, Diag::non_unit, diagonal, block);
        largest = std::max(largest, largest_of_counted<T>(block, counted - first));
    });
    return largest;
}

template <class T> void divide_by_d(bool conjugate, MatrixView<T const> diagonal,
                                    std::span<T const> off_diagonal, MatrixView<T> b) {
    for_each_pivot<T>(
        conjugate, diagonal, off_diagonal, [&](Index k, T d) { scale_column<T>(b, b, k, T(1) / d); },
        [&](Index k, PivotBlock<T> const& d) { multiply_column_pair<T>(b, b, k, inverse(conjugate, d)); });
}

template <class T> void multiply_by_d(bool conjugate, MatrixView<T const> diagonal,
                                      std::span<T const> off_diagonal, MatrixView<T const> b,
                                      MatrixView<T> w) {
    for_each_pivot<T>(
        conjugate, diagonal, off_diagonal, [&](Index k, T d) { scale_column<T>(b, w, k, d); },
        [&](Index k, PivotBlock<T> const& d) { multiply_column_pair<T>(b, w, k, d); });
}

template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, MatrixView<T> x) {
    for_each_pivot<T>(
        conjugate, diagonal, off_diagonal,
        [&](Index k, T d) {
            for (Index j = 0; j < x.cols; ++j) x(k, j) /= d;
        },
        [&](Index k, PivotBlock<T> const& d) {
            auto const inv = inverse(conjugate, d);
            for (Index j = 0; j < x.cols; ++j) {
                T const x0 = x(k, j);
                T const x1 = x(k + 1, j);
                x(k, j) = times(inv.d00, x0) + times(inv.d01, x1);
                x(k + 1, j) = times(inv.d10, x0) + times(inv.d11, x1);
            }
        });
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void permute_columns<T>(MatrixView<T>, std::span<std::int32_t const>);                          \
    template Real<T> solve_panel_ldl<T>(bool, MatrixView<T const>, std::span<std::int32_t const>,            \
                                        std::span<T const>, MatrixView<T>, Index);                           \
    template Real<T> solve_panel_lu<T>(MatrixView<T const>, MatrixView<T>, Index);                           \
    template void multiply_by_d<T>(bool, MatrixView<T const>, std::span<T const>, MatrixView<T const>,       \
                                   MatrixView<T>);                                                           \
    template void divide_by_d<T>(bool, MatrixView<T const>, std::span<T const>, MatrixView<T>);              \
    template void solve_d<T>(bool, MatrixView<T const>, std::span<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
