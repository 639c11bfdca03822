// A parallel counting sort by columns, followed by a sort of the rows of each column.
#include "matrix/assemble.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/run_threads.hpp"
#include "core/scalar.hpp"
#include "matrix/column_shares.hpp"
#include "matrix/entries.hpp"
#include "matrix/triangles.hpp"

namespace espalier {

namespace {

// A run of pieces that one thread counts and places. It has a count for each column between its first and
// last. In a file sorted by columns the runs have disjoint columns, so all counts together take as much
// memory as one.
struct Run {
    Index first_piece = 0;
    Index end_piece = 0;
    Index first_col = 0;
    std::vector<Offset> next; // The count of each column; later the position of the run's next entry in it.
};

// Makes one run per thread, but fewer if their counts could take more memory than the matrix.
template <class T> std::vector<Run> make_runs(Triples<T> const& triples, Index cols, int threads) {
    Offset entries = 0;
    for (auto const& piece : triples) entries += std::ssize(piece);
    Index const affordable = 1 + entries / std::max<Index>(cols, 1);
    Index const pieces = std::ssize(triples);
    Index const count = std::clamp<Index>(std::min<Index>(threads, pieces), 1, affordable);
    std::vector<Run> runs(count);
    for (Index r = 0; r < count; ++r) {
        runs[r].first_piece = r * pieces / count;
        runs[r].end_piece = (r + 1) * pieces / count;
    }
    return runs;
}

template <class T, class Visit>
void for_each_triple(Run const& run, Triples<T> const& triples, Visit const& visit) {
    for (Index k = run.first_piece; k < run.end_piece; ++k)
        for (auto const& entry : triples[k]) visit(entry);
}

template <class T> void count_columns(Run& run, Triples<T> const& triples, Index cols) {
    Index first = cols;
    Index last = -1;
    for_each_triple(run, triples, [&](Triple<T> const& entry) {
        first = std::min(first, entry.col);
        last = std::max(last, entry.col);
    });
    run.first_col = first;
    run.next.assign(std::max<Index>(last + 1 - first, 0), 0);
    Offset* const count = run.next.data();
    for_each_triple(run, triples, [&](Triple<T> const& entry) { ++count[entry.col - first]; });
}

// Converts counts to positions. The entries of a column are ordered by run.
void assign_positions(std::vector<Run>& runs, std::vector<Offset>& col_ptr) {
    for (auto const& run : runs)
        for (Index k = 0; k < std::ssize(run.next); ++k) col_ptr[run.first_col + k + 1] += run.next[k];
    std::partial_sum(col_ptr.begin(), col_ptr.end(), col_ptr.begin());
    std::vector<Offset> free = col_ptr;
    for (auto& run : runs)
        for (Index k = 0; k < std::ssize(run.next); ++k) {
            Offset& position = free[run.first_col + k];
            position += std::exchange(run.next[k], position);
        }
}

template <class T> void place(Run& run, Triples<T>& triples, CscMatrix<T>& matrix) {
    Offset* const next = run.next.data();
    Index const first = run.first_col;
    for_each_triple(run, triples, [&](Triple<T> const& entry) {
        Offset const p = next[entry.col - first]++;
        matrix.row_ind[p] = entry.row;
        matrix.values[p] = entry.value;
    });
    for (Index k = run.first_piece; k < run.end_piece; ++k) std::vector<Triple<T>>().swap(triples[k]);
}

// Sorts the entries of a column by row and sums duplicates at the front; returns how many entries are left
// over at the end, with row index -1.
template <class T>
Offset sort_and_sum(CscMatrix<T>& matrix, Index column, std::vector<std::pair<Index, T>>& work) {
    auto const entries = matrix.entries_of(column);
    auto* const rows = matrix.row_ind.data() + entries.first;
    auto* const values = matrix.values.data() + entries.first;
    Offset const length = entries.size();
    bool increasing = true;
    for (Offset k = 1; k < length; ++k) increasing &= rows[k - 1] < rows[k];
    if (increasing) return 0;

    work.clear();
    for (Offset k = 0; k < length; ++k) work.emplace_back(rows[k], values[k]);
    std::stable_sort(work.begin(), work.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
    Offset kept = 0;
    for (auto const& [row, value] : work) {
        if (kept > 0 && rows[kept - 1] == row) {
            values[kept - 1] += value;
        } else {
            rows[kept] = row;
            values[kept++] = value;
        }
    }
    std::fill(rows + kept, rows + length, Index(-1));
    return length - kept;
}

template <class T> Offset sort_columns(CscMatrix<T>& matrix, int threads) {
    std::vector<Offset> left_over(threads, 0);
    run_threads(threads, [&](int t) {
        std::vector<std::pair<Index, T>> work;
        Index const end = first_of_share(matrix.col_ptr, t + 1, threads);
        Offset sum = 0;
        for (Index j = first_of_share(matrix.col_ptr, t, threads); j < end; ++j)
            sum += sort_and_sum(matrix, j, work);
        left_over[t] = sum;
    });
    Offset const duplicates = std::accumulate(left_over.begin(), left_over.end(), Offset{0});
    if (duplicates > 0) retain_entries(matrix, [](Index i, Index, Offset) { return i >= 0; });
    return duplicates;
}

} // namespace

std::string absurd_sizes(Index rows, Index cols, Offset entries) {
    Index const largest = Index{1} << 40;
    Index const size = std::max(rows, cols);
    char const* const what = size == rows ? "rows" : "columns";
    if (rows < 0 || cols < 0 || entries < 0)
        return fmt::format("a size is negative: {} rows, {} columns, {} entries", rows, cols, entries);
    if (size > largest) return fmt::format("{} {} exceed the limit of {}", size, what, largest);
    if ((size - 1'000'000) / 16 > entries)
        return fmt::format("{} {} for {} entries; nearly all {} are empty", size, what, entries, what);
    return {};
}

template <class T>
CscMatrix<T> compress_columns(Index rows, Index cols, Triples<T> triples, int threads, Offset& duplicates) {
    CscMatrix<T> matrix;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.col_ptr.assign(cols + 1, 0);
    std::vector<Run> runs = make_runs(triples, cols, threads);
    auto const num_runs = static_cast<int>(runs.size());
    run_threads(num_runs, [&](int r) { count_columns(runs[r], triples, cols); });
    assign_positions(runs, matrix.col_ptr);
    matrix.row_ind.resize(matrix.stored());
    matrix.values.resize(matrix.stored());
    run_threads(num_runs, [&](int r) { place(runs[r], triples, matrix); });
    bool const large = matrix.stored() > 100'000;
    duplicates = sort_columns(matrix, large ? threads : 1);
    return matrix;
}

template <class T> void check_duplicates(CscMatrix<T> const& matrix, Index first, std::string const& source) {
    for_each_entry(matrix, [&](Index i, Index j, Offset p) {
        if (!is_finite(matrix.values[p]))
            throw Error(Status::bad_input,
                        fmt::format("{}: the sum of the duplicates of entry ({}, {}) overflows a double",
                                    source, i + 1, first + j + 1));
    });
}

void note_duplicates(Offset count, std::vector<std::string>& notes) {
    notes.push_back(fmt::format("{} duplicate entries were summed", count));
}

NamedMatrix assemble(CoordinateData data, int threads) {
    auto const typed = [&]<class T>(Triples<T>& triples) {
        auto& description = data.description;
        auto matrix = compress_columns(data.rows, data.cols, std::move(triples), team_size(threads),
                                       description.duplicates_summed);
        if (description.duplicates_summed > 0) {
            check_duplicates(matrix, 0, data.source);
            note_duplicates(description.duplicates_summed, description.notes);
        }
        if (data.declared == DeclaredSymmetry::general)
            recognize_symmetry(matrix, description.notes);
        else
            fold_triangles(matrix, data.declared, data.source, description.notes);
        return NamedMatrix{std::move(matrix), std::move(description)};
    };
    return std::visit(typed, data.triples);
}

template void check_duplicates(CscMatrix<double> const&, Index, std::string const&);
template void check_duplicates(CscMatrix<std::complex<double>> const&, Index, std::string const&);
ESPALIER_INSTANTIATE_FUNCTION(compress_columns)

} // namespace espalier
