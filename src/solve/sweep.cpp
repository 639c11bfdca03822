#include "solve/sweep.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "factor/page_homes.hpp"
#include "kernels/panel_vector.hpp"
#include "simulation/schedule.hpp"
#include "trace/record.hpp"

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

bool needs_conjugate(FactorForm form, MatrixOp op) {
    if (form.has_upper()) return op == MatrixOp::adjoint;
    return op == (form.conjugate() ? MatrixOp::transpose : MatrixOp::adjoint);
}

// Runs of many entries are worth the call of a kernel.
constexpr Index long_run = 32;
template <class T> void subtract(T const* from, T* to, Index count) {
    if (count >= long_run) return subtract_entries<T>(from, to, count);
    for (Index i = 0; i < count; ++i) to[i] -= from[i];
}
template <class T> void add(T const* from, T* to, Index count) {
    if (count >= long_run) return add_entries<T>(from, to, count);
    for (Index i = 0; i < count; ++i) to[i] += from[i];
}

} // namespace

template <class T>
Sweep<T>::Sweep(Factor<T> const& factor, FactorPlan const& plan, MatrixOp op, Index vectors, WorkerTeam& team,
                Interrupt* interrupt, Messaging const* messaging, Workspace* memory)
    : factor_(factor), structure_(factor.structure()), plan_(plan), form_(factor.form()),
      transposed_(form_.has_upper() && op != MatrixOp::none),
      conjugate_a_(is_complex<T> && needs_conjugate(form_, op)),
      backward_op_(form_.has_upper() && !transposed_ ? Op::none
                   : form_.conjugate()               ? Op::adjoint
                                                     : Op::transpose),
      team_(team), interrupt_(interrupt), messaging_(messaging), workers_(team.size()),
      messages_(team, messaging,
                [this](int from, std::int64_t id, Block&& block) { receive(from, id, std::move(block)); }) {
    if (!factor.workers_at_panels().empty())
        rehomed_ = with_homes(plan, plan.solve, factor.workers_at_panels());
    outbox_ptr_.assign(1, 0);
    for (Branch const& b : plan.partition.branches)
        outbox_ptr_.push_back(outbox_ptr_.back() +
                              (factor.has_panel(b.root) ? factor.cblk(b.root).rows_below() : 0));
    Index largest = 0; // the most rows of a panel, which the buffer of a worker holds
    for (Cblk const& c : structure_.cblks) largest = std::max(largest, c.stride);
    Offset state_entries = 0;
    if (factor.may_have_delayed()) {
        for (CblkId k = 0; k < structure_.num_cblks(); ++k) {
            state_ptr_.push_back(state_entries);
            DelayedPanel<T> const* const panel = factor.delayed(k);
            if (!panel) continue;
            state_entries += panel->pivots();
            largest = std::max(largest, panel->columns());
        }
        list_left_over();
    }
    constexpr Offset padding = 64 / sizeof(T); // so that workers share no cache line
    Offset const for_worker = largest * vectors + padding;
    Offset const all = (factor.num_numbers() + outbox_ptr_.back() + state_entries) * vectors + padding +
                       for_worker * team.size();
    // The memory is not written here, so that the workers touch its pages first.
    Workspace& used = memory ? *memory : own_memory_;
    used.grow(all * Offset{sizeof(T)});
    x_ = used.template as<T>();
    outboxes_ = x_ + factor.num_numbers() * vectors;
    states_ = outboxes_ + outbox_ptr_.back() * vectors;
    T* buffer = states_ + state_entries * vectors + padding;
    for (Worker& worker : workers_) worker.buffer = std::exchange(buffer, buffer + for_worker);
}

