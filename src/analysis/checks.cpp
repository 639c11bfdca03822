#include "analysis/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/choose_method.hpp"
#include "core/all_parts.hpp"
#include "core/counted.hpp"
#include "matrix/entries.hpp"
#include "matrix/norms.hpp"
#include "runtime/exact_bytes.hpp"
#include "scaling/matching.hpp"

namespace espalier {

void require_sound(Options const& options) {
    if (options.threads < 0 || options.threads > 4096)
        throw Error(Status::usage,
                    fmt::format("threads = {} is not between 1 and 4096 (or 0 for the cores available)",
                                options.threads));
    char const* const wanted = result_of_complete_factors(options);
    if (wanted && options.method == SolveMethod::ilu)
        throw Error(
            Status::usage,
            fmt::format("{} needs complete factors, but the method is ilu; use method direct", wanted));
    if (options.levels < 0)
        throw Error(Status::usage, fmt::format("levels = {} is negative", options.levels));
    if (options.block_size < 0 || options.block_size > 6)
        throw Error(Status::usage,
                    fmt::format("block_size = {} is not between 1 and 6 (or 0: found from the matrix)",
                                options.block_size));
    if (options.max_block_width < 0 || options.min_block_width < 0)
        throw Error(Status::usage, "block widths must not be negative (0: chosen automatically)");
    require_block_widths(options);
    if (options.split_idle < 1)
        throw Error(Status::usage, fmt::format("split_idle must be at least 1, not {}", options.split_idle));
    if (!(options.split_seconds >= 0))
        throw Error(Status::usage,
                    fmt::format("split_seconds must not be negative: {}", options.split_seconds));
    if (options.subtrees_per_worker < 1)
        throw Error(Status::usage, fmt::format("subtrees_per_worker must be at least 1, not {}",
                                               options.subtrees_per_worker));
    if (options.split_width < 1 || options.split_rows < 1)
        throw Error(Status::usage, "split_width and split_rows must be at least 1");
    if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
        throw Error(Status::usage,
                    fmt::format("a tolerance of {} for the backward error is not a positive number "
                                "(or 0 for the default)",
                                options.tolerance));
    if (!std::isfinite(options.pivot_threshold))
        throw Error(Status::usage,
                    fmt::format("a pivot threshold of {} is not a finite number", options.pivot_threshold));
    if (!(options.pivot_tolerance > 0 && options.pivot_tolerance <= most_pivot_tolerance))
        throw Error(Status::usage, fmt::format("pivot_tolerance = {} is not above 0 and at most {}",
                                               options.pivot_tolerance, most_pivot_tolerance));
    if (options.max_refine_iterations < 0)
        throw Error(Status::usage, fmt::format("max_refine_iterations = {} is negative (0 for the default)",
                                               options.max_refine_iterations));
}

void require_block_widths(ScheduleSettings const& settings, std::string_view dashes) {
    Index const least = settings.min_block_width, most = settings.max_block_width;
    if (most > 0 && least > most)
        throw Error(Status::usage, fmt::format("{0}min-block-width {1} is above {0}max-block-width {2}",
                                               dashes, least, most));
}

template <class T> void require_square(CscMatrix<T> const& a) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix has {} and {}; only square systems can be solved",
                                counted(a.rows, "row"), counted(a.cols, "column")));
}

