// The size of a residual in one pass over the entries of a matrix.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/function_ref.hpp"
#include "distributed/residual_columns.hpp"
#include "distributed/row_workers.hpp"
#include "matrix/column_shares.hpp"
#include "matrix/pattern_fingerprint.hpp"
#include "runtime/first_touch.hpp"
#include "runtime/workspace.hpp"

namespace espalier {

// The number of parts of a pass, each of which adds to its own copy of the sums. More workers than two do not
// change it, so the sums do not either.
inline int parts_of_pass(Offset stored, int workers) {
    constexpr Offset worth_dividing = 200'000;
    return workers > 1 && stored >= worth_dividing ? 2 : 1;
}

// Each worker touches a part of the memory for the rows of a pass, if Workspace::take_untouched() returns it.
inline void touch_rows(Workspace& memory, RowWorkers const& workers) {
    std::span<std::byte> const all = memory.take_untouched();
    if (all.empty()) return;
    workers.run(workers.count(), [&](int worker) { touch_part_of(all, worker, workers.count()); });
}

// A pass over the entries in one or two parts. Each part has its own copy of the rows; the copies are stored
// one after the other.
template <class Sums, class T> class Pass {
  public:
    using Row = RowOfPass<Sums>;

    // `lower`: no entry is above the diagonal.
    Pass(CscMatrix<T> const& a, Row* rows, RowWorkers const& workers, bool lower)
        : a_(a), rows_(rows), workers_(workers), parts_(parts_of_pass(a.stored(), workers.count())),
          is_lower_(lower) {}

    // Sets the sums and the entries of x of a range of rows.
    using Begin = FunctionRef<void(IndexRange range, Row* rows)>;
    using Finish = FunctionRef<void(int part, IndexRange range, Row const* rows)>;
    // Whether a block of columns has the expected pattern (PatternFingerprint). Workers call it before they
    // read the row indices of the block.
    using HasBlock = FunctionRef<bool(Index block)>;

    // For all rows of op(A), the sums and the entries of x are set by begin(range, rows), and the entries of
    // the rows are added. In copies after the first, the sums start with zeros. Then finish(part, range,
    // rows) is called for ranges of rows, when the first copy contains all sums. If no entry is above the
    // diagonal, a part completes a row at the column of the same number and first uses the row shortly
    // before. The row therefore remains in the cache in between if the rows of a column are close to each
    // other. Returns false if a block has another pattern; the sums are then invalid.
    bool run(
        MatrixOp op, Begin begin, Finish finish, HasBlock has_block = [](Index) { return true; }) const {
        constexpr Index columns_at_once = PatternFingerprint::block_columns;
        std::atomic<bool> is_known = true;
        Index const complete = is_lower_ ? first_column(1) : 0; // rows that the first part finishes
        workers_.run(parts_, [&](int part) {
            Row* const rows = rows_of_part(part);
            Index begun = first_row(part);
            auto const begin_until = [&](Index end) {
                if (end <= begun) return;
                begin({begun, end}, rows);
                if (part > 0)
                    for (Index i = begun; i < end; ++i) rows[i].sums = Sums();
                begun = end;
            };
            Index const end = first_column(part + 1);
            for (Index j = first_column(part), next = j; j < end; j = next) {
                Index const block = j / columns_at_once;
                next = std::min((block + 1) * columns_at_once, end);
                if (!has_block(block)) {
                    is_known = false;
                    return;
                }
                begin_until(is_lower_ ? end_of_rows({j, next}) : a_.rows);
                add_columns(op, a_, {j, next}, rows);
                if (part == 0 && is_lower_) finish(part, IndexRange{j, next}, rows_);
            }
            begin_until(a_.rows);
        });
        if (!is_known || complete == a_.rows) return is_known;
        workers_.run(parts_, [&](int part) {
            Index const count = a_.rows - complete;
            IndexRange const range{complete + count * part / parts_, complete + count * (part + 1) / parts_};
            for (int other = 1; other < parts_; ++other)
                for (Index const i : range) rows_[i].add(rows_of_part(other)[i]);
            finish(part, range, rows_);
        });
        return true;
    }

  private:
    [[nodiscard]] Index first_column(int part) const { return first_of_share(a_.col_ptr, part, parts_); }
    // One after the last row with entries in these columns, or after the last of these columns.
    [[nodiscard]] Index end_of_rows(IndexRange columns) const {
        Index end = columns.last;
        for (Index const j : columns)
            if (auto const entries = a_.entries_of(j); entries.first < entries.last)
                end = std::max(end, a_.row_ind[entries.last - 1] + 1);
        return end;
    }
    [[nodiscard]] Index first_row(int part) const { return is_lower_ ? first_column(part) : 0; }
    [[nodiscard]] Row* rows_of_part(int part) const { return rows_ + part * a_.rows; }

    CscMatrix<T> const& a_;
    Row* rows_;
    RowWorkers const& workers_;
    int parts_;
    bool is_lower_;
};

// Makes a product of three numbers a lower bound in spite of its rounding.
inline constexpr double below_rounding = 1 - 1e-15;

// The largest values of some rows, as in ResidualSize.
struct alignas(128) Largest { // threads write them at the same time
    double residual = 0, componentwise = 0, residual_before = 0, size_before = 0;
    double x_before = 0; // of the scaled system
    double norm = 0, x = 0, b = 0;

