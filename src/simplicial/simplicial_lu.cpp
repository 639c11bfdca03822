#include "simplicial/simplicial_lu.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/determinant_product.hpp"
#include "core/permutation_parity.hpp"
#include "simplicial/eliminate_columns.hpp"
#include "simplicial/left_looking.hpp"
#include "simplicial/prefetch_column.hpp"

namespace espalier {

namespace {

// A refactorization accepts this growth of the entries during the elimination. Backward errors are then at
// most about the square root of epsilon, as after the replacement of a pivot, and refinement corrects them in
// a few steps.
template <class T> double const largest_reused_growth = 1 / std::sqrt(static_cast<double>(epsilon<T>));
// A refactorization also requires entries of at most this size. Larger entries need other scales.
constexpr double largest_reused_entry = 1 << 20;

// A power of two that brings `largest` to 1 .. 2, from its exponent bits. Zero, subnormal and infinite
// numbers keep the scale 1.
template <class R> R scale_for_largest(R largest) {
    using Bits = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
    constexpr int mantissa_bits = std::numeric_limits<R>::digits - 1;
    constexpr Bits bias = std::numeric_limits<R>::max_exponent - 1;
    Bits const exponent = std::bit_cast<Bits>(largest) >> mantissa_bits;
    if (exponent == 0 || exponent > 2 * bias) return R(1);
    return std::bit_cast<R>(std::max(2 * bias - exponent, Bits(1)) << mantissa_bits);
}

} // namespace

template <class T> void SimplicialLu<T>::Columns::make_room(Offset more) {
    auto const needed = ind.size() + static_cast<std::size_t>(more);
    if (needed <= ind.capacity()) return;
    std::size_t const capacity = std::max(needed, ind.capacity() + ind.capacity() / 4);
    values.reserve(capacity);
    ind.reserve(capacity);
}

template <class T> void SimplicialLu<T>::set_plan(LuPlan const& plan) {
    clear();
    plan_ = &plan;
}

template <class T> void SimplicialLu<T>::clear() {
    *this = SimplicialLu();
}

template <class T>
bool SimplicialLu<T>::factorize(CscMatrix<T> const& a, SimplicialLuOptions const& options) {
    has_pivots_ = has_factors_ = false;
    smallest_pivot_ = infinity;
    pivots_replaced_ = 0;
    growth_ = 0;
    Index const n = plan_->order();
    pivot_.resize(n);
    inverse_.resize(n);
    column_.assign(n, T(0));
    if (work_.size() < static_cast<std::size_t>(n)) work_.resize(n); // for solves with one vector
    choose_scales(a);
    LeftLooking<T> factorization(*this, a, options);
    if (!factorization.run()) return false;
    place_entries(a, factorization.place());
    has_pivots_ = has_factors_ = true;
    return true;
}

template <class T> void SimplicialLu<T>::choose_scales(CscMatrix<T> const& a) {
    row_scale_.assign(a.rows, Real<T>(0));
    column_scale_.assign(a.cols, Real<T>(1));
    for (Offset p = 0; p < a.stored(); ++p) {
        Real<T>& largest = row_scale_[a.row_ind[p]];
        largest = std::max(largest, abs1(a.values[p]));
    }
    for (Real<T>& scale : row_scale_) scale = scale_for_largest(scale);
    for (Index j = 0; j < a.cols; ++j) {
        Real<T> largest = 0;
        for (Offset const p : a.entries_of(j))
            largest = std::max(largest, abs1(a.values[p] * row_scale_[a.row_ind[p]]));
        column_scale_[j] = scale_for_largest(largest);
    }
}

// For refactorizations.
template <class T>
void SimplicialLu<T>::place_entries(CscMatrix<T> const& a, std::span<std::int32_t const> place) {
    scale_.resize(row_.size());
    for (std::int32_t k = 0; k < std::ssize(row_); ++k) scale_[k] = row_scale_[row_[k]];
    position_.resize(a.stored());
    for (Offset p = 0; p < a.stored(); ++p) position_[p] = place[a.row_ind[p]];
}

template <class T> void SimplicialLu<T>::set_pivot(std::int32_t k, T pivot) {
    pivot_[k] = pivot;
    inverse_[k] = T(1) / pivot;
    smallest_pivot_ = std::min(smallest_pivot_, modulus(pivot));
}

template <class T>
bool SimplicialLu<T>::refactorize(CscMatrix<T> const& a, SimplicialLuOptions const& options) {
    has_factors_ = false;
    smallest_pivot_ = infinity;
    largest_ = 0;
    auto const& start = plan_->form.start;
    constexpr std::int32_t columns_between_checks = 256;
    std::int32_t unchecked = columns_between_checks;
    for (Index b = 0; b + 1 < std::ssize(start); ++b) {
        unchecked += start[b + 1] - start[b];
        if (unchecked >= columns_between_checks) {
            check(options.interrupt);
            unchecked = 0;
        }
        if (refactorize_block(a, start[b], start[b + 1], options)) continue;
        std::ranges::fill(column_, T(0));
        has_pivots_ = false;
        return false;
    }
    has_factors_ = largest_ <= largest_reused_entry;
    has_pivots_ = has_factors_;
    return has_factors_;
}

// Stores column k of B in column_, and its entries in rows of earlier blocks in U.
template <class T>
[[gnu::always_inline]] inline void SimplicialLu<T>::scatter_column(CscMatrix<T> const& a, std::int32_t k,
                                                                   std::int32_t first_of_block,
                                                                   Real<T>& largest_entry) {
    T* const x = column_.data();
    std::int32_t const column = plan_->form.column[k];
    __builtin_prefetch(position_.data() + prefetch_column(a, plan_->form, k));
    Real<T> const column_scale = column_scale_[column];
    T* between = upper_.values.data() + between_[k];
    for (Offset p = a.col_ptr[column]; p < a.col_ptr[column + 1]; ++p) {
        std::int32_t const i = position_[p];
        T const value = a.values[p] * (scale_[i] * column_scale);
        largest_entry = std::max(largest_entry, abs1(value));
        if (i < first_of_block)
            *between++ = value;
        else
            x[i] = value;
    }
}

// x := L^-1 x for the columns of L before column k in its block, which stores column k of U. Returns the
// largest modulus in it.
template <class T> [[gnu::always_inline]] inline Real<T> SimplicialLu<T>::eliminate_column(std::int32_t k) {
    T* const x = column_.data();
    std::int32_t const* const lower_ind = lower_.ind.data();
    std::int32_t const* const upper_ind = upper_.ind.data();
    T const* const lower = lower_.values.data();
    T* const upper = upper_.values.data();
    Real<T> largest = 0;
    int width = 0;
    for (Offset q = upper_.ptr[k]; q < between_[k]; q += width) {
        std::int32_t const j = upper_ind[q];
        width = joined_width(is_joined_.data(), j, between_[k] - q, [&](int c) { return upper_ind[q + c]; });
        with_joined_columns(width, [&]<int W>() {
            JoinedColumns<T, W> const columns(lower_ind, lower, [&](int c) -> EliminatingColumn {
                Offset const begin = lower_.ptr[j + c];
                return {j + c, begin, static_cast<std::int32_t>(lower_.ptr[j + c + 1] - begin)};
            });
            largest = eliminate_columns(x, columns, upper + q, largest);
        });
    }
    return largest;
}

// Column k of L is x / pivot; x becomes zero. Returns the larger of `largest` and the moduli in x.
template <class T>
[[gnu::always_inline]] inline Real<T> SimplicialLu<T>::divide_column(std::int32_t k, Real<T> largest) {
    T* const x = column_.data();
    std::int32_t const* const ind = lower_.ind.data();
    T* const values = lower_.values.data();
    T const inverse = inverse_[k];
    for (Offset p = lower_.ptr[k]; p < lower_.ptr[k + 1]; ++p) {
        T& value = x[ind[p]];
        largest = std::max(largest, abs1(value));
        values[p] = times(value, inverse);
        value = T(0);
    }
    return largest;
}

template <class T> bool SimplicialLu<T>::refactorize_block(CscMatrix<T> const& a, std::int32_t first,
                                                           std::int32_t last,
                                                           SimplicialLuOptions const& options) {
    Real<T> largest_entry = static_cast<Real<T>>(largest_);
    double const growth = std::max(std::min(options.most_growth, largest_reused_growth<T>),
                                   10 * growth_); // large in itself if pivots are poor
    for (std::int32_t k = first; k < last; ++k) {
        scatter_column(a, k, first, largest_entry);
        Real<T> largest = eliminate_column(k);
        T const pivot = std::exchange(column_[k], T(0));
        set_pivot(k, pivot);
        largest = divide_column(k, largest);
        auto const size = static_cast<double>(abs1(pivot));
        double const most = growth * std::max(1.0, static_cast<double>(largest_entry));
        bool const is_sound = size >= options.pivot_threshold && size > 0 && size <= most &&
                              static_cast<double>(largest) <= most;
        if (!is_sound) return false;
    }
    largest_ = static_cast<double>(largest_entry);
    return true;
}

template <class T> double SimplicialLu<T>::flops() const {
    double multiply_adds = 0;
    for (std::int32_t k = 0; k < std::ssize(pivot_); ++k) {
        multiply_adds += 0.5 * static_cast<double>(lower_.ptr[k + 1] - lower_.ptr[k]); // one operation each
        for (Offset q = upper_.ptr[k]; q < between_[k]; ++q) {
            std::int32_t const j = upper_.ind[q];
            multiply_adds += static_cast<double>(lower_.ptr[j + 1] - lower_.ptr[j]);
        }
    }
    return 2 * multiply_adds;
}

template <class T> std::uint64_t SimplicialLu<T>::bytes() const {
    std::size_t const rows = pivot_.size();
    return lower_.bytes() + upper_.bytes() + rows * (3 * sizeof(Offset) + sizeof(std::int32_t) + 1) +
           rows * (3 * sizeof(T) + 3 * sizeof(Real<T>)) + position_.size() * sizeof(std::int32_t) +
           work_.size() * sizeof(T);
}

template <class T> Determinant<T> SimplicialLu<T>::determinant() const {
    DeterminantProduct product;
    if (is_odd(row_) != is_odd(plan_->form.column)) product.multiply(-1.0);
    for (std::size_t k = 0; k < pivot_.size(); ++k) {
        product.multiply(pivot_[k]);
        product.multiply_modulus(static_cast<double>(scale_[k]), -1);
        product.multiply_modulus(static_cast<double>(column_scale_[k]), -1);
    }
    return product.result<T>();
}

ESPALIER_INSTANTIATE_CLASS(SimplicialLu)

} // namespace espalier
