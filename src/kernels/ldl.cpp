// Symmetric indefinite factorization of a diagonal block: A(p, p) = L D L^H (or L^T) with rook pivoting,
// which bounds the entries of L (Ashcraft, Grimes, Lewis 1998): a column is searched, then the row of its
// largest entry, and so on until an entry is largest in its row and column; it determines a 1x1 or 2x2 pivot.
//
// The algorithm is blocked (Dongarra, Duff, Sorensen, van der Vorst 1998, ch. 5): a panel of columns is
// computed left-looking, with W = L D in a buffer; then the columns to the right are updated by A -= L W^H.
// Columns are permuted in the lower triangle when they are chosen; the row interchanges of a panel are
// applied to the panels on its left when the panel is complete.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

#include "kernels/panel.hpp"
#include "kernels/pivot_block.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/product.hpp"

namespace espalier {

namespace {

constexpr Index panel_width = 32;

template <class T> class RookFactorization {
  public:
    RookFactorization(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm,
                      std::span<T> off_diagonal, Real<T> threshold)
        : conjugate_(conjugate), a_(a), n_(a.cols), perm_(perm), off_diagonal_(off_diagonal),
          threshold_(threshold), slots_(std::min(n_, panel_width) + 1),
          storage_(std::make_unique_for_overwrite<T[]>((n_ + 1) * slots_)), w_{storage_.get(), n_, slots_,
                                                                               n_},
          row_(storage_.get() + n_ * slots_) {}

    PivotStats run() {
        std::iota(perm_.begin(), perm_.end(), 0);
        std::fill(off_diagonal_.begin(), off_diagonal_.end(), T(0));
        while (first_ < n_) {
            Index k = first_;
            while (k < n_ && k < first_ + panel_width) k += eliminate(k);
            update_trailing(k);
            interchange_left();
            first_ = k;
        }
        return stats_;
    }

  private:
    // Stores rows k to n of column c after the pivots before k in column `slot` of W: A(:, c) - L W(c, :)^H
    // over the panel. The entries above the diagonal come from row c.
    void load_column(Index c, Index k, Index slot) {
        T* const to = w_.column(slot);
        for (Index i = k; i < c; ++i) to[i] = conj_if(conjugate_, a_(c, i));
        std::copy(a_.column(c) + c, a_.column(c) + n_, to + c);
        Index const depth = k - first_;
        for (Index p = 0; p < depth; ++p) row_[p] = conj_if(conjugate_, w_(c, p));
        subtract_product<T>(Op::none, a_.block(k, first_, n_ - k, depth), {row_, depth, 1, depth},
                            w_.block(k, slot, n_ - k, 1));
        if (conjugate_) to[c] = real_part(to[c]);
    }

    // The row >= k, except `skip`, of the largest entry in column `slot` of W; -1 if all are zero.
    LargestEntry<T> largest(Index slot, Index k, Index skip) const {
        T const* const column = w_.column(slot);
        auto const above = largest_entry(column + k, skip - k);
        auto const below = largest_entry(column + skip + 1, n_ - skip - 1);
        if (below.value > above.value) return {skip + 1 + below.index, below.value};
        return {above.index < 0 ? -1 : k + above.index, above.value};
    }

    // Finds the pivot of step k, moves it to k and computes its columns of L. Returns its size, 1 or 2.
    Index eliminate(Index k) {
        Index const slot = k - first_;
        Index p = k;
        load_column(k, k, slot);
        auto [r, colmax] = largest(slot, k, k);
        Real<T> const size = abs1(w_(k, slot));
        // A NaN ends the search here and is detected in the pivot or its column.
        if (r < 0 || size >= alpha * colmax || std::max(size, colmax) < threshold_) return pivot_1x1(k, k);

        while (true) {
            load_column(r, k, slot + 1);
            auto const [next, rowmax] = largest(slot + 1, k, r);
            if (abs1(w_(r, slot + 1)) >= alpha * rowmax) {
                std::copy(w_.column(slot + 1) + k, w_.column(slot + 1) + n_, w_.column(slot) + k);
                return pivot_1x1(k, r);
            }
            if (next == p || !(rowmax > colmax)) return pivot_2x2(k, p, r);
            p = std::exchange(r, next);
            colmax = rowmax;
            std::copy(w_.column(slot + 1) + k, w_.column(slot + 1) + n_, w_.column(slot) + k);
        }
    }

    // Moves row and column p to k <= p. Column k of A moves to p, whose old content is already in W.
    void interchange(Index k, Index p, Index slots) {
        if (p == k) return;
        a_(p, p) = a_(k, k);
        for (Index i = k + 1; i < p; ++i) a_(p, i) = conj_if(conjugate_, a_(i, k));
        std::copy(a_.column(k) + p + 1, a_.column(k) + n_, a_.column(p) + p + 1);
        for (Index j = first_; j < k; ++j) std::swap(a_(k, j), a_(p, j));
        for (Index j = 0; j < slots; ++j) std::swap(w_(k, j), w_(p, j));
        std::swap(perm_[k], perm_[p]);
        interchanges_[num_interchanges_++] = {k, p};
    }

    Index pivot_1x1(Index k, Index p) {
        Index const slot = k - first_;
        interchange(k, p, slot + 1);
        T d = w_(k, slot);
        T* const l = a_.column(k);
        if (Real<T> const size = std::abs(d); size < threshold_) {
            d = size == 0 ? T(threshold_) : d / size * threshold_;
            ++stats_.replaced;
        }
        l[k] = d;
        if (d == T(0) || !is_finite(d)) {
            if (stats_.zero_column < 0) stats_.zero_column = k;
            std::fill(l + k + 1, l + n_, T(0));
            std::fill(w_.column(slot) + k, w_.column(slot) + n_, T(0));
            return 1;
        }
        if (real_part(d) < 0 && (conjugate_ || !is_complex<T>)) ++stats_.negative;
        T const* const from = w_.column(slot);
        if (T const inverse = T(1) / d; is_finite(inverse))
            for (Index i = k + 1; i < n_; ++i) l[i] = times(from[i], inverse);
        else
            for (Index i = k + 1; i < n_; ++i) l[i] = from[i] / d;
        return 1;
    }

    // Pivot of rows and columns p (in column `slot` of W) and r (in the next column).
    Index pivot_2x2(Index k, Index p, Index r) {
        Index const slot = k - first_;
        if (r == k) { // only through rounding errors; rook search does not return to its start
            std::swap_ranges(w_.column(slot) + k, w_.column(slot) + n_, w_.column(slot + 1) + k);
            std::swap(p, r);
        }
        interchange(k, p, slot + 2);
        interchange(k + 1, r, slot + 2);
        T const* const w0 = w_.column(slot);
        T const* const w1 = w_.column(slot + 1);
        auto const d = pivot_block(conjugate_, w0[k], w0[k + 1], w1[k + 1]);
        auto const inv = inverse(conjugate_, d);
        a_(k, k) = d.d00;
        a_(k + 1, k) = T(0);
        a_(k + 1, k + 1) = d.d11;
        off_diagonal_[k] = d.d10;
        if (!is_finite(inv.d00) || !is_finite(inv.d10) || !is_finite(inv.d11))
            if (stats_.zero_column < 0) stats_.zero_column = k;
        if (conjugate_ || !is_complex<T>) ++stats_.negative; // the determinant is negative
        T* const l0 = a_.column(k);
        T* const l1 = a_.column(k + 1);
        for (Index i = k + 2; i < n_; ++i) {
            l0[i] = times(w0[i], inv.d00) + times(w1[i], inv.d10);
            l1[i] = times(w0[i], inv.d01) + times(w1[i], inv.d11);
        }
        return 2;
    }

    // A(k:n, k:n) -= L(k:n, panel) W(k:n, panel)^H, lower triangle.
    void update_trailing(Index k) {
        Index const m = n_ - k;
        Index const depth = k - first_;
        subtract_product_lower<T>(conjugate_ ? Op::adjoint : Op::transpose, a_.block(k, first_, m, depth),
                                  w_.block(k, 0, m, depth), a_.block(k, k, m, m));
    }

    // Applies the interchanges of the panel to the columns of the panels on its left.
    void interchange_left() {
        for (Index j = 0; j < first_; ++j) {
            T* const column = a_.column(j);
            for (Index i = 0; i < num_interchanges_; ++i)
                std::swap(column[interchanges_[i].first], column[interchanges_[i].second]);
        }
        num_interchanges_ = 0;
    }

    // (1 + sqrt(17)) / 8 balances the growth of two 1x1 steps and of a 2x2 step (Bunch, Kaufman 1977).
    static constexpr Real<T> alpha = static_cast<Real<T>>(0.6403882032022076);

    bool conjugate_;
    MatrixView<T> a_;
    Index n_;
    std::span<std::int32_t> perm_;
    std::span<T> off_diagonal_;
    Real<T> threshold_;

    Index first_ = 0; ///< First column of the panel.
    Index slots_;     ///< Columns of W. A 2x2 pivot at the end may extend a panel by one column.
    std::unique_ptr<T[]> storage_;
    MatrixView<T> w_; ///< W = L D of the panel: column first_ + s of the matrix in slot s.
    T* row_;          ///< A row of W, conjugated where needed.
    std::array<std::pair<Index, Index>, panel_width + 1> interchanges_; ///< Interchanges of the panel.
    Index num_interchanges_ = 0;
    PivotStats stats_;
};

} // namespace

template <class T> PivotStats factor_ldl(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm,
                                         std::span<T> off_diagonal, Real<T> threshold) {
    return RookFactorization<T>(conjugate, a, perm, off_diagonal, threshold).run();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template PivotStats factor_ldl<T>(bool, MatrixView<T>, std::span<std::int32_t>, std::span<T>, Real<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
