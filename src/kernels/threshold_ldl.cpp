#include <limits>

#include "kernels/ldl_panel.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/threshold.hpp"

namespace espalier {

namespace {

// Candidates are tried in turn. A candidate q may become a 1x1 pivot, or be replaced by the row r of its
// largest entry, or form a 2x2 pivot with it, whichever bounds L best.
template <class T> class ThresholdLdl : LdlPanel<T> {
    using Base = LdlPanel<T>;
    using Base::w_, Base::n_, Base::first_, Base::threshold_, Base::conjugate_, Base::load_column,
        Base::pivot_1x1, Base::pivot_2x2, Base::panel_width;

  public:
    ThresholdLdl(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm, std::span<T> off_diagonal,
                 PivotRule<T> const& rule)
        : Base(conjugate, a, perm, off_diagonal, rule.threshold), rule_(rule) {}

    ThresholdPivots run() {
        bool goes_on = true;
        while (goes_on && first_ < n_) {
            Index k = first_;
            while (goes_on && k < n_ && k < first_ + panel_width) {
                Index const size = eliminate(k);
                k += size;
                goes_on = size > 0;
            }
            this->finish_panel(k);
        }
        return {this->stats_, first_};
    }

  private:
    // The largest entries of a column of W in rows that are not pivots.
    struct Column {
        Index row = -1;       ///< The fully summed row of the largest entry off the diagonal.
        Real<T> summed = 0;   ///< Its size.
        Real<T> below = 0;    ///< The largest entry below the fully summed rows.
        Real<T> diagonal = 0; ///< The size of the diagonal entry.
        [[nodiscard]] Real<T> off_diagonal() const { return std::max(summed, below); }
        [[nodiscard]] Real<T> largest() const { return std::max(diagonal, off_diagonal()); }
    };

    // Column c of the matrix, in `slot`, without the rows before k and without row `other`.
    Column search(Index slot, Index k, Index c, Index other = -1) const {
        Column found;
        T const* const column = w_.column(slot);
        Index begin = k;
        auto const [first, last] = std::minmax(c, other);
        for (Index const end : {first, last, n_}) {
            if (end < begin) continue; // there is no other row
            if (auto const largest = largest_entry(column + begin, end - begin); largest.value > found.summed)
                found.row = begin + largest.index, found.summed = largest.value;
            begin = end + 1;
        }
        found.below = largest_entry(column + n_, rule_.rows).value;
        found.diagonal = abs1(column[c]);
        return found;
    }

    // The bound of the entries of L that a pivot leads to; infinite if it is not accepted.
    [[nodiscard]] Real<T> growth(Column const& c) const {
        if (!(c.diagonal >= threshold_ && c.diagonal > 0)) return refused;
        return accepted(c.off_diagonal() / c.diagonal);
    }
    // |D^-1| times the rest of both columns.
    [[nodiscard]] Real<T> growth(PivotBlock<T> const& d, Real<T> rest_q, Real<T> rest_r) const {
        bool const has_signs = conjugate_ || !is_complex<T>;
        Real<T> const scale = abs1(d.d10);
        if (has_signs && !(real_part(d.d00) / scale * (real_part(d.d11) / scale) < Real<T>(0.5)))
            return refused; // definite or nearly singular
        auto const inv = inverse(conjugate_, d);
        Real<T> const i00 = abs1(inv.d00), i10 = abs1(inv.d10), i11 = abs1(inv.d11);
        if (!(threshold_ * std::max({i00, i10, i11}) <= 1)) return refused;
        return accepted(std::max(i00 * rest_q + i10 * rest_r, i10 * rest_q + i11 * rest_r));
    }
    [[nodiscard]] Real<T> accepted(Real<T> growth) const { return rule_.u * growth <= 1 ? growth : refused; }

    // Finds the pivot of step k, moves it to k and computes its columns of L. Returns its size, 1 or 2; 0 if
    // there is none.
    Index eliminate(Index k) {
        for (Index tried = k; tried < n_; ++tried) {
            if (candidate_ < k || candidate_ >= n_) candidate_ = k;
            if (Index const size = try_candidate(k, candidate_++); size > 0) return size;
        }
        return 0;
    }

    Index try_candidate(Index k, Index q) {
        Index const slot = k - first_;
        load_column(q, k, slot);
        Column const at_q = search(slot, k, q);
        Real<T> const of_q = growth(at_q);
        Index const r = at_q.row;
        if (at_q.largest() < threshold_ || of_q <= small_growth) return pivot_1x1(k, q);
        if (r < 0) return of_q < refused ? pivot_1x1(k, q) : 0;

        load_column(r, k, slot + 1);
        Real<T> const of_r = growth(search(slot + 1, k, r));
        auto const block = pivot_block(conjugate_, w_(q, slot), w_(r, slot), w_(r, slot + 1));
        Real<T> const rest_q = search(slot, k, q, r).off_diagonal();
        Real<T> const rest_r = search(slot + 1, k, r, q).off_diagonal();
        Real<T> const of_pair = growth(block, rest_q, rest_r);
        Real<T> const least = std::min({of_q, of_r, of_pair});
        if (!(least < refused)) return 0;
        if (of_pair == least) return pivot_2x2(k, q, r);
        if (of_q == least) return pivot_1x1(k, q);
        std::copy(w_.column(slot + 1) + k, w_.column(slot + 1) + w_.rows, w_.column(slot) + k);
        return pivot_1x1(k, r);
    }

    static constexpr Real<T> refused = std::numeric_limits<Real<T>>::infinity();
    static constexpr Real<T> small_growth = 2; ///< No better pivot is looked for.

    PivotRule<T> rule_;
    Index candidate_ = 0; ///< The next column to be tried.
};

} // namespace

template <class T> ThresholdPivots factor_ldl_threshold(bool conjugate, MatrixView<T> a,
                                                        std::span<std::int32_t> perm,
                                                        std::span<T> off_diagonal, PivotRule<T> const& rule) {
    return ThresholdLdl<T>(conjugate, a, perm, off_diagonal, rule).run();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template ThresholdPivots factor_ldl_threshold<T>(bool, MatrixView<T>, std::span<std::int32_t>,           \
                                                     std::span<T>, PivotRule<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