template <class T>
void Sweep<T>::run(std::span<T* const> columns, SweepPart part, SparseBlock<T> const* sparse) {
    columns_ = columns;
    part_ = part;
    sparse_ = sparse;
    vectors_ = static_cast<Index>(columns.size());
    conjugated_ = vectors_ > 1 && is_complex<T> && form_.conjugate();
    RunOptions options;
    if (interrupt_) {
        options.cancel = &interrupt_->flag();
        options.should_cancel = [this] { return interrupt_->requested(); };
    }
    number_tasks();
    TaskBody const body = [this](TaskId task, WorkerId worker) { execute(task, worker); };
    if (runs_alone()) {
        check(interrupt_);
        return team_.run_alone(graph(), body);
    }
    std::unique_ptr<Policy> policy;
    all_succeed(messaging_, [&] {
        policy = plan_.make_solve_policy(graph());
        received_.clear();
        solutions_.clear();
        received_.resize(plan_.solve.contributors.processes.size());
        if (messaging_) solutions_.resize(plan_.partition.branches.size());
        if (!team_.recorder()) return;
        if (levels_.empty()) levels_ = tree_levels(structure_);
        team_.recorder()->add_dependencies(numbers_.dependencies());
    });
    options.first_number = numbers_.task(0);
    options.external_events = plan_.solve.num_events;
    messages_.run(graph(), *policy, body, options);
}

// Whether the calling thread runs all tasks. Only static schedules allow this: users of the other policies
// want the tasks to pass through the queues.
template <class T> bool Sweep<T>::runs_alone() const {
    return !messaging_ && !team_.recorder() && plan_.settings.schedule == SchedulePolicy::static_order &&
           is_short(graph(), static_cast<double>(vectors_));
}

// Runs on all processes, even if the run fails, so that they all number tasks alike.
template <class T> void Sweep<T>::number_tasks() {
    trace::Recorder* const recorder = team_.recorder();
    numbers_ = {plan_, recorder ? recorder->reserve_tasks(SweepNumbers::count(plan_)) : 0};
}

template <class T> void Sweep<T>::execute(TaskId task, WorkerId worker) {
    SolveTask const& what = plan_.solve.tasks[task];
    BranchId const number = what.branch;
    Branch const& one = branch(number);
    trace::Track* const track = team_.track(worker);
    std::optional<trace::Scope> scope(
        std::in_place, track, is_forward(what.kind) ? trace::Kind::forward : trace::Kind::backward,
        track ? trace::StateInfo{numbers_.task(task), structure_.number_of(one.root), levels_[one.root]}
              : trace::StateInfo{});
    switch (what.kind) {
    case SolveTaskKind::forward:
        return forward(what, workers_[worker]);
    case SolveTaskKind::forward_rows:
        return forward_rows(what, workers_[worker]);
    case SolveTaskKind::backward_rows:
        return backward_rows(what, workers_[worker]);
    case SolveTaskKind::backward:
        backward(task, workers_[worker]);
        scope.reset(); // the messages leave after the task
        return send_solution(number);
    case SolveTaskKind::send_sum: {
        Block sum = sum_for(number);
        scope.reset();
        return messages_.send(
            plan_.process_of_branch[number], plan_.number_of(number), std::move(sum),
            {.tag = numbers_.sum(plan_.process, number), .priority = plan_.solve.graph.priority[task]});
    }
    case SolveTaskKind::receive_solution:
        return receive_solution(number);
    case SolveTaskKind::message: // occurs only in the plan of all processes
        break;
    }
}

template <class T> void Sweep<T>::forward(SolveTask const& task, Worker& worker) {
    BranchId const number = task.branch;
    Branch const& b = branch(number);
    Index const first = factor_.cblk(b.first).first_col;
    Index const end = factor_.cblk(b.root).end_col;
    if (sparse_)
        load_sparse(first, end);
    else
        load(first, end);
    if (part_ == SweepPart::backward || !is_reached(b.root)) {
        take_sums(number);
        return keep_states(b.first, b.root);
    }
    if (structure_.is_kept(b.first)) {
        for (CblkId k = b.first; k <= b.root; ++k) collect(k, rows_of(factor_.cblk(k)).z.data, true);
        take_sums(number);
        return;
    }
    if (b.first == b.root) {
        collect(b.root, rows_of(factor_.cblk(b.root)).z.data, true);
        take_sums(number);
        if (!transposed_ && takes_one_pass(b.root) && !leaves_rows(task))
            std::ranges::copy(forward_in_one_pass(b.root, worker).only(), outbox(number).z.data);
        else
            forward_cblk(b.root, outbox(number), bloks_of(task), worker);
        return;
    }
    RowBlock<T> const sums = outbox(number);
    std::fill_n(sums.z.data, sums.length() * vectors_, T(0));
    for (CblkId k = b.first; k <= b.root; ++k) {
        if (!is_reached(k)) {
            keep_states(k, k);
            continue;
        }
        RowBlock<T> contribution = block_at(worker.buffer, factor_.cblk(k).rows_below());
        if (!transposed_ && takes_one_pass(k))
            contribution = forward_in_one_pass(k, worker);
        else
            forward_cblk(k, contribution, bloks_below(k), worker);
        distribute(k, b.root, contribution, sums);
    }
}

