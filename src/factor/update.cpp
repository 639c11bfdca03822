#include "factor/update.hpp"

#include <algorithm>

#include "mapping/cost_model.hpp"

namespace espalier {

namespace {

// The first blok of [from, end) whose rows end after `row`. Uses galloping and binary search, because targets
// often have many more bloks than sources.
BlokId blok_reaching(BlockStructure const& s, BlokId from, BlokId end, Index row) {
    BlokId step = 1;
    BlokId low = from;
    while (low + step < end && s.blok(low + step - 1).end_row <= row) {
        low += step;
        step *= 2;
    }
    BlokId high = std::min(low + step, end);
    while (low < high) {
        BlokId const middle = low + (high - low) / 2;
        if (s.blok(middle).end_row <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Columns of the group that are adjacent both in source and in target.
struct ColumnRun {
    Index source_row;
    Index target_col;
    Index width;
};

// to[0 : n) -= from[0 : n) in reals; complex numbers are subtracted by parts.
template <class R> inline void subtract(R* __restrict to, R const* __restrict from, Index n) {
    for (Index i = 0; i < n; ++i) to[i] -= from[i];
}

template <class T> inline void subtract_run(T* to, T const* from, Index height) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    subtract(reinterpret_cast<Real<T>*>(to), reinterpret_cast<Real<T> const*>(from), parts * height);
}

// target(target rows, j) -= source(source rows, j) for every run and every column j of the source.
template <class T>
void scatter_subtract(MatrixView<T const> source, std::span<RowRun const> runs, MatrixView<T> target) {
    for (Index j = 0; j < source.cols; ++j) {
        T const* const from = source.column(j);
        T* const to = target.column(j);
        for (RowRun const& run : runs) subtract_run(to + run.target_row, from + run.source_row, run.height);
    }
}

template <class T> class ProductWriter {
  public:
    ProductWriter(PanelRows<T const> a, PanelRows<T const> b, Op op_b, PanelRows<T> target,
                  UpdateWorkspace<T>& workspace)
        : a_(a), b_(b), op_b_(op_b), target_(target), workspace_(workspace) {}

    // Multiplies columns [first, end) of `columns`, which form one strip of `width` adjacent rows of b.
    void strip(ColumnRun const* first, ColumnRun const* end, Index width, Index first_row) {
        columns_ = first;
        columns_end_ = end;
        b_rows_ = b_.rows(first->source_row, width);
        bool const adjacent = end - first == 1;
        pending_begin_ = pending_end_ = 0;
        Index const chunk = std::max<Index>(1, UpdateWorkspace<T>::buffer_size / width);
        for (std::size_t r = 0; r < workspace_.runs.size(); ++r) {
            RowRun run = workspace_.runs[r];
            Index const skip = std::max<Index>(0, first_row - run.source_row);
            if (skip >= run.height) continue;
            run = {run.source_row + skip, run.target_row + skip, run.height - skip};
            if (adjacent && run.height >= direct_run_height) {
                flush();
                write_directly(run);
            } else {
                add_pending(run, r, chunk);
            }
        }
        flush();
    }

  private:
    void write_directly(RowRun const& run) {
        MatrixView<T> const c =
            target_.rows(run.target_row, run.height).block(0, columns_->target_col, run.height, b_rows_.rows);
        subtract_product<T>(op_b_, a_.rows(run.source_row, run.height), b_rows_, c);
    }

    // Merges adjacent source rows of successive runs, so that one product serves many short runs.
    void add_pending(RowRun run, std::size_t run_number, Index chunk) {
        while (run.height > 0) {
            if (pending_begin_ == pending_end_) {
                pending_begin_ = pending_end_ = run.source_row;
                first_run_ = run_number;
            }
            Index const room = chunk - (pending_end_ - pending_begin_);
            Index const taken = std::min(room, run.height);
            pending_end_ += taken;
            run = {run.source_row + taken, run.target_row + taken, run.height - taken};
            if (pending_end_ - pending_begin_ == chunk) flush();
        }
    }

    void flush() {
        Index const rows = pending_end_ - pending_begin_;
        if (rows == 0) return;
        MatrixView<T> const product{workspace_.buffer(), rows, b_rows_.rows, rows};
        assign_product<T>(op_b_, a_.rows(pending_begin_, rows), b_rows_, product);
        clip_runs();
        Index source_col = 0;
        for (ColumnRun const* columns = columns_; columns != columns_end_; ++columns) {
            scatter_subtract<T>(
                product.block(0, source_col, rows, columns->width), clipped_,
                target_.view.block(0, columns->target_col, target_.view.rows, columns->width));
            source_col += columns->width;
        }
        pending_begin_ = pending_end_ = 0;
    }

    // Finds the runs inside the pending rows, counted from the first of them and from the first row of the
    // target.
    void clip_runs() {
        clipped_.clear();
        for (std::size_t r = first_run_; r < workspace_.runs.size(); ++r) {
            RowRun const& run = workspace_.runs[r];
            if (run.source_row >= pending_end_) break;
            Index const begin = std::max(run.source_row, pending_begin_);
            Index const end = std::min(run.source_row + run.height, pending_end_);
            clipped_.push_back({begin - pending_begin_,
                                run.target_row + (begin - run.source_row) - target_.first_row, end - begin});
        }
    }

    PanelRows<T const> a_;
    PanelRows<T const> b_;
    Op op_b_;
    PanelRows<T> target_;
    UpdateWorkspace<T>& workspace_;
    std::vector<RowRun>& clipped_ = workspace_.clipped;
    ColumnRun const* columns_ = nullptr;
    ColumnRun const* columns_end_ = nullptr;
    MatrixView<T const> b_rows_;
    Index pending_begin_ = 0;
    Index pending_end_ = 0;
    std::size_t first_run_ = 0;
};

} // namespace

FacingGroup facing_group(BlockStructure const& structure, CblkId source, BlokId first) {
    FacingGroup group{source, structure.blok(first).facing_cblk, first, first};
    BlokId const end = structure.cblk(source).end_blok;
    while (group.end < end && structure.blok(group.end).facing_cblk == group.target) ++group.end;
    return group;
}

template <class T> bool find_row_runs(BlockStructure const& structure, FacingGroup const& group,
                                      RowWindow window, UpdateWorkspace<T>& workspace) {
    auto& runs = workspace.runs;
    runs.clear();
    BlokId const source_end = structure.cblk(group.source).end_blok;
    Cblk const& target = structure.cblk(group.target);
    BlokId at = target.first_blok;
    for (BlokId b = blok_reaching(structure, group.first, source_end, window.begin); b < source_end; ++b) {
        Blok const& blok = structure.blok(b);
        Index const end = std::min(blok.end_row, window.end);
        if (blok.first_row >= end) break;
        for (Index row = std::max(blok.first_row, window.begin); row < end;) {
            at = blok_reaching(structure, at, target.end_blok, row);
            Blok const& landing = structure.blok(at);
            Index const height = std::min(end, landing.end_row) - row;
            RowRun const run{blok.panel_row + (row - blok.first_row),
                             landing.panel_row + (row - landing.first_row), height};
            if (!runs.empty() && runs.back().target_row + runs.back().height == run.target_row &&
                runs.back().source_row + runs.back().height == run.source_row)
                runs.back().height += height;
            else
                runs.push_back(run);
            row += height;
        }
    }
    return !runs.empty();
}

template <class T> void subtract_contribution(BlockStructure const& structure, FacingGroup const& group,
                                              PanelRows<T const> a, PanelRows<T const> b, Op op_b,
                                              RowsFrom rows_from, PanelRows<T> target,
                                              UpdateWorkspace<T>& workspace) {
    Index const target_col = structure.cblk(group.target).first_col;
    Index const group_begin = structure.blok(group.first).panel_row;
    Index const group_end = structure.blok(group.end - 1).panel_row + structure.blok(group.end - 1).height();
    auto first_row_of = [&](Index column_row) {
        switch (rows_from) {
        case RowsFrom::column:
            return column_row;
        case RowsFrom::group_begin:
            return group_begin;
        case RowsFrom::group_end:
            return group_end;
        }
        return column_row;
    };

    ProductWriter<T> writer(a, b, op_b, target, workspace);
    // Narrow bloks share a strip, and a wide one is cut into several strips.
    constexpr std::size_t max_runs = 64;
    ColumnRun columns[max_runs];
    std::size_t count = 0;
    Index width = 0;
    auto finish_strip = [&] {
        if (count > 0) writer.strip(columns, columns + count, width, first_row_of(columns[0].source_row));
        count = 0;
        width = 0;
    };
    for (BlokId g = group.first; g < group.end; ++g) {
        Blok const& blok = structure.blok(g);
        for (Index done = 0; done < blok.height();) {
            if (width == strip_width || count == max_runs) finish_strip();
            Index const taken = std::min(strip_width - width, blok.height() - done);
            columns[count++] = {blok.panel_row + done, blok.first_row + done - target_col, taken};
            width += taken;
            done += taken;
        }
    }
    finish_strip();
}

ESPALIER_INSTANTIATE_FUNCTION(find_row_runs)
ESPALIER_INSTANTIATE_FUNCTION(subtract_contribution)

} // namespace espalier