namespace {

// Whether all entries of the diagonal in columns [begin, end) are stored and count. Most matrices are found
// good in this way.
template <class T, class Counts>
bool has_diagonal_with(CscMatrix<T> const& a, Index begin, Index end, Counts counts) {
    Index const* const rows = a.row_ind.data();
    for (Index j = begin; j < end; ++j) {
        auto const [first, last] = a.entries_of(j);
        // In a lower triangle the diagonal comes first.
        Offset const p =
            first < last && rows[first] == j ? first : std::lower_bound(rows + first, rows + last, j) - rows;
        if (p == last || rows[p] != j || !counts(a.values[p])) return false;
    }
    return true;
}

template <class T, class Counts> void require_rows_with(CscMatrix<T> const& a, std::span<Index const> kept,
                                                        int threads, Counts counts, char const* which) {
    if (all_parts(a.cols, threads, [&](std::size_t begin, std::size_t end) {
            return has_diagonal_with(a, static_cast<Index>(begin), static_cast<Index>(end), counts);
        }))
        return;
    std::vector<char> row(a.rows), column(a.cols); // bytes are written faster than bits
    for (Index const i : kept) row[i] = column[i] = true;
    bool const half = a.symmetry != Symmetry::general;
    for_each_entry(a, [&](Index i, Index j, Offset p) {
        if (!counts(a.values[p])) return;
        row[i] = column[j] = true;
        if (half) row[j] = column[i] = true;
    });
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!row[i])
            throw Error(Status::singular,
                        fmt::format("the matrix is singular: row {} {} (counted from 1)", i + 1, which));
        if (!column[i])
            throw Error(Status::singular,
                        fmt::format("the matrix is singular: column {} {} (counted from 1)", i + 1, which));
    }
}

} // namespace

template <class T>
void require_no_empty_row(CscMatrix<T> const& a, std::span<Index const> kept, Interrupt* interrupt) {
    try {
        auto const any = [](T) { return true; };
        require_rows_with(a, kept, 1, any, "has no entry");
    } catch (Error const& error) {
        Index const rank = maximum_product_matching(a, 1, interrupt).structural_rank;
        throw Error(error.status(),
                    fmt::format("{}; its structural rank is {} of {}", error.what(), rank, a.cols));
    }
}

template <class T> void require_no_zero_row(CscMatrix<T> const& a, std::span<Index const> kept, int threads) {
    require_rows_with(a, kept, threads, [](T value) { return value != T(0); }, "has no entry but zeros");
}

void require_memory(std::uint64_t needed, std::uint64_t limit, std::string_view what) {
    if (limit > 0 && needed > limit)
        throw Error(Status::out_of_memory, fmt::format("{} needs {}, but the limit is {}", what,
                                                       exact_bytes(needed), exact_bytes(limit)));
}

void require_block(std::size_t size, Index n, Index nrhs, char const* what) {
    if (nrhs < 0 || (n > 0 && nrhs > std::numeric_limits<Index>::max() / n) ||
        size != static_cast<std::size_t>(n * nrhs))
        throw Error(Status::usage,
                    fmt::format("{} has {} entries; expected {} columns of {} entries", what, size, nrhs, n));
}

template <class T> void require_valid_values(CscMatrix<T> const& a, int threads) {
    std::span<T const> const values = a.values;
    auto const are_finite = [&](std::size_t first, std::size_t end) {
        return all_finite<T>(values.subspan(first, end - first));
    };
    if (a.symmetry != Symmetry::hermitian && values.size() == a.row_ind.size() &&
        all_parts(values.size(), threads, are_finite))
        return;
    a.validate(); // throws an error that names the entry
}

void refuse_other_pattern() {
    throw Error(Status::usage,
                "the pattern of the matrix differs from the one that was analyzed; call analyze again");
}

template <class T> void require_pattern(CscMatrix<T> const& a, PatternFingerprint const& pattern,
                                        char const* what, int threads) {
    if (!pattern.matches(a, threads) || a.values.size() != a.row_ind.size())
        throw Error(
            Status::usage,
            fmt::format("the matrix passed to {} differs from the factorized one in order or pattern", what));
}

ESPALIER_INSTANTIATE_FUNCTION(require_square)
ESPALIER_INSTANTIATE_FUNCTION(require_no_empty_row)
ESPALIER_INSTANTIATE_FUNCTION(require_pattern)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void require_no_zero_row(CscMatrix<T> const&, std::span<Index const>, int);                     \
    template void require_valid_values(CscMatrix<T> const&, int);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
