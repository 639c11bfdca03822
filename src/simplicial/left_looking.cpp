#include "simplicial/left_looking.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/inverse_permutation.hpp"

namespace espalier {

template <class T>
LeftLooking<T>::LeftLooking(SimplicialLu<T>& lu, CscMatrix<T> const& a, SimplicialLuOptions const& options)
    : lu_(lu), a_(a), options_(options), form_(lu.plan_->form), place_(inverse_permutation(form_.row)) {
    Index const largest = lu.plan_->largest_block;
    for (auto* const list :
         {&position_, &diagonal_row_, &diagonal_column_, &pruned_, &mark_, &stack_, &path_, &next_})
        list->resize(largest);
    x_.assign(largest, T(0));
}

template <class T> void LeftLooking<T>::run() {
    auto const n = static_cast<std::int32_t>(place_.size());
    lu_.row_.assign(form_.row.begin(), form_.row.end());
    for (auto* const columns : {&lu_.lower_, &lu_.upper_}) {
        columns->ind.set_size(0);
        columns->values.set_size(0);
        columns->ptr.assign(1, 0);
        columns->ptr.reserve(n + 1);
    }
    lu_.between_.clear();
    lu_.between_.reserve(n);
    lu_.lower_.make_room(lu_.plan_->nnz_lower);
    lu_.upper_.make_room(lu_.plan_->nnz_factor - lu_.plan_->nnz_lower - n);
    for (Index b = 0; b < form_.num_blocks(); ++b) {
        std::int32_t const first = form_.start[b], size = form_.start[b + 1] - first;
        if (b % 256 == 0) check(options_.interrupt);
        if (size == 1)
            factorize_single(first);
        else
            factorize_block(first, size);
    }
}

template <class T> void LeftLooking<T>::factorize_single(std::int32_t k) {
    std::int32_t const column = form_.column[k];
    T pivot(0);
    lu_.upper_.make_room(a_.col_ptr[column + 1] - a_.col_ptr[column]);
    Offset at = lu_.upper_.size();
    lu_.between_.push_back(at);
    for (Offset p = a_.col_ptr[column]; p < a_.col_ptr[column + 1]; ++p) {
        Index const i = a_.row_ind[p];
        T const value = a_.values[p] * lu_.row_scale_[i] * lu_.column_scale_[column];
        if (place_[i] == k) {
            pivot = value;
        } else {
            lu_.upper_.ind[at] = place_[i];
            lu_.upper_.values[at++] = value;
        }
    }
    lu_.upper_.ind.set_size(at);
    lu_.upper_.ptr.push_back(at);
    lu_.lower_.ptr.push_back(lu_.lower_.size());
    lu_.set_pivot(k, sound_pivot(pivot));
}

template <class T> void LeftLooking<T>::factorize_block(std::int32_t first, std::int32_t size) {
    first_ = first;
    size_ = size;
    for (std::int32_t r = 0; r < size; ++r) {
        position_[r] = pruned_[r] = mark_[r] = -1;
        diagonal_row_[r] = diagonal_column_[r] = r;
    }
    Offset const begin = lu_.lower_.size();
    for (std::int32_t k = 0; k < size; ++k) factorize_column(k);
    for (Offset p = begin; p < lu_.lower_.size(); ++p) {
        std::int32_t& row = lu_.lower_.ind[p];
        row = first + position_[row];
    }
    for (std::int32_t r = 0; r < size; ++r) {
        std::int32_t const row = form_.row[first + r], at = first + position_[r];
        lu_.row_[at] = row;
        place_[row] = at;
    }
}

template <class T> void LeftLooking<T>::factorize_column(std::int32_t k) {
    constexpr std::int32_t columns_between_checks = 128;
    if (k % columns_between_checks == 0) check(options_.interrupt);
    k_ = k;
    std::int32_t const column = form_.column[first_ + k];
    check_size();
    lu_.lower_.make_room(size_ - k);
    lu_.upper_.make_room(k + a_.col_ptr[column + 1] - a_.col_ptr[column]);
    find_pattern(column);
    eliminate();
    store_between();
    std::int32_t const pivot_row = choose_pivot();
    take_pivot(pivot_row);
    prune(pivot_row);
}

// Scatters the column into x_, and finds the rows that become nonzero.
template <class T> void LeftLooking<T>::find_pattern(std::int32_t column) {
    top_ = size_;
    candidates_ = 0;
    between_rows_.clear();
    between_values_.clear();
    std::int32_t* const found = lu_.lower_.ind.data() + lu_.lower_.size();
    Real<T> const scale = lu_.column_scale_[column];
    for (Offset p = a_.col_ptr[column]; p < a_.col_ptr[column + 1]; ++p) {
        Index const i = a_.row_ind[p];
        T const value = a_.values[p] * lu_.row_scale_[i] * scale;
        std::int32_t const r = place_[i] - first_;
        if (r < 0) {
            between_rows_.push_back(place_[i]);
            between_values_.push_back(value);
            continue;
        }
        x_[r] = value;
        if (mark_[r] == k_) continue;
        if (position_[r] >= 0) {
            search(r);
        } else {
            mark_[r] = k_;
            found[candidates_++] = r;
        }
    }
}

// Depth-first search from a pivot row. The rows of a column of L follow its pivot row.
template <class T> void LeftLooking<T>::search(std::int32_t row) {
    std::int32_t* const found = lu_.lower_.ind.data() + lu_.lower_.size();
    std::int32_t depth = 0;
    path_[0] = row;
    while (depth >= 0) {
        std::int32_t const r = path_[depth], j = position_[r];
        Offset const begin = lu_.lower_.ptr[first_ + j];
        if (mark_[r] != k_) {
            mark_[r] = k_;
            next_[depth] = pruned_[j] >= 0
                               ? pruned_[j]
                               : static_cast<std::int32_t>(lu_.lower_.ptr[first_ + j + 1] - begin);
        }
        std::int32_t const* const rows = lu_.lower_.ind.data() + begin;
        std::int32_t p = next_[depth] - 1;
        for (; p >= 0; --p) {
            std::int32_t const i = rows[p];
            if (mark_[i] == k_) continue;
            if (position_[i] >= 0) break;
            mark_[i] = k_;
            found[candidates_++] = i;
        }
        if (p >= 0) {
            next_[depth] = p;
            path_[++depth] = rows[p];
        } else {
            stack_[--top_] = r;
            --depth;
        }
    }
}

// x := L^-1 x for the columns of L so far. The pivot rows become the column of U.
template <class T> void LeftLooking<T>::eliminate() {
    Offset at = lu_.upper_.size();
    T* const x = x_.data();
    Real<T> largest = 0;
    for (std::int32_t s = top_; s < size_; ++s) {
        std::int32_t const r = stack_[s], j = first_ + position_[r];
        T const u = x[r];
        x[r] = T(0);
        largest = std::max(largest, abs1(u));
        lu_.upper_.ind[at] = j;
        lu_.upper_.values[at++] = u;
        Offset const end = lu_.lower_.ptr[j + 1];
        std::int32_t const* const ind = lu_.lower_.ind.data();
        T const* const l = lu_.lower_.values.data();
        for (Offset p = lu_.lower_.ptr[j]; p < end; ++p) x[ind[p]] -= l[p] * u;
    }
    lu_.growth_ = std::max(lu_.growth_, static_cast<double>(largest));
    lu_.upper_.ind.set_size(at);
}

template <class T> void LeftLooking<T>::store_between() {
    Offset const at = lu_.upper_.size();
    lu_.between_.push_back(at);
    std::ranges::copy(between_rows_, lu_.upper_.ind.data() + at);
    std::ranges::copy(between_values_, lu_.upper_.values.data() + at);
    lu_.upper_.ind.set_size(at + between_rows_.size());
    lu_.upper_.ptr.push_back(lu_.upper_.size());
}

template <class T> std::int32_t LeftLooking<T>::choose_pivot() {
    std::int32_t const* const found = lu_.lower_.ind.data() + lu_.lower_.size();
    std::int32_t const diagonal = diagonal_row_[k_];
    std::int32_t best = diagonal;
    Real<T> largest = 0;
    for (std::int32_t c = 0; c < candidates_; ++c)
        if (Real<T> const size = abs1(x_[found[c]]); size > largest) {
            largest = size;
            best = found[c];
        }
    lu_.growth_ = std::max(lu_.growth_, static_cast<double>(largest));
    bool const is_diagonal_good =
        mark_[diagonal] == k_ && static_cast<double>(abs1(x_[diagonal])) >=
                                     options_.diagonal_preference * static_cast<double>(largest);
    return is_diagonal_good ? diagonal : best;
}

// Stores the column of L. If the pivot was the diagonal entry of another column, the diagonal row of this one
// serves that column instead.
template <class T> void LeftLooking<T>::take_pivot(std::int32_t pivot_row) {
    std::int32_t const other = diagonal_column_[pivot_row], displaced = diagonal_row_[k_];
    diagonal_row_[other] = displaced;
    diagonal_column_[displaced] = other;
    position_[pivot_row] = k_;

    lu_.set_pivot(first_ + k_, sound_pivot(x_[pivot_row]));
    T const pivot = lu_.pivot_[first_ + k_];
    x_[pivot_row] = T(0);
    Offset at = lu_.lower_.size();
    std::int32_t const* const found = lu_.lower_.ind.data() + at;
    for (std::int32_t c = 0; c < candidates_; ++c) {
        std::int32_t const r = found[c];
        if (r == pivot_row) continue;
        lu_.lower_.ind[at] = r; // behind the candidate that was read
        lu_.lower_.values[at++] = x_[r] / pivot;
        x_[r] = T(0);
    }
    lu_.lower_.ind.set_size(at);
    lu_.lower_.ptr.push_back(at);
}

// A column j with entries U(j, k) and L(pivot_row, j) reaches the rows of column k also through the new pivot
// row. So searches need only visit its rows that are pivots by now.
template <class T> void LeftLooking<T>::prune(std::int32_t pivot_row) {
    for (std::int32_t s = top_; s < size_; ++s) {
        std::int32_t const j = position_[stack_[s]];
        if (pruned_[j] >= 0) continue;
        Offset const begin = lu_.lower_.ptr[first_ + j], end = lu_.lower_.ptr[first_ + j + 1];
        std::int32_t* const rows = lu_.lower_.ind.data();
        if (std::find(rows + begin, rows + end, pivot_row) == rows + end) continue;
        T* const values = lu_.lower_.values.data();
        Offset head = begin, tail = end;
        while (head < tail) {
            if (position_[rows[head]] >= 0) {
                ++head;
                continue;
            }
            --tail;
            std::swap(rows[head], rows[tail]);
            std::swap(values[head], values[tail]);
        }
        pruned_[j] = static_cast<std::int32_t>(tail - begin);
    }
}

// The pivot, or a larger one with the same phase. Not a number counts as zero.
template <class T> T LeftLooking<T>::sound_pivot(T pivot) {
    double const size = std::abs(std::complex<double>(pivot));
    if (size >= options_.pivot_threshold && size > 0) return pivot;
    ++lu_.pivots_replaced_;
    auto const replacement = static_cast<Real<T>>(options_.replacement);
    return size > 0 ? pivot / static_cast<Real<T>>(size) * replacement : T(replacement);
}

template <class T> void LeftLooking<T>::check_size() const {
    if (options_.most_entries > 0 && lu_.nnz() > options_.most_entries)
        throw Error(Status::inaccurate, "pivots outside of the diagonal caused fill");
    if (options_.max_bytes == 0 || lu_.bytes() <= options_.max_bytes) return;
    throw Error(
        Status::out_of_memory,
        fmt::format("the factors need more than the {} bytes of max-memory, because pivots outside of the "
                    "diagonal cause fill",
                    options_.max_bytes));
}

ESPALIER_INSTANTIATE_CLASS(LeftLooking)

} // namespace espalier