// The bloks that a task at the owner of a branch with one cblk multiplies.
template <class T> std::span<Blok const> Sweep<T>::bloks_of(SolveTask const& task) const {
    return bloks_below(branch(task.branch).root).subspan(task.first_blok, task.end_blok - task.first_blok);
}

// The rows of below(k) that consecutive bloks cover.
template <class T> IndexRange Sweep<T>::rows_of(CblkId k, std::span<Blok const> bloks) const {
    if (bloks.empty()) return {};
    Index const width = factor_.cblk(k).width();
    return {bloks.front().panel_row - width, bloks.back().panel_row + bloks.back().height() - width};
}

// Whether other tasks multiply rows of the branch.
template <class T> bool Sweep<T>::leaves_rows(SolveTask const& task) const {
    Branch const& b = branch(task.branch);
    return b.first == b.root && !structure_.is_kept(b.root) &&
           bloks_of(task).size() < bloks_below(b.root).size();
}

// A panel with delayed columns is processed by the main tasks alone.
template <class T> void Sweep<T>::forward_rows(SolveTask const& task, Worker& worker) {
    CblkId const k = branch(task.branch).root;
    if (part_ == SweepPart::backward || !is_reached(k) || factor_.delayed(k)) return;
    multiply_rows_below(k, rows_of(factor_.cblk(k)), outbox(task.branch), bloks_of(task), worker);
}

// The result overwrites the rows in the outbox, which are no longer read.
template <class T> void Sweep<T>::backward_rows(SolveTask const& task, Worker& worker) {
    CblkId const k = branch(task.branch).root;
    if (part_ == SweepPart::forward || factor_.delayed(k)) return;
    RowBlock<T> const sum = sum_of_rows(task);
    std::fill_n(sum.z.data, sum.length() * vectors_, T(0));
    subtract_rows_above(k, sum, bloks_of(task), worker);
}

template <class T> RowBlock<T> Sweep<T>::sum_of_rows(SolveTask const& task) const {
    CblkId const k = branch(task.branch).root;
    return outbox(task.branch).entries(rows_of(k, bloks_of(task)).first, factor_.cblk(k).width());
}

// The backward part of a cblk whose rows below are multiplied by the tasks before this one.
template <class T> void Sweep<T>::backward_with_sums(TaskId task, Worker& worker) {
    SolveTask const& main = plan_.solve.tasks[task];
    CblkId const k = branch(main.branch).root;
    RowBlock<T> const x = rows_of(factor_.cblk(k));
    // D is applied only now, because the other tasks of the forward half read x without it.
    if (part_ != SweepPart::backward && form_.has_d() && is_reached(k))
        solve_d<T>(form_.conjugate(), factor_.diagonal(k), factor_.off_diagonal(k), x);
    if (part_ == SweepPart::forward) return;
    subtract_rows_above(k, x, bloks_of(main), worker);
    for (TaskId t = task - 1; t >= 0; --t) {
        SolveTask const& group = plan_.solve.tasks[t];
        if (group.kind != SolveTaskKind::backward_rows || group.branch != main.branch) break;
        add(sum_of_rows(group).z.data, x.z.data, x.length() * vectors_);
    }
    solve_diagonal(k, false, x);
    if (form_.has_d() || transposed_) permute(k, true, worker);
}

