// Symmetric indefinite factorization of a diagonal block: A(p, p) = L D L^H (or L^T) with rook pivoting,
// which bounds the entries of L (Ashcraft, Grimes, Lewis 1998): a column is searched, then the row of its
// largest entry, and so on until an entry is largest in its row and column; it determines a 1x1 or 2x2 pivot.
#include "kernels/ldl_panel.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/threshold.hpp"

namespace espalier {

namespace {

template <class T> class RookFactorization : LdlPanel<T> {
    using Base = LdlPanel<T>;
    using Base::w_, Base::n_, Base::first_, Base::threshold_, Base::load_column, Base::pivot_1x1,
        Base::pivot_2x2, Base::panel_width;

  public:
    RookFactorization(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm,
                      std::span<T> off_diagonal, Real<T> threshold, BlockDivision const* division = nullptr)
        : Base(conjugate, a, perm, off_diagonal, threshold), to_try_(n_) {
        if (division && division->sizes.divide(n_)) this->division_ = division;
    }

    PivotStats run() {
        factorize();
        return this->stats_;
    }
    // Leaves columns without a pivot at the end.
    ThresholdPivots run_without_replacements() {
        postpones_ = true;
        factorize();
        return {this->stats_, first_};
    }

  private:
    // The row >= k, except `skip`, of the largest entry in column `slot` of W; -1 if all are zero.
    LargestEntry<T> largest(Index slot, Index k, Index skip) const {
        T const* const column = w_.column(slot);
        auto const above = largest_entry(column + k, skip - k);
        auto const below = largest_entry(column + skip + 1, n_ - skip - 1);
        if (below.value > above.value) return {skip + 1 + below.index, below.value};
        return {above.index < 0 ? -1 : k + above.index, above.value};
    }

    void factorize() {
        while (first_ < to_try_) {
            Index k = first_;
            while (k < to_try_ && k < first_ + panel_width) k += eliminate(k);
            this->finish_panel(k);
        }
    }

    // Finds the pivot of step k, moves it to k and computes its columns of L. Returns its size, 1 or 2; 0 if
    // column k is postponed.
    Index eliminate(Index k) {
        Index const slot = k - first_;
        Index p = k;
        load_column(k, k, slot);
        auto [r, colmax] = largest(slot, k, k);
        Real<T> const size = abs1(w_(k, slot));
        // A NaN ends the search here and is detected in the pivot or its column.
        if (r < 0 || size >= alpha * colmax || std::max(size, colmax) < threshold_) return take_1x1(k, k);

        while (true) {
            load_column(r, k, slot + 1);
            auto const [next, rowmax] = largest(slot + 1, k, r);
            if (abs1(w_(r, slot + 1)) >= alpha * rowmax) {
                std::copy(w_.column(slot + 1) + k, w_.column(slot + 1) + n_, w_.column(slot) + k);
                return take_1x1(k, r);
            }
            if (next == p || !(rowmax > colmax)) return pivot_2x2(k, p, r);
            p = std::exchange(r, next);
            colmax = rowmax;
            std::copy(w_.column(slot + 1) + k, w_.column(slot + 1) + n_, w_.column(slot) + k);
        }
    }

    // Takes row and column p as the pivot, unless it is too small and column k may be postponed.
    Index take_1x1(Index k, Index p) {
        if (postpones_ && std::abs(w_(p, k - first_)) < threshold_) {
            this->exchange(k, --to_try_);
            return 0;
        }
        return pivot_1x1(k, p);
    }

    // (1 + sqrt(17)) / 8 balances the growth of two 1x1 steps and of a 2x2 step (Bunch, Kaufman 1977).
    static constexpr Real<T> alpha = static_cast<Real<T>>(0.6403882032022076);

    bool postpones_ = false;
    Index to_try_; ///< Columns from here on were postponed.
};

} // namespace

template <class T> PivotStats factor_ldl(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm,
                                         std::span<T> off_diagonal, Real<T> threshold,
                                         BlockDivision const* division) {
    return RookFactorization<T>(conjugate, a, perm, off_diagonal, threshold, division).run();
}

template <class T> ThresholdPivots factor_ldl_leading(bool conjugate, MatrixView<T> a,
                                                      std::span<std::int32_t> perm, std::span<T> off_diagonal,
                                                      Real<T> threshold, BlockDivision const* division) {
    return RookFactorization<T>(conjugate, a, perm, off_diagonal, threshold, division)
        .run_without_replacements();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template ThresholdPivots factor_ldl_leading<T>(bool, MatrixView<T>, std::span<std::int32_t>,             \
                                                   std::span<T>, Real<T>, BlockDivision const*);             \
    template PivotStats factor_ldl<T>(bool, MatrixView<T>, std::span<std::int32_t>, std::span<T>, Real<T>,   \
                                      BlockDivision const*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
