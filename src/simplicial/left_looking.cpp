#include "simplicial/left_looking.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/inverse_permutation.hpp"
#include "simplicial/eliminate_columns.hpp"
#include "simplicial/prefetch_column.hpp"

namespace espalier {

template <class T>
LeftLooking<T>::LeftLooking(SimplicialLu<T>& lu, CscMatrix<T> const& a, SimplicialLuOptions const& options)
    : lu_(lu), a_(a), options_(options), form_(lu.plan_->form), place_(inverse_permutation(form_.row)) {
    Index const largest = lu.plan_->largest_block;
    diagonal_row_.reserve(largest);
    diagonal_column_.reserve(largest);
    rows_.reserve(largest);
    columns_.reserve(largest);
    path_.reserve(largest);
    stack_.reserve(largest);
    x_.assign(largest, T(0));
}

template <class T> bool LeftLooking<T>::run() {
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
    lu_.is_joined_.assign(n + 1, 0);
    lu_.lower_.make_room(lu_.plan_->nnz_lower);
    lu_.upper_.make_room(lu_.plan_->nnz_factor - lu_.plan_->nnz_lower - n);
    for (Index b = 0; b < form_.num_blocks(); ++b) {
        std::int32_t const first = form_.start[b], size = form_.start[b + 1] - first;
        if (b % 256 == 0) check(options_.interrupt);
        if (size == 1)
            factorize_single(first);
        else if (!factorize_block(first, size))
            return false;
    }
    return true;
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

template <class T> bool LeftLooking<T>::factorize_block(std::int32_t first, std::int32_t size) {
    first_ = first;
    size_ = size;
    for (std::int32_t r = 0; r < size; ++r) {
        rows_[r] = {-1, -1};
        diagonal_row_[r] = diagonal_column_[r] = r;
    }
    Offset const begin = lu_.lower_.size();
    for (std::int32_t k = 0; k < size; ++k) {
        factorize_column(k);
        if (lu_.growth_ > options_.most_growth) return false;
    }
    for (Offset p = begin; p < lu_.lower_.size(); ++p) {
        std::int32_t& row = lu_.lower_.ind[p];
        row = first + rows_[row].position;
    }
    for (std::int32_t r = 0; r < size; ++r) {
        std::int32_t const row = form_.row[first + r], at = first + rows_[r].position;
        lu_.row_[at] = row;
        place_[row] = at;
    }
    return true;
}

template <class T> void LeftLooking<T>::factorize_column(std::int32_t k) {
    constexpr std::int32_t columns_between_checks = 128;
    if (k % columns_between_checks == 0) check(options_.interrupt);
    k_ = k;
    std::int32_t const column = form_.column[first_ + k];
    check_size();
    lu_.lower_.make_room(size_ - k);
    lu_.upper_.make_room(k + a_.col_ptr[column + 1] - a_.col_ptr[column]);
    prefetch_column(a_, form_, first_ + k);
    find_pattern(column);
    eliminate();
    store_between();
    std::int32_t const pivot_row = choose_pivot();
    take_pivot(pivot_row);
    prune(pivot_row);
    store_lower(pivot_row);
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
        Row& row = rows_[r];
        if (row.mark == k_) continue;
        row.mark = k_;
        if (row.position >= 0)
            search(r);
        else
            found[candidates_++] = r;
    }
}

// Depth-first search from a pivot row. The rows of a column of L follow its pivot row.
template <class T> void LeftLooking<T>::search(std::int32_t row) {
    std::int32_t depth = 0;
    path_[0] = first_step(row);
    while (depth >= 0) {
        Step& step = path_[depth];
        if (std::int32_t const next = next_pivot_row(step); next >= 0) {
            path_[++depth] = first_step(next);
        } else {
            stack_[--top_] = step.reached;
            --depth;
        }
    }
}

template <class T> auto LeftLooking<T>::first_step(std::int32_t pivot_row) const -> Step {
    std::int32_t const j = rows_[pivot_row].position;
    Column const& column = columns_[j];
    bool const is_pruned = column.searched >= 0;
    return {{pivot_row, first_ + j, column.begin, column.size, is_pruned},
            is_pruned ? column.searched : column.size};
}

// The next row of the column that is a pivot row and reached for the first time, or -1. Rows without pivot on
// the way become candidates.
template <class T> std::int32_t LeftLooking<T>::next_pivot_row(Step& step) {
    std::int32_t* const found = lu_.lower_.ind.data() + lu_.lower_.size();
    std::int32_t const* const rows = lu_.lower_.ind.data() + step.reached.begin;
    std::int32_t p = step.unvisited;
    while (p > 0) {
        std::int32_t const r = rows[--p];
        Row& row = rows_[r];
        if (row.mark == k_) continue;
        row.mark = k_;
        if (row.position >= 0) {
            step.unvisited = p;
            return r;
        }
        found[candidates_++] = r;
    }
    return -1;
}

// x := L^-1 x for the columns of L so far. The pivot rows become the column of U.
template <class T> void LeftLooking<T>::eliminate() {
    Offset at = lu_.upper_.size();
    Real<T> largest = 0;
    int width = 0;
    for (std::int32_t s = top_; s < size_; s += width, at += width) {
        Reached const* const reached = stack_.data() + s;
        width = joined_width(lu_.is_joined_.data(), reached->position, size_ - s,
                             [&](int c) { return reached[c].position; });
        with_joined_columns(width, [&]<int W>() {
            JoinedColumns<T, W> const columns(lu_.lower_.ind.data(), lu_.lower_.values.data(),
                                              [&](int c) -> EliminatingColumn {
                                                  return {reached[c].row, reached[c].begin, reached[c].size};
                                              });
            for (int c = 0; c < W; ++c) lu_.upper_.ind[at + c] = reached[c].position;
            largest = eliminate_columns(x_.data(), columns, lu_.upper_.values.data() + at, largest);
        });
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
        rows_[diagonal].mark == k_ && static_cast<double>(abs1(x_[diagonal])) >=
                                          options_.diagonal_preference * static_cast<double>(largest);
    return is_diagonal_good ? diagonal : best;
}

// If the pivot was the diagonal entry of another column, the diagonal row of this one serves that column
// instead.
template <class T> void LeftLooking<T>::take_pivot(std::int32_t pivot_row) {
    std::int32_t const other = diagonal_column_[pivot_row], displaced = diagonal_row_[k_];
    diagonal_row_[other] = displaced;
    diagonal_column_[displaced] = other;
    rows_[pivot_row].position = k_;
    lu_.set_pivot(first_ + k_, sound_pivot(x_[pivot_row]));
    x_[pivot_row] = T(0);
}

// A column j with entries U(j, k) and L(pivot_row, j) reaches the rows of column k also through the new pivot
// row. So searches need only visit its rows that are pivots by now.
template <class T> void LeftLooking<T>::prune(std::int32_t pivot_row) {
    for (std::int32_t s = top_; s < size_; ++s) {
        Reached const& reached = stack_[s];
        if (reached.is_pruned) continue;
        std::int32_t const* const rows = lu_.lower_.ind.data() + reached.begin;
        if (std::find(rows, rows + reached.size, pivot_row) == rows + reached.size) continue;
        std::int32_t const j = reached.position - first_;
        std::int32_t searched = 0;
        for (std::int32_t p = 0; p < reached.size; ++p)
            if (rows_[rows[p]].position >= 0) swap_rows(j, searched++, p);
        columns_[j].searched = searched;
    }
}

// Swaps two rows of a column of L, and of the columns that it is joined to.
template <class T> void LeftLooking<T>::swap_rows(std::int32_t column, std::int32_t one, std::int32_t other) {
    if (one == other) return;
    for (Offset own = 0;; --column, ++own) {
        Offset const begin = columns_[column].begin + own; // behind the rows that later columns do not have
        std::swap(lu_.lower_.ind[begin + one], lu_.lower_.ind[begin + other]);
        std::swap(lu_.lower_.values[begin + one], lu_.lower_.values[begin + other]);
        if (!lu_.is_joined_[first_ + column]) return;
    }
}

// Stores the column of L, with its rows in the order of the column before if they are the same.
template <class T> void LeftLooking<T>::store_lower(std::int32_t pivot_row) {
    Offset const begin = lu_.lower_.size();
    std::int32_t* const rows = lu_.lower_.ind.data() + begin; // has the candidates
    T* const values = lu_.lower_.values.data() + begin;
    T* const x = x_.data();
    T const inverse = lu_.inverse_[first_ + k_];
    std::int32_t const candidates = candidates_;
    bool const joined = has_rows_of_previous(pivot_row);
    if (joined) std::copy_n(lu_.lower_.ind.data() + columns_[k_ - 1].begin, candidates, rows);
    std::int32_t size = 0;
    for (std::int32_t c = 0; c < candidates; ++c) {
        std::int32_t const r = rows[c];
        if (r == pivot_row) continue;
        rows[size] = r;
        values[size++] = times(std::exchange(x[r], T(0)), inverse);
    }
    lu_.is_joined_[first_ + k_] = joined;
    joined_columns_ = joined ? joined_columns_ + 1 : 1;
    lu_.lower_.ind.set_size(begin + size);
    lu_.lower_.ptr.push_back(begin + size);
    columns_[k_] = {begin, size, -1};
    previous_pivot_row_ = pivot_row;
}

// Whether the column has the rows of the previous one without the pivot row, which is then its first row
// after pruning. If the previous column has been reached, all of its rows are candidates.
template <class T> bool LeftLooking<T>::has_rows_of_previous(std::int32_t pivot_row) const {
    constexpr std::int32_t least_rows = 4; // fewer do not pay
    if (candidates_ <= least_rows || k_ == 0 || rows_[previous_pivot_row_].mark != k_ ||
        joined_columns_ == most_joined_columns)
        return false;
    Column const& previous = columns_[k_ - 1];
    return previous.size > 0 && previous.size == candidates_ && lu_.lower_.ind[previous.begin] == pivot_row;
}

// The pivot, or a larger one with the same phase. Not a number counts as zero.
template <class T> T LeftLooking<T>::sound_pivot(T pivot) {
    double const size = modulus(pivot);
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