template <class T> void Sweep<T>::backward(TaskId task, Worker& worker) {
    SolveTask const& main = plan_.solve.tasks[task];
    Branch const& b = branch(main.branch);
    if (leaves_rows(main) && !factor_.delayed(b.root))
        backward_with_sums(task, worker);
    else if (part_ != SweepPart::forward && !structure_.is_kept(b.first))
        for (CblkId k = b.root; k >= b.first; --k) backward_cblk(k, worker);
    store(factor_.cblk(b.first).first_col, factor_.cblk(b.root).end_col);
}

// Moves entries between the columns of the caller and the rows of x_, some columns at a time: the entries of
// a row are far apart, and those of the same columns in the next thousands of rows are often in the same
// lines. body(to, from) moves an entry.
template <class T> template <class Body>
void Sweep<T>::for_each_entry(Index first, Index end, Body const& body) {
    constexpr Index columns_together = 64 / Index{sizeof(T)}, rows_together = 4096, ahead = 32;
    Index const last = std::ssize(structure_.inverse) - 1;
    for (Index begin = first; begin < end; begin += rows_together)
        for (Index j = 0; j < vectors_; j += columns_together) {
            T* const* const columns = columns_.data() + j;
            Index const count = std::min(columns_together, vectors_ - j);
            auto const move_rows = [&](auto width) {
                for (Index i = begin; i < std::min(begin + rows_together, end); ++i) {
                    Index const row = structure_.inverse[i],
                                next = structure_.inverse[std::min(i + ahead, last)];
                    for (Index c = 0; c < width; ++c) {
                        if (width == columns_together) __builtin_prefetch(columns[c] + next);
                        body(x_[i * vectors_ + j + c], columns[c][row]);
                    }
                }
            };
            if (count == columns_together)
                move_rows(std::integral_constant<Index, columns_together>());
            else if (count == 1)
                move_rows(std::integral_constant<Index, 1>());
            else
                move_rows(count);
        }
}

template <class T> void Sweep<T>::load(Index first, Index end) {
    if (conjugate_a_ != conjugated_)
        for_each_entry(first, end, [](T& x, T const& given) { x = conj_if(true, given); });
    else
        for_each_entry(first, end, [](T& x, T const& given) { x = given; });
}

template <class T> void Sweep<T>::load_sparse(Index first, Index end) {
    bool const conjugate = conjugate_a_ != conjugated_;
    std::fill_n(x_ + first * vectors_, (end - first) * vectors_, T(0));
    auto const& entries = sparse_->entries;
    auto at =
        std::partition_point(entries.begin(), entries.end(), [&](auto const& e) { return e.row < first; });
    for (; at != entries.end() && at->row < end; ++at)
        x_[at->row * vectors_ + at->column] += conj_if(conjugate, at->value);
}

template <class T> void Sweep<T>::store(Index first, Index end) {
    if (conjugate_a_ != conjugated_)
        for_each_entry(first, end, [](T const& x, T& result) { result = conj_if(true, x); });
    else
        for_each_entry(first, end, [](T const& x, T& result) { result = x; });
}

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
    Index const gap = form_.has_upper() ? (panel.rows - panel.cols) * panel.cols : 0; // U follows L
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
    subtract_upper_panel_with_vector<T>(panel, factor_.diagonal(k),
                                        {worker.buffer, worker.buffer + panel.rows}, x.only(),
                                        lower.rows * lower.cols);
    count(worker, panel);
    solve_diagonal(k, false, x);
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
            subtract(left.z.column(static_cast<Index>(i)), x_ + others[i] * vectors_, vectors_);
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
            subtract(product.z.data, x.z.data, panel.pivots() * vectors_);
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
            subtract(from, x_ + source.first_row * vectors_, size);
            from += size;
            continue;
        }
        for (Index row = source.first_row; row < source.end_row;) {
            if (landing->end_row <= row)
                landing = std::partition_point(landing, root_bloks.end(),
                                               [&](Blok const& l) { return l.end_row <= row; });
            Index const height = std::min(source.end_row, landing->end_row) - row;
            Index const at = landing->panel_row - r.width() + (row - landing->first_row);
            add(from, outbox.z.column(at), height * vectors_);
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
            subtract(from, rows, size);
        else
            add(from, rows, size);
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

ESPALIER_INSTANTIATE_CLASS(Sweep)

} // namespace espalier
