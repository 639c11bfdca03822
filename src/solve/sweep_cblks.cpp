// The functions of Sweep (sweep.hpp) that compute the forward and the backward part of one cblk.
#include <algorithm>

#include "kernels/panel_vector.hpp"
#include "solve/add_runs.hpp"
#include "solve/sweep.hpp"

namespace espalier {

namespace {

// The number of multiplications between two checks of the interrupt (a fraction of a millisecond), which also
// bounds one call of a kernel.
constexpr Offset check_interval = Offset{1} << 19;
constexpr Offset longest_call = Offset{1} << 25;

// The number of rows of a panel of this width that one call of a kernel processes with this many vectors.
Index rows_a_call(Index width, Index vectors) {
    return std::max<Index>(256, longest_call / std::max<Index>(1, width * vectors));
}

} // namespace

// x_k := L^-1 P x_k (or U^-T x_k); contribution := L21 x_k (or U12^T x_k) for these bloks; x_k := D^-1 x_k,
// which waits for the backward part if other tasks multiply the rest.
template <class T>
void Sweep<T>::forward_cblk(CblkId k, RowBlock<T> contribution, std::span<Blok const> bloks, Worker& worker) {
    if (factor_.delayed(k)) return forward_delayed(k, contribution, worker);
    RowBlock<T> const x = rows_of(factor_.cblk(k));
    // contribution may lie in the worker's buffer, which permute() uses before
    if (!transposed_ && (form_.has_d() || form_.has_upper())) permute(k, false, worker);
    solve_diagonal(k, true, x);
    multiply_rows_below(k, x, contribution, bloks, worker);
    if (form_.has_d() && bloks.size() == bloks_below(k).size())
        solve_d<T>(form_.conjugate(), factor_.diagonal(k), factor_.off_diagonal(k), x);
}

template <class T> bool Sweep<T>::takes_one_pass(CblkId k) const {
    return vectors_ == 1 && !factor_.delayed(k) && factor_.cblk(k).stride <= most_rows_of_one_pass<T>;
}

// Does the work of forward_cblk() for one vector. The buffer holds [-x_k; contribution]; the kernel adds to
// the contribution, which is returned.
template <class T> RowBlock<T> Sweep<T>::forward_in_one_pass(CblkId k, Worker& worker) {
    if (form_.has_d() || form_.has_upper()) permute(k, false, worker);
    RowBlock<T> const x = rows_of(factor_.cblk(k));
    MatrixView<T> const panel = factor_.lower(k);
    T* const below = std::transform(x.only().begin(), x.only().end(), worker.buffer, std::negate<>());
    std::fill_n(below, panel.rows - panel.cols, T(0));
    Index const gap = panel_size(factor_.cblk(k), form_) - panel.rows * panel.cols;
    solve_panel_with_vector<T>(unit_lower(), panel, {worker.buffer, worker.buffer + panel.rows}, gap);
    std::transform(worker.buffer, below, x.z.data, std::negate<>());
    count(worker, panel);
    if (form_.has_d()) solve_d<T>(form_.conjugate(), factor_.diagonal(k), factor_.off_diagonal(k), x);
    return block_at(below, panel.rows - panel.cols);
}

// The triangular solve with the diagonal block, forward or backward.
template <class T> void Sweep<T>::solve_diagonal(CblkId k, bool forward, RowBlock<T> x) const {
    bool const upper = form_.has_upper() && forward == transposed_;
    bool const unit = form_.has_d() || (form_.has_upper() && !upper);
    Op const op = forward ? (transposed_ ? Op::transpose : Op::none) : backward_op_;
    solve_triangular<T>(upper ? Uplo::upper : Uplo::lower, op, unit ? Diag::unit : Diag::non_unit,
                        factor_.diagonal(k), x);
}

// contribution := L21 x (or U12^T x) for these bloks
template <class T> void Sweep<T>::multiply_rows_below(CblkId k, RowBlock<T> x, RowBlock<T> contribution,
                                                      std::span<Blok const> bloks, Worker& worker) {
    IndexRange const rows = rows_of(k, bloks);
    MatrixView<T> const coupling = transposed_ ? factor_.upper(k) : factor_.below(k);
    Index const step = rows_a_call(x.length(), vectors_);
    for (Index i = rows.first; i < rows.last; i += step) {
        Index const height = std::min(step, rows.last - i);
        auto const part = coupling.block(i, 0, height, coupling.cols);
        multiply<T>(part, x, contribution.entries(i, height));
        count(worker, part);
    }
}

// x_k -= L21^op x_above (or U12 x_above); x_k := P^T L^-op x_k (or U^-1 x_k).
template <class T> void Sweep<T>::backward_cblk(CblkId k, Worker& worker) {
    if (factor_.delayed(k)) return backward_delayed(k, worker);
    RowBlock<T> const x = rows_of(factor_.cblk(k));
    if (takes_one_pass(k)) {
        if (backward_op_ == Op::none)
            backward_upper_in_one_pass(k, worker);
        else
            backward_in_one_pass(k, worker);
    } else {
        subtract_rows_above(k, x, bloks_below(k), worker);
        solve_diagonal(k, false, x);
    }
    if (form_.has_d() || transposed_) permute(k, true, worker);
}

// x_k := L^-op (x_k - L21^op x_above) for one vector. The buffer holds [x_k; x_above].
template <class T> void Sweep<T>::backward_in_one_pass(CblkId k, Worker& worker) {
    RowBlock<T> const x = rows_of(factor_.cblk(k));
    MatrixView<T> const panel = factor_.lower(k);
    T* const above = std::copy(x.only().begin(), x.only().end(), worker.buffer);
    copy_rows_above(bloks_below(k), above);
    solve_transposed_panel_with_vector<T>(backward_op_, unit_lower(), panel,
                                          {worker.buffer, worker.buffer + panel.rows});
    std::copy(worker.buffer, above, x.z.data);
    count(worker, panel);
}

// x_k := U^-1 (x_k - U12 x_above) for one vector.
template <class T> void Sweep<T>::backward_upper_in_one_pass(CblkId k, Worker& worker) {
    RowBlock<T> const x = rows_of(factor_.cblk(k));
    MatrixView<T> const lower = factor_.lower(k), panel = factor_.upper(k);
    copy_rows_above(bloks_below(k), worker.buffer);
    solve_upper_panel_with_vector<T>(panel, factor_.packed_upper(k),
                                     {worker.buffer, worker.buffer + panel.rows}, x.only(),
                                     lower.rows * lower.cols);
    count(worker, panel);
}

// The entries of x in the rows of bloks.
template <class T> void Sweep<T>::copy_rows_above(std::span<Blok const> bloks, T* to) const {
    for (Blok const& blok : bloks)
        to = std::copy_n(x_ + blok.first_row * vectors_, blok.height() * vectors_, to);
}

// x -= L21^op x_above (or U12 x_above) for these bloks
template <class T>
void Sweep<T>::subtract_rows_above(CblkId k, RowBlock<T> x, std::span<Blok const> bloks, Worker& worker) {
    IndexRange const rows = rows_of(k, bloks);
    RowBlock<T> const above = block_at(worker.buffer, rows.size());
    copy_rows_above(bloks, above.z.data);
    bool const upper = form_.has_upper() && !transposed_;
    MatrixView<T> const coupling = upper ? factor_.upper(k) : factor_.below(k);
    Op const op = upper ? Op::transpose : backward_op_; // U12 is stored transposed
    Index const step = rows_a_call(x.length(), vectors_);
    for (Index i = rows.first; i < rows.last; i += step) {
        Index const height = std::min(step, rows.last - i);
        auto const part = coupling.block(i, 0, height, coupling.cols);
        subtract_multiply<T>(op, part, above.entries(i - rows.first, height), x);
        count(worker, part);
    }
}

// Does the work of forward_cblk(), and x_left -= L_left x (or U_left^T x) for the rows left over.
template <class T> void Sweep<T>::forward_delayed(CblkId k, RowBlock<T> contribution, Worker& worker) {
    DelayedPanel<T> const& panel = *factor_.delayed(k);
    auto const pivots = equations(panel).first(panel.pivots());
    auto const others = equations(panel).subspan(panel.pivots());
    if (pivots.empty()) {
        std::fill_n(contribution.z.data, contribution.length() * vectors_, T(0));
        return;
    }
    RowBlock<T> const x = state(k);
    gather(pivots, x.z.data);
    solve_diagonal(k, true, x);
    RowBlock<T> const left = block_at(worker.buffer, panel.left()); // the contribution may lie there later
    if (transposed_) {
        gather(others, left.z.data);
        subtract_multiply<T>(Op::transpose, panel.upper_left_over(), x, left);
        scatter(left.z.data, others);
    } else {
        multiply<T>(panel.lower_left_over(), x, left);
        for (std::size_t i = 0; i < others.size(); ++i)
            subtract_run(left.z.column(static_cast<Index>(i)), x_ + others[i] * vectors_, vectors_);
    }
    multiply_rows_below(k, x, contribution, bloks_below(k), worker);
    if (form_.has_d()) solve_d<T>(form_.conjugate(), panel.diagonal(), panel.off_diagonal(), x);
    scatter(x.z.data, pivots);
}

// Does the work of backward_cblk(), and x -= L_left^op x_left (or U_left x_left) for the unknowns left over.
template <class T> void Sweep<T>::backward_delayed(CblkId k, Worker& worker) {
    DelayedPanel<T> const& panel = *factor_.delayed(k);
    auto const pivots = unknowns(panel).first(panel.pivots());
    auto const others = unknowns(panel).subspan(panel.pivots());
    RowBlock<T> const x = state(k);
    subtract_rows_above(k, x, bloks_below(k), worker);
    RowBlock<T> const left = block_at(worker.buffer, panel.left());
    gather(others, left.z.data);
    if (form_.has_upper() && !transposed_) {
        RowBlock<T> const product = block_at(worker.buffer + panel.left() * vectors_, panel.pivots());
        if (panel.left() > 0) {
            multiply<T>(panel.upper_left_over(), left, product);
            subtract_run(product.z.data, x.z.data, panel.pivots() * vectors_);
        }
    } else {
        subtract_multiply<T>(backward_op_, panel.lower_left_over(), left, x);
    }
    solve_diagonal(k, false, x);
    scatter(x.z.data, pivots);
}

// Loads the results of the forward part for cblks with delayed columns: those of an earlier sweep, or zeros.
template <class T> void Sweep<T>::keep_states(CblkId first, CblkId last) {
    if (state_ptr_.empty()) return;
    for (CblkId k = first; k <= last; ++k)
        if (DelayedPanel<T> const* const panel = factor_.delayed(k))
            gather(equations(*panel).first(panel->pivots()), state(k).z.data);
}

template <class T> T* Sweep<T>::gather(std::span<Index const> numbers, T* to) const {
    for (Index const i : numbers) to = std::copy_n(x_ + i * vectors_, vectors_, to);
    return to;
}

template <class T> void Sweep<T>::scatter(T const* from, std::span<Index const> numbers) {
    for (Index const i : numbers) {
        std::copy_n(from, vectors_, x_ + i * vectors_);
        from += vectors_;
    }
}

// Adds the contribution of cblk k to rows of its own branch and to the outbox of the branch.
template <class T>
void Sweep<T>::distribute(CblkId k, CblkId root, RowBlock<T> contribution, RowBlock<T> outbox) {
    Cblk const& c = factor_.cblk(k);
    Cblk const& r = factor_.cblk(root);
    auto const root_bloks = structure_.bloks_below(r);
    auto landing = root_bloks.begin();
    T const* from = contribution.z.data;
    for (Blok const& source : structure_.bloks_below(c)) {
        if (source.facing_cblk <= root) {
            Index const size = source.height() * vectors_;
            subtract_run(from, x_ + source.first_row * vectors_, size);
            from += size;
            continue;
        }
        for (Index row = source.first_row; row < source.end_row;) {
            if (landing->end_row <= row)
                landing = std::partition_point(landing, root_bloks.end(),
                                               [&](Blok const& l) { return l.end_row <= row; });
            Index const height = std::min(source.end_row, landing->end_row) - row;
            Index const at = landing->panel_row - r.width() + (row - landing->first_row);
            add_run(from, outbox.z.column(at), height * vectors_);
            from += height * vectors_;
            row += height;
        }
    }
}

// Subtracts the outbox entries of every own branch that faces j from the rows of j, or adds them, in
// ascending order of the branches.
template <class T> void Sweep<T>::collect(CblkId j, T* to, bool subtracted) {
    Index const first_col = factor_.cblk(j).first_col;
    for (BlokId const b : structure_.bloks_facing(j)) {
        CblkId const owner = structure_.owner_of_blok[b];
        if (structure_.is_kept(owner) || !is_reached(owner)) continue;
        BranchId const source = plan_.partition.branch_of_cblk[owner];
        if (owner != branch(source).root) continue; // its contributions are in the outbox of its root
        Blok const& blok = structure_.blok(b);
        T const* const from = outbox(source).z.column(blok.panel_row - factor_.cblk(owner).width());
        T* const rows = to + (blok.first_row - first_col) * vectors_;
        Index const size = blok.height() * vectors_;
        if (subtracted)
            subtract_run(from, rows, size);
        else
            add_run(from, rows, size);
    }
}

// x(new) = x(perm[new]), or the inverse permutation.
template <class T> void Sweep<T>::permute(CblkId k, bool inverse, Worker& worker) {
    auto const perm = factor_.perm(k);
    auto const n = static_cast<Index>(perm.size());
    Index first = 0; // the first index that the permutation moves
    while (first < n && perm[first] == first) ++first;
    if (first == n) return;
    T* const x = rows_of(factor_.cblk(k)).z.data;
    std::copy_n(x + first * vectors_, (n - first) * vectors_, worker.buffer);
    for (Index i = first; i < n; ++i) {
        Index const from = inverse ? i : perm[i];
        Index const to = inverse ? perm[i] : i;
        std::copy_n(worker.buffer + (from - first) * vectors_, vectors_, x + to * vectors_);
    }
}

template <class T> void Sweep<T>::count(Worker& worker, MatrixView<T const> coefficients) {
    worker.unchecked += coefficients.rows * coefficients.cols * vectors_;
    if (worker.unchecked < check_interval) return;
    worker.unchecked = 0;
    check(interrupt_);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Sweep<T>::forward_cblk(CblkId, RowBlock<T>, std::span<Blok const>, Worker&);               \
    template bool Sweep<T>::takes_one_pass(CblkId) const;                                                    \
    template RowBlock<T> Sweep<T>::forward_in_one_pass(CblkId, Worker&);                                     \
    template void Sweep<T>::solve_diagonal(CblkId, bool, RowBlock<T>) const;                                 \
    template void Sweep<T>::multiply_rows_below(CblkId, RowBlock<T>, RowBlock<T>, std::span<Blok const>,     \
                                                Worker&);                                                    \
    template void Sweep<T>::backward_cblk(CblkId, Worker&);                                                  \
    template void Sweep<T>::subtract_rows_above(CblkId, RowBlock<T>, std::span<Blok const>, Worker&);        \
    template void Sweep<T>::keep_states(CblkId, CblkId);                                                     \
    template T* Sweep<T>::gather(std::span<Index const>, T*) const;                                          \
    template void Sweep<T>::scatter(T const*, std::span<Index const>);                                       \
    template void Sweep<T>::distribute(CblkId, CblkId, RowBlock<T>, RowBlock<T>);                            \
    template void Sweep<T>::collect(CblkId, T*, bool);                                                       \
    template void Sweep<T>::permute(CblkId, bool, Worker&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
