#include "factor/delayed_assembly.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/panel.hpp"

namespace espalier {

namespace {

// Moves rows of the cblk's columns, and of the columns of the panel, to their places.
template <class T>
void place_rows(MatrixView<T const> own, Index num_own, std::span<ColumnMove const> moves, MatrixView<T> to) {
    std::array<T, 256> kept; // rows of for_each_row_block()
    for (auto const [target, source] : moves) {
        T const* const from = source < num_own   ? own.column(source)
                              : source < to.cols ? to.column(source)
                                                 : kept.data();
        std::copy_n(from, to.rows, target < to.cols ? to.column(target) : kept.data());
    }
}

} // namespace

template <class T> void copy_panel(MatrixView<T const> from, bool whole, MatrixView<T> to) {
    for (Index j = 0; j < from.cols; ++j) {
        Index const first = whole ? 0 : j;
        std::copy(from.column(j) + first, from.column(j) + from.rows, to.column(j) + first);
    }
}

template <class T> DelayedAssembly<T>::DelayedAssembly(Factor<T>& factor)
    : factor_(factor), structure_(factor.structure()), form_(factor.form()),
      first_child_(structure_.cblks.size(), no_cblk), next_sibling_(structure_.cblks.size(), no_cblk),
      received_(structure_.is_part() ? structure_.cblks.size() : 0) {
    for (CblkId k = structure_.num_cblks() - 1; k >= 0; --k)
        if (CblkId const parent = factor.cblk(k).parent; parent != no_cblk)
            next_sibling_[k] = std::exchange(first_child_[parent], k);
}

template <class T> std::vector<CblkId> DelayedAssembly<T>::children(CblkId k) const {
    std::vector<CblkId> all;
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child]) all.push_back(child);
    return all;
}

template <class T> Index DelayedAssembly<T>::num_left_by_children(CblkId k) const {
    Index sum = 0;
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child])
        if (DelayedPanel<T> const* const panel = factor_.delayed(child)) sum += panel->left();
    return sum;
}

template <class T> Index DelayedAssembly<T>::num_received(CblkId k) const {
    Index sum = 0;
    if (!received_.empty())
        for (Received const& one : received_[k]) sum += one.columns.count();
    return sum;
}

template <class T> void DelayedAssembly<T>::assemble_summed(CblkId k, UpdateWorkspace<T>& workspace,
                                                            DelayedPanel<T>& panel) const {
    Index const width = factor_.cblk(k).width();
    panel.clear(width);
    copy_panel<T>(factor_.diagonal(k), form_.has_upper(), panel.lower().block(0, 0, width, width));
    number_own(k, panel);
    number_arriving(k, panel);
    Index at = width;
    for_each_arriving(k, workspace, [&](LeftOver<T> const& from, std::span<RowRun const> runs) {
        add_columns(k, from, runs, at, panel);
        at += from.square.cols;
    });
}

template <class T> void DelayedAssembly<T>::number_own(CblkId k, DelayedPanel<T>& panel) const {
    for (Index col = factor_.cblk(k).first_col; col < factor_.cblk(k).end_col; ++col) panel.append(col, col);
}

template <class T> void DelayedAssembly<T>::place_rows_of_l(CblkId k, ColumnMoves const& moves, Index first,
                                                            Index count, DelayedPanel<T>& panel) const {
    MatrixView<T> const own = factor_.below(k), all = panel.lower();
    place_rows<T>(own.block(first, 0, count, own.cols), num_own(k, panel), moves.all(),
                  all.block(panel.columns() + first, 0, count, panel.columns()));
}

