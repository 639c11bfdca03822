// The steps of a blocked LDL factorization that rook pivoting in a diagonal block and threshold pivoting in a
// whole panel have in common (ldl.cpp, threshold_ldl.cpp). The first a.cols rows of `a` are fully summed:
// pivots are chosen from them. Rows below them, if any, are only eliminated.
//
// The algorithm follows Dongarra, Duff, Sorensen, van der Vorst 1998, ch. 5: a panel of columns is computed
// left-looking, with W = L D in a buffer; then the columns to the right are updated by A -= L W^H. Columns
// are permuted in the lower triangle when they are chosen; the row interchanges of a panel are applied to the
// panels on its left when the panel is complete.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

#include "kernels/panel.hpp"
#include "kernels/pivot_block.hpp"
#include "kernels/product.hpp"

namespace espalier {

template <class T> class LdlPanel {
  public:
    /// `perm` and `off_diagonal` as of factor_ldl(), with a.cols entries.
    LdlPanel(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm, std::span<T> off_diagonal,
             Real<T> threshold)
        : conjugate_(conjugate), a_(a), n_(a.cols), rows_(a.rows), off_diagonal_(off_diagonal),
          threshold_(threshold), perm_(perm), slots_(std::min(n_, panel_width) + 1),
          storage_(std::make_unique_for_overwrite<T[]>((rows_ + 1) * slots_)),
          w_{storage_.get(), rows_, slots_, rows_}, row_(storage_.get() + rows_ * slots_) {
        std::iota(perm_.begin(), perm_.end(), 0);
        std::fill(off_diagonal_.begin(), off_diagonal_.end(), T(0));
    }

  protected:
    static constexpr Index panel_width = ldl_panel_columns;

    // Stores rows k to the end of column c after the pivots before k in column `slot` of W:
    // A(:, c) - L W(c, :)^H over the panel. The entries above the diagonal come from row c.
    void load_column(Index c, Index k, Index slot) {
        T* const to = w_.column(slot);
        for (Index i = k; i < c; ++i) to[i] = conj_if(conjugate_, a_(c, i));
        std::copy(a_.column(c) + c, a_.column(c) + rows_, to + c);
        Index const depth = k - first_;
        for (Index p = 0; p < depth; ++p) row_[p] = conj_if(conjugate_, w_(c, p));
        subtract_product<T>(Op::none, a_.block(k, first_, rows_ - k, depth), {row_, depth, 1, depth},
                            w_.block(k, slot, rows_ - k, 1));
        if (conjugate_) to[c] = real_part(to[c]);
    }

    // Moves row and column p to k <= p. Column k of A moves to p, whose old content is already in W.
    void interchange(Index k, Index p, Index slots) {
        if (p == k) return;
        a_(p, p) = a_(k, k);
        for (Index i = k + 1; i < p; ++i) a_(p, i) = conj_if(conjugate_, a_(i, k));
        std::copy(a_.column(k) + p + 1, a_.column(k) + rows_, a_.column(p) + p + 1);
        for (Index j = first_; j < k; ++j) std::swap(a_(k, j), a_(p, j));
        for (Index j = 0; j < slots; ++j) std::swap(w_(k, j), w_(p, j));
        record_interchange(k, p);
    }

    // Exchanges the rows and columns k < q before column k is loaded: both are as the last panel has left
    // them.
    void exchange(Index k, Index q) {
        if (q == k) return;
        std::swap(a_(k, k), a_(q, q));
        for (Index i = k + 1; i < q; ++i) {
            T const entry = a_(i, k);
            a_(i, k) = conj_if(conjugate_, a_(q, i));
            a_(q, i) = conj_if(conjugate_, entry);
        }
        a_(q, k) = conj_if(conjugate_, a_(q, k));
        std::swap_ranges(a_.column(k) + q + 1, a_.column(k) + rows_, a_.column(q) + q + 1);
        for (Index j = first_; j < k; ++j) {
            std::swap(a_(k, j), a_(q, j));
            std::swap(w_(k, j - first_), w_(q, j - first_));
        }
        record_interchange(k, q);
    }

    // Pivot of row and column p (in the column of W for k).
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
            std::fill(l + k + 1, l + rows_, T(0));
            std::fill(w_.column(slot) + k, w_.column(slot) + rows_, T(0));
            return 1;
        }
        if (real_part(d) < 0 && (conjugate_ || !is_complex<T>)) ++stats_.negative;
        T const* const from = w_.column(slot);
        if (T const inverse = T(1) / d; is_finite(inverse))
            for (Index i = k + 1; i < rows_; ++i) l[i] = times(from[i], inverse);
        else
            for (Index i = k + 1; i < rows_; ++i) l[i] = from[i] / d;
        return 1;
    }

    // Pivot of rows and columns p (in column `slot` of W) and r (in the next column).
    Index pivot_2x2(Index k, Index p, Index r) {
        Index const slot = k - first_;
        if (r == k) { // in rook pivoting through rounding errors only, which does not return to its start
            std::swap_ranges(w_.column(slot) + k, w_.column(slot) + rows_, w_.column(slot + 1) + k);
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
        for (Index i = k + 2; i < rows_; ++i) {
            l0[i] = times(w0[i], inv.d00) + times(w1[i], inv.d10);
            l1[i] = times(w0[i], inv.d01) + times(w1[i], inv.d11);
        }
        return 2;
    }

    // Ends the panel before column k: A(k:, k:n) -= L(k:, panel) W(k:n, panel)^H, lower trapezoid.
    void finish_panel(Index k) {
        Index const height = rows_ - k, width = n_ - k;
        Index const depth = k - first_;
        Op const op = conjugate_ ? Op::adjoint : Op::transpose;
        if (depth > 0 && width > 0 && division_)
            division_->for_each_lower_part(width, [&](LowerPart const& part) {
                Index const row = k + part.row, column = k + part.col;
                subtract_product<T>(op, a_.block(row, first_, part.rows, depth),
                                    w_.block(column, 0, part.cols, depth),
                                    a_.block(row, column, part.rows, part.cols));
            });
        else if (depth > 0)
            subtract_product_lower<T>(op, a_.block(k, first_, height, depth), w_.block(k, 0, width, depth),
                                      a_.block(k, k, height, width));
        interchange_left();
        first_ = k;
    }

  private:
    void record_interchange(Index k, Index p) {
        if (num_interchanges_ == std::ssize(interchanges_)) interchange_left();
        std::swap(perm_[k], perm_[p]);
        interchanges_[num_interchanges_++] = {k, p};
    }

    // Applies the interchanges of the panel so far to the columns of the panels on its left.
    void interchange_left() {
        for (Index j = 0; j < first_; ++j) {
            T* const column = a_.column(j);
            for (Index i = 0; i < num_interchanges_; ++i)
                std::swap(column[interchanges_[i].first], column[interchanges_[i].second]);
        }
        num_interchanges_ = 0;
    }

  protected:
    bool conjugate_;
    MatrixView<T> a_;
    Index n_;    ///< Fully summed rows, and columns.
    Index rows_; ///< All rows.
    std::span<T> off_diagonal_;
    Real<T> threshold_;
    Index first_ = 0;                         ///< First column of the panel.
    BlockDivision const* division_ = nullptr; ///< Only if no rows are below the fully summed ones.
    PivotStats stats_;

  private:
    std::span<std::int32_t> perm_;
    Index slots_; ///< Columns of W. A 2x2 pivot at the end may extend a panel by one column.
    std::unique_ptr<T[]> storage_;

  protected:
    MatrixView<T> w_; ///< W = L D of the panel: column first_ + s of the matrix in slot s.

  private:
    T* row_; ///< A row of W, conjugated where needed.
    std::array<std::pair<Index, Index>, panel_width + 1> interchanges_; ///< Interchanges of the panel.
    Index num_interchanges_ = 0;
};

} // namespace espalier
