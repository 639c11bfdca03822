#include "solve/sweep.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "factor/page_homes.hpp"
#include "runtime/kept_pages.hpp"
#include "simulation/schedule.hpp"
#include "solve/add_runs.hpp"
#include "trace/record.hpp"

namespace espalier {

namespace {

bool needs_conjugate(FactorForm form, MatrixOp op) {
    if (form.has_upper()) return op == MatrixOp::adjoint;
    return op == (form.conjugate() ? MatrixOp::transpose : MatrixOp::adjoint);
}

} // namespace

template <class T>
Sweep<T>::Sweep(Factor<T> const& factor, FactorPlan const& plan, MatrixOp op, Index vectors, WorkerTeam& team,
                Interrupt* interrupt, Messaging const* messaging, Workspace* memory)
    : factor_(factor), structure_(factor.structure()), plan_(plan), form_(factor.form()),
      transposed_(form_.has_upper() && op != MatrixOp::none),
      solves_with_conjugate_(is_complex<T> && needs_conjugate(form_, op)),
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
    stores_adjoint_ = vectors_ > 1 && is_complex<T> && form_.conjugate();
    RunOptions options;
    options.interrupt = interrupt_;
    number_tasks();
    TaskBody const body = [this](TaskId task, WorkerId worker) { execute(task, worker); };
    // Not with several NUMA nodes, on which the workers of the tasks have to touch the rows first.
    moves_at_once_ = vectors_ >= columns_together && !messaging_ && (runs_alone() || has_one_node());
    if (moves_at_once_ && !sparse_) move_all_rows(loading());
    run_tasks(body, options);
    if (moves_at_once_) move_all_rows(storing());
}

template <class T> void Sweep<T>::run_tasks(TaskBody const& body, RunOptions& options) {
    if (runs_alone()) {
        check(interrupt_);
        return team_.run_alone(graph(), body);
    }
    std::unique_ptr<Policy> policy;
    all_succeed(messaging_, [&] {
        messages_.prepare();
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
           is_short(graph(), team_.size(), static_cast<double>(vectors_));
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

// A branch may have several trees.
template <class T> bool Sweep<T>::is_reached(Branch const& branch) const {
    for (CblkId k = branch.root; k >= branch.first; --k)
        if (is_reached(k)) return true;
    return false;
}

template <class T> void Sweep<T>::forward(SolveTask const& task, Worker& worker) {
    BranchId const number = task.branch;
    Branch const& b = branch(number);
    Index const first = factor_.cblk(b.first).first_col;
    Index const end = factor_.cblk(b.root).end_col;
    if (sparse_)
        load_sparse(first, end);
    else if (!moves_at_once_)
        move_rows(first, end, loading());
    if (part_ == SweepPart::backward || !is_reached(b)) {
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
        add_run(sum_of_rows(group).z.data, x.z.data, x.length() * vectors_);
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
    if (!moves_at_once_) move_rows(factor_.cblk(b.first).first_col, factor_.cblk(b.root).end_col, storing());
}

// Moves the entries of all rows in the order of the caller, which uses whole cache lines of the columns and
// of x_. A square of rows and columns moves at a time.
template <class T> template <class Move> void Sweep<T>::move_all_rows(Move const& move) {
    constexpr Index rows_together = 64, ahead = 16;
    Index const n = std::ssize(structure_.perm), workers = team_.size();
    Index const* const perm = structure_.perm.data();
    team_.for_each_worker(!runs_alone(), [&](WorkerId w) {
        Index const last = n * (w + 1) / workers;
        for (Index begin = n * w / workers; begin < last; begin += rows_together) {
            Index const end = std::min(begin + rows_together, last);
            for (Index j = 0; j < vectors_; j += columns_together) {
                T* const* const columns = columns_.data() + j;
                Index const count = std::min(columns_together, vectors_ - j);
                for (Index i = begin; i < end; ++i) {
                    T* const row = x_ + perm[i] * vectors_ + j;
                    __builtin_prefetch(x_ + perm[std::min(i + ahead, n - 1)] * vectors_ + j, 1);
                    for (Index c = 0; c < count; ++c) move(row[c], columns[c][i]);
                }
            }
        }
    });
}

// Moves entries between the columns of the caller and the rows of x_, some columns at a time: the entries of
// a row are far apart, and those of the same columns in the next thousands of rows are often in the same
// lines.
template <class T> template <class Move> void Sweep<T>::move_rows(Index first, Index end, Move const& move) {
    constexpr Index rows_together = 4096, ahead = 32;
    Index const last = std::ssize(structure_.inverse) - 1;
    for (Index begin = first; begin < end; begin += rows_together)
        for (Index j = 0; j < vectors_; j += columns_together) {
            T* const* const columns = columns_.data() + j;
            Index const count = std::min(columns_together, vectors_ - j);
            auto const move_columns = [&](auto width) {
                for (Index i = begin; i < std::min(begin + rows_together, end); ++i) {
                    Index const row = structure_.inverse[i],
                                next = structure_.inverse[std::min(i + ahead, last)];
                    for (Index c = 0; c < width; ++c) {
                        if (width == columns_together) __builtin_prefetch(columns[c] + next);
                        move(x_[i * vectors_ + j + c], columns[c][row]);
                    }
                }
            };
            if (count == columns_together)
                move_columns(std::integral_constant<Index, columns_together>());
            else if (count == 1)
                move_columns(std::integral_constant<Index, 1>());
            else
                move_columns(count);
        }
}

template <class T> void Sweep<T>::load_sparse(Index first, Index end) {
    bool const conjugate = moves_conjugates();
    std::fill_n(x_ + first * vectors_, (end - first) * vectors_, T(0));
    auto const& entries = sparse_->entries;
    auto at =
        std::partition_point(entries.begin(), entries.end(), [&](auto const& e) { return e.row < first; });
    for (; at != entries.end() && at->row < end; ++at)
        x_[at->row * vectors_ + at->column] += conj_if(conjugate, at->value);
}

ESPALIER_INSTANTIATE_CLASS(Sweep)

} // namespace espalier