    // A residual, |op(A)| |x| + |b| and x before unscaled(), the factor of the row, and the row of the
    // matrix, x and b. Most rows change no maximum. This test is cheaper than a division. A NaN fails the
    // comparisons and takes the slow path.
    void take(double row_residual, double row_size, double row_x_before, double factor, double row_norm,
              double row_x, double row_b) {
        if (row_residual <= residual_before && row_size <= size_before && row_x_before <= x_before &&
            row_residual * factor <= residual && row_residual <= below_rounding * componentwise * row_size &&
            row_norm <= norm && row_x <= x && row_b <= b)
            return;
        take(Largest{row_residual * factor, relative_error(row_residual, row_size), row_residual, row_size,
                     row_x_before, row_norm, row_x, row_b});
    }
    void take(Largest const& other) {
        residual = larger(residual, other.residual);
        componentwise = larger(componentwise, other.componentwise);
        residual_before = larger(residual_before, other.residual_before);
        size_before = larger(size_before, other.size_before);
        x_before = larger(x_before, other.x_before);
        norm = larger(norm, other.norm);
        x = larger(x, other.x);
        b = larger(b, other.b);
    }
};

// The largest values of rows that begin with the lanes (product, size, norm, x), four at a time; `factor`, x
// and b have an entry for each row, and a null `factor` means ones.
template <class Row> struct TakeLanes {
    ESPALIER_INLINE static void run(Row const* rows, IndexRange range, double const* factor, double const* x,
                                    double const* b, Largest& to) {
        Largest largest = to;          // a copy that nothing else refers to
        Lanes before = {}, after = {}; // moduli without and with the factors
        double x_norm = 0, b_norm = 0;
        for (Index i = range.first; i < range.last; ++i) {
            Lanes moduli;
            std::memcpy(&moduli, static_cast<void const*>(rows + i), sizeof(Lanes));
            moduli = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(moduli) & no_sign);
            before = moduli > before ? moduli : before;
            if (factor) {
                Lanes const scaled = moduli * factor[i];
                after = scaled > after ? scaled : after;
            }
            double const x_i = std::abs(x[i]), b_i = std::abs(b[i]);
            x_norm = x_i > x_norm ? x_i : x_norm;
            b_norm = b_i > b_norm ? b_i : b_norm;
            // These maxima ignore a NaN. A NaN in the matrix or b also is in a residual, which fails this
            // comparison.
            if (moduli[0] <= below_rounding * largest.componentwise * moduli[1] && x_i <= infinity) continue;
            double const f = factor ? factor[i] : 1;
            largest.take(Largest{moduli[0] * f, relative_error(moduli[0], moduli[1]), moduli[0], moduli[1],
                                 moduli[3], moduli[2] * f, x_i, b_i});
        }
        if (!factor) after = before;
        largest.take(Largest{after[0], 0, before[0], before[1], before[3], after[2], x_norm, b_norm});
        to = largest;
    }
};

} // namespace espalier
