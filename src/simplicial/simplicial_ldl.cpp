#include "simplicial/simplicial_ldl.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace espalier {

namespace {

// Scales of earlier values are kept while the largest scaled entry is between the inverse of this and this.
constexpr double most_scaled = 1 << 10;

// A diagonal pivot of at least this part of the entry beside it (Bunch and Kaufman 1977).
constexpr double least_diagonal = 0.64;

template <class T> T real_if(bool real, T value) {
    if constexpr (is_complex<T>)
        return real ? T(value.real()) : value;
    else
        return value;
}

} // namespace

template <class T> void SimplicialLdl<T>::set_plan(LdlPlan const& plan, Factorization kind) {
    clear();
    plan_ = &plan;
    kind_ = kind;
}

template <class T> void SimplicialLdl<T>::clear() {
    *this = SimplicialLdl();
}

template <class T> bool SimplicialLdl<T>::factorize(CscMatrix<T> const& a, Interrupt* interrupt) {
    bool const has_scales = !scale_.empty();
    has_factors_ = false;
    std::int32_t const blocks = plan_->num_blocks();
    pivot_.resize(blocks);
    pair_.resize(plan_->order() - blocks);
    filled_.resize(blocks);
    lower_.resize(plan_->value_ptr[blocks]);
    row_.assign(2 * plan_->order(), T(0));
    work_.resize(std::max<std::size_t>(work_.size(), plan_->order())); // for solves with one vector
    kept_scales_ = has_scales && run(a, interrupt);
    if (kept_scales_) {
        auto const largest = static_cast<double>(largest_);
        kept_scales_ = largest == 0 || (largest <= most_scaled && largest >= 1 / most_scaled);
    }
    if (!kept_scales_) {
        set_scales(a);
        std::ranges::fill(row_, T(0));
        if (!run(a, interrupt)) return false;
    }
    has_factors_ = true;
    return true;
}

template <class T> void SimplicialLdl<T>::set_scales(CscMatrix<T> const& a) {
    if (plan_->scale.empty())
        scale_.assign(plan_->order(), Real<T>(1));
    else
        scale_.assign(plan_->scale.begin(), plan_->scale.end());
    if (plan_->is_definite)
        diagonal_scales(a, scale_);
    else
        symmetric_scales(a, scale_);
}

template <class T> bool SimplicialLdl<T>::run(CscMatrix<T> const& a, Interrupt* interrupt) {
    largest_ = most_ = 0;
    smallest_pivot_ = infinity;
    inertia_ = {};
    constexpr std::int32_t blocks_between_checks = 256;
    for (std::int32_t k = 0; k < plan_->num_blocks(); ++k) {
        if (k % blocks_between_checks == 0) check(interrupt);
        bool const is_single = plan_->width(k) == 1;
        bool const is_sound =
            conjugates() ? (is_single ? eliminate_block<1, true>(k, a) : eliminate_block<2, true>(k, a))
                         : (is_single ? eliminate_block<1, false>(k, a) : eliminate_block<2, false>(k, a));
        if (!is_sound) return false;
    }
    if (!(most_ <= static_cast<Real<T>>(most_growth) * largest_)) return false; // also for a NaN
    smallest_pivot_ /= largest_ > 0 ? static_cast<double>(largest_) : 1;
    return true;
}

// The rows of block k of L and D:
//
//     L(k, j) D(j) = A(k, j) - sum_{i < j} L(k, i) D(i) L(j, i)^op
//             D(k) = A(k, k) - sum_{j < k} L(k, j) D(j) L(k, j)^op
template <class T> template <int rows, bool hermitian>
bool SimplicialLdl<T>::eliminate_block(std::int32_t k, CscMatrix<T> const& a) {
    std::int32_t const first = plan_->first[k];
    T d[2][2] = {};
    T* const x = row_.data();
    for (std::int32_t p = plan_->entry_ptr[k]; p < plan_->entry_ptr[k + 1]; ++p) {
        LdlPlan::Entry const& entry = plan_->entries[p];
        std::int32_t const row = plan_->row[first + entry.row], column = plan_->row[entry.column];
        // One scale after the other, because their product may overflow.
        T const value =
            conj_if(hermitian && entry.is_transposed, a.values[entry.value]) * scale_[row] * scale_[column];
        largest_ = std::max(largest_, abs1(value));
        if (entry.column >= first)
            d[entry.row][entry.column - first] = value;
        else
            x[2 * entry.column + entry.row] = value;
    }
    Real<T> growth[2] = {};
    for (std::int32_t p = plan_->pattern_ptr[k]; p < plan_->pattern_ptr[k + 1]; ++p) {
        std::int32_t const j = plan_->pattern[p];
        if (plan_->width(j) == 1)
            eliminate_with<rows, 1, hermitian>(j, d, growth);
        else
            eliminate_with<rows, 2, hermitian>(j, d, growth);
    }
    filled_[k] = 0;
    if constexpr (rows == 2) most_ = std::max(most_, abs1(d[1][0]));
    for (int r = 0; r < rows; ++r) {
        d[r][r] = real_if(hermitian, d[r][r]);
        most_ = std::max(most_, growth[r] + abs1(d[r][r]));
        if (!(most_ < infinity)) return false;
    }
    return rows == 1 ? set_pivot(k, d[0][0]) : set_pair(k, d);
}