template <class T>
void DelayedAssembly<T>::add_upper(CblkId k, UpdateWorkspace<T>& workspace, DelayedPanel<T>& panel) const {
    Index const width = factor_.cblk(k).width(), rows = panel.rows_below();
    MatrixView<T> const own = factor_.upper(k), to = panel.whole_upper();
    Index at = to.cols - width;
    if (to.column(at) != own.data) copy_panel<T>(own, true, to.block(0, at, rows, width));
    std::fill_n(to.data, at * rows, T(0));
    at = 0;
    for_each_arriving(k, workspace, [&](LeftOver<T> const& from, std::span<RowRun const> runs) {
        for (Index j = 0; j < from.upper.cols; ++j, ++at)
            for (RowRun const& run : runs) {
                Index const summed = std::clamp<Index>(width - run.target_row, 0, run.height);
                std::copy_n(from.upper.column(j) + run.source_row + summed, run.height - summed,
                            to.column(at) + run.target_row + summed - width);
            }
    });
}

template <class T> void DelayedAssembly<T>::place_rows_of_u(ColumnMoves const& moves, Index first,
                                                            Index count, DelayedPanel<T>& panel) {
    place_rows<T>({}, 0, moves.all(), panel.whole_upper().block(first, 0, count, panel.columns()));
}

// Inserts columns left over as the columns from `at` on, without U in the rows below. `runs` are their rows
// below as rows of cblk k.
template <class T> void DelayedAssembly<T>::add_columns(CblkId k, LeftOver<T> const& from,
                                                        std::span<RowRun const> runs, Index at,
                                                        DelayedPanel<T>& panel) const {
    Index const width = factor_.cblk(k).width(), left = from.square.cols;
    MatrixView<T> const to = panel.lower();
    copy_panel<T>(from.square, form_.has_upper(), to.block(at, at, left, left));
    for (Index j = 0; j < left; ++j) {
        T const* const column = from.below.column(j);
        T const* const row = form_.has_upper() ? from.upper.column(j) : nullptr;
        for (RowRun const& run : runs)
            for (Index i = 0; i < run.height; ++i) {
                Index const source = run.source_row + i, target = run.target_row + i;
                if (target >= width) {
                    to(panel.columns() + target - width, at + j) = column[source];
                } else if (row) {
                    to(target, at + j) = column[source];
                    to(at + j, target) = row[source];
                } else {
                    to(at + j, target) = conj_if(form_.conjugate(), column[source]);
                }
            }
    }
}

template <class T> template <class Body>
void DelayedAssembly<T>::for_each_arriving(CblkId k, UpdateWorkspace<T>& workspace, Body const& body) const {
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child])
        if (DelayedPanel<T> const* const from = factor_.delayed(child); from && from->left() > 0)
            body(from->left_over(), rows_in_parent(structure_, child, workspace));
    if (received_.empty()) return;
    for (Received const& one : received_[k])
        for (auto const& source : one.columns.sources()) body(source.columns, source.runs);
}

template <class T> void DelayedAssembly<T>::number_arriving(CblkId k, DelayedPanel<T>& panel) const {
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child])
        if (DelayedPanel<T> const* const from = factor_.delayed(child))
            for (Index j = from->pivots(); j < from->columns(); ++j)
                panel.append(from->row_numbers()[j], from->column_numbers()[j]);
    if (received_.empty()) return;
    for (Received const& one : received_[k])
        for (Index i = 0; i < one.columns.count(); ++i)
            panel.append(one.first_number + i, one.first_number + i);
}

template <class T>
void DelayedAssembly<T>::receive(CblkId k, std::int32_t from, ReceivedColumns<T>&& columns) {
    Index const first = factor_.add_arrived(k, from, columns.unknowns());
    auto& all = received_[k];
    auto const place = std::ranges::upper_bound(all, from, {}, &Received::from);
    all.insert(place, {from, first, std::move(columns)});
}

template <class T> std::size_t DelayedAssembly<T>::forget_received(CblkId k) {
    if (received_.empty()) return 0;
    std::size_t bytes = 0;
    for (Received const& one : std::exchange(received_[k], {})) bytes += one.columns.bytes();
    return bytes;
}

ESPALIER_INSTANTIATE_FUNCTION(copy_panel)
ESPALIER_INSTANTIATE_CLASS(DelayedAssembly)

} // namespace espalier