// Eliminates the entries of the current rows in the columns of block j.
template <class T> template <int rows, int columns, bool hermitian> [[gnu::always_inline]] inline void
SimplicialLdl<T>::eliminate_with(std::int32_t j, T (&d)[2][2], Real<T> (&growth)[2]) {
    T y[rows][columns], l[rows][columns];
    T* const x = row_.data();
    T* const of_block = x + 2 * plan_->first[j];
    for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) y[r][c] = std::exchange(of_block[2 * c + r], T(0));
    std::int32_t const* const row = plan_->rows.data() + plan_->row_ptr[j];
    T* value = lower_.data() + plan_->value_ptr[j];
    std::int32_t const filled = filled_[j];
    for (std::int32_t p = 0; p < filled; ++p, value += columns)
        for (int r = 0; r < rows; ++r) {
            T sum = x[2 * row[p] + r];
            for (int c = 0; c < columns; ++c) sum -= times(y[r][c], conj_if(hermitian, value[c]));
            x[2 * row[p] + r] = sum;
        }
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) l[r][c] = y[r][c];
        // l D = y for a row is D^T l^T = y^T, with conj(D) in place of D^T if D is Hermitian
        if constexpr (columns == 1) {
            l[r][0] = times(l[r][0], pivot_[j].inverse_a);
        } else if constexpr (hermitian) {
            T conjugated[2] = {conj(l[r][0]), conj(l[r][1])};
            divide(pivot_[j], pair(j), true, conjugated[0], conjugated[1]);
            l[r][0] = conj(conjugated[0]);
            l[r][1] = conj(conjugated[1]);
        } else {
            divide(pivot_[j], pair(j), false, l[r][0], l[r][1]);
        }
        for (int c = 0; c < columns; ++c) {
            value[r * columns + c] = l[r][c];
            growth[r] += abs1(times(y[r][c], l[r][c]));
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int s = 0; s <= r; ++s)
            for (int c = 0; c < columns; ++c) d[r][s] -= times(y[r][c], conj_if(hermitian, l[s][c]));
    filled_[j] = filled + rows;
}

// (x, y) := D^-1 (x, y) for a block of two rows.
template <class T>
void SimplicialLdl<T>::divide(Pivot const& pivot, Pair const& rest, bool hermitian, T& x, T& y) {
    T const b = rest.factor, b_conjugate = conj_if(hermitian, b);
    if (rest.kind == PairKind::both) {
        T const old = x;
        x = times(pivot.inverse_a, old) + times(b_conjugate, y);
        y = times(b, old) + times(rest.inverse_c, y);
    } else if (rest.kind == PairKind::first_then_second) { // factor = b / a
        y = times(y - times(b, x), rest.inverse_c);
        x = times(x, pivot.inverse_a) - times(b_conjugate, y);
    } else { // factor = b / c
        x = times(x - times(b_conjugate, y), pivot.inverse_a);
        y = times(y, rest.inverse_c) - times(b, x);
    }
}

template <class T> bool SimplicialLdl<T>::set_pivot(std::int32_t k, T a) {
    if (is_cholesky() && !(real_part(a) > 0))
        throw Error(Status::not_positive_definite,
                    fmt::format("the matrix is not positive definite: llh meets a pivot that is not "
                                "positive at row and column {} of the matrix (counted from 1)",
                                plan_->row[plan_->first[k]] + 1));
    if (a == T(0)) return false;
    pivot_[k] = {a, T(1) / a};
    smallest_pivot_ = std::min(smallest_pivot_, modulus(a));
    count_sign(a);
    return true;
}

template <class T> bool SimplicialLdl<T>::set_pair(std::int32_t k, T const (&d)[2][2]) {
    T const a = d[0][0], b = d[1][0], c = d[1][1];
    Real<T> const size_a = std::abs(a), size_b = std::abs(b), size_c = std::abs(c);
    bool const hermitian = conjugates();
    Pivot& pivot = pivot_[k];
    Pair& rest = pair_[plan_->first[k] - k];
    pivot.a = a;
    rest.b = b;
    rest.c = c;
    if (std::max(size_a, size_c) < static_cast<Real<T>>(least_diagonal) * size_b) {
        // With b = |b| u the inverse is [c/|b|, -conj(u); -u, a/|b|] / (|b| (a/|b| c/|b| - u conj(u))).
        rest.kind = PairKind::both;
        T const a_ratio = a / size_b, c_ratio = c / size_b, u = b / size_b;
        T const det = times(a_ratio, c_ratio) - times(u, conj_if(hermitian, u));
        T const inverse = T(1) / (det * size_b);
        pivot.inverse_a = times(c_ratio, inverse);
        rest.inverse_c = times(a_ratio, inverse);
        rest.factor = -times(u, inverse);
        smallest_pivot_ = std::min(smallest_pivot_, static_cast<double>(size_b * std::abs(det)));
        ++inertia_.positive; // |a c| < |b|^2
        ++inertia_.negative;
        return true;
    }
    bool const is_first = size_a >= size_c;
    T const before = is_first ? a : c;
    if (before == T(0)) return false;
    rest.kind = is_first ? PairKind::first_then_second : PairKind::second_then_first;
    rest.factor = b / before;
    // b conj(b) / a, or b b / a
    T const after = real_if(hermitian, (is_first ? c : a) - times(rest.factor, conj_if(hermitian, b)));
    if (after == T(0)) return false;
    (is_first ? pivot.inverse_a : rest.inverse_c) = T(1) / before;
    (is_first ? rest.inverse_c : pivot.inverse_a) = T(1) / after;
    smallest_pivot_ =
        std::min(smallest_pivot_, static_cast<double>(std::min(std::abs(before), std::abs(after))));
    count_sign(before);
    count_sign(after);
    return true;
}

ESPALIER_INSTANTIATE_CLASS(SimplicialLdl)

} // namespace espalier
