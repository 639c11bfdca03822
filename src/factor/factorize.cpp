#include "factor/factorize.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/block_division.hpp"
#include "core/timer.hpp"
#include "factor/fan_in_buffers.hpp"
#include "factor/kernel_family.hpp"
#include "factor/page_homes.hpp"
#include "kernels/flush_denormals.hpp"
#include "runtime/first_touch.hpp"
#include "runtime/process_limits.hpp"
#include "tasks/task_pieces.hpp"

namespace espalier {

namespace {

// Dependencies of the tasks of this process on each other and on messages, and of messages on tasks.
std::vector<trace::Dependency> dependencies(FactorPlan const& plan, std::int64_t first_number) {
    TaskGraph const& graph = plan.factor.graph;
    std::vector<trace::Dependency> edges;
    edges.reserve(graph.successors.size());
    auto const number = [&](TaskId t) { return first_number + plan.number_of_task[t]; };
    for (TaskId t = 0; t < graph.num_tasks(); ++t) {
        for (TaskId const next : graph.successors_of(t)) edges.push_back({number(t), number(next)});
        FactorTask const& task = plan.factor.tasks[t];
        if (task.block == no_block) continue;
        auto const message = first_number + plan.factor.fan_in.blocks[task.block].message;
        if (task.kind == TaskKind::fan_in)
            edges.push_back({message, number(t)});
        else
            edges.push_back({number(t), message});
    }
    return edges;
}

// Columns are delayed when all rows below a diagonal block are known. If the panel is cut into groups of
// rows, other tasks compute these.
void require_whole_panels(FactorPlan const& plan) {
    if (plan.cuts_panels && plan.settings.splitting == Splitting::two_d)
        throw Error(Status::usage, "columns cannot be delayed with split 2d: analyze with split 1d or "
                                   "dynamic, or use static pivots");
}

// Whether the tasks treat denormal numbers as zeros. Numbers decay that far along the factors of matrices
// with a strong diagonal or with convection, and the factorization would take up to seven times as long.
// These zeros are errors of less than the smallest normal number. That is negligible if all pivots are much
// larger: pivots below the threshold are replaced, and those of llh are at least about epsilon times the
// diagonal entry. Pivots must also be so small that their inverses are not denormal. The threshold is a small
// part of the largest entry; the pivots of llh are square roots.
template <class T> bool flushes_denormals(FactorForm form, FactorizeOptions const& options) {
    constexpr double normal = std::numeric_limits<Real<T>>::min();
    if (form.kind == Factorization::llh)
        return options.least_diagonal >= 1e19 * normal / static_cast<double>(epsilon<T>);
    return (form.has_d() || form.has_upper()) && options.pivot_threshold >= 1e19 * normal &&
           options.pivot_threshold <= 1e-30 / normal;
}

// The state that the tasks of one run share.
template <class T> class FactorizationRun {
  public:
    /// `first_number` is the number of the plan's first task in the trace. `pool` as in FanInBuffers.
    FactorizationRun(FactorPlan const& plan, Factor<T>& factor, WorkerTeam& team,
                     FactorizeOptions const& options, std::int64_t first_number,
                     std::shared_ptr<BlockPool> const& pool)
        : plan_(plan), factor_(factor), structure_(factor.structure()), kernels_(make_kernel_family(factor)),
          threshold_(static_cast<Real<T>>(options.pivot_threshold)), interrupt_(options.interrupt),
          workspaces_(team.size()), stats_(team.size()),
          progress_(options.progress, "factorization", plan.total_cost()),
          progress_step_(plan.total_cost() / 1000), team_(team),
          ran_by_(plan.factor.tasks.size(), any_worker), first_number_(first_number),
          fan_in_(factor.structure(), plan, factor.form(), pool),
          messages_(
              team, options.messaging,
              [this](int, std::int64_t id, Block&& block) { receive(id, std::move(block)); }, pool) {
        bool const has_pivots = factor.form().has_d() || factor.form().has_upper();
        flushes_ = flushes_denormals<T>(factor.form(), options);
        if (options.delays && has_pivots)
            delays_.emplace(factor, *kernels_, *options.delays, threshold_, team.size());
        factor.clear_delayed(delays_ ? team.size() : 0);
        if (trace::Recorder* const recorder = team.recorder()) {
            levels_ = tree_levels(structure_);
            recorder->add_dependencies(dependencies(plan, first_number_));
        }
    }

    /// Registers the panels marked in `pending`, which are cleared and assembled before they are first
    /// written.
    void assemble_late(std::span<T const> values, AssemblyMap const& assembly,
                       std::vector<std::uint8_t> pending) {
        values_ = values;
        assembly_ = &assembly;
        pending_ = std::move(pending);
    }

    void execute(TaskId id, WorkerId worker) {
        FlushDenormals const mode(flushes_);
        FactorTask const& task = plan_.factor.tasks[id];
        ran_by_[id] = worker;
        double const cost = plan_.factor.graph.cost[id];
        switch (task.kind) {
        case TaskKind::factor:
            return factorize_branch(task.source, id, worker);
        case TaskKind::diagonal:
        case TaskKind::solve: {
            CblkId const k = plan_.partition.branches[task.source].root;
            trace::Scope const scope(team_.track(worker), trace::Kind::factor, info(id, k));
            return work_on_panel(task, k, worker);
        }
        case TaskKind::update: {
            {
                trace::Scope const scope(team_.track(worker), trace::Kind::update, info(id, task.target));
                RowWindow const window = task.group == whole_panel
                                             ? RowWindow{}
                                             : plan_.groups.window(structure_, task.target, task.group);
                if (should_divide(id))
                    update_in_pieces(task, id, interrupt_for(cost), worker);
                else
                    update_target(task, window, interrupt_for(cost), worker);
            }
            if (task.block != no_block) contributed(task.block, worker);
            return;
        }
        case TaskKind::fan_in: {
            trace::Scope const scope(team_.track(worker), trace::Kind::fan_in, info(id, task.target));
            return add_fan_in(task, id, worker);
        }
        case TaskKind::message:
            break;
        }
        throw Error(Status::internal, "a message was scheduled as a task of a worker");
    }

    /// Precedes run() on each process, in a step of all_succeed().
    void prepare() { messages_.prepare(); }
    /// `graph` is the graph of the plan, perhaps with other homes.
    RunStats run(TaskGraph const& graph, Policy& policy, RunOptions options) {
        options.first_number = first_number_;
        options.numbers = plan_.number_of_task;
        options.external_events = plan_.num_events;
        return messages_.run(
            graph, policy, [this](TaskId task, WorkerId worker) { execute(task, worker); },
            std::move(options));
    }
    /// Does the work of run() for a short graph on the calling thread.
    void run_alone(TaskGraph const& graph) {
        check(interrupt_);
        team_.run_alone(graph, [this](TaskId task, WorkerId worker) { execute(task, worker); });
    }
    /// Sets the statistics of the tasks and of their messages.
    void report(FactorizeStats& stats) && {
        PivotStats pivots;
        for (auto const& worker : stats_) {
            pivots += worker.pivots;
            stats.tasks_divided += worker.tasks_divided;
        }
        stats.pivots_replaced = pivots.replaced;
        stats.negative_pivots = pivots.negative;
        stats.pivots_delayed = pivots.delayed;
        stats.pivots = pivots.range;
        if (delays_) stats.delayed_bytes = delays_->bytes();
        stats.worker_of_task = std::move(ran_by_);
        stats.exchange = messages_.statistics();
    }

  private:
    struct alignas(64) WorkerStats { // written only by its worker
        PivotStats pivots;
        double unreported = 0; // cost done since the last report of progress
        double unchecked = 0;  // cost done since the last check of the interrupt
        std::int64_t tasks_divided = 0;
        TaskId last_divided = no_task;
    };

    // Seconds of work between two checks of the interrupt, which may call the user's function.
    static constexpr double check_interval = 2e-4;
    // Returns null for shorter tasks, which run without checks.
    [[nodiscard]] Interrupt* interrupt_for(double cost) const {
        return cost > check_interval ? interrupt_ : nullptr;
    }

    void check_after(WorkerStats& stats, double cost) {
        stats.unchecked += cost;
        if (stats.unchecked < check_interval) return;
        stats.unchecked = 0;
        check(interrupt_);
    }

    // Describes the work of task `id` on cblk k for a trace.
    [[nodiscard]] trace::StateInfo info(TaskId id, CblkId k) const {
        if (levels_.empty()) return {};
        return {first_number_ + plan_.number_of_task[id], structure_.number_of(k), levels_[k]};
    }

    // Factorizes a subtree, which is one task. A trace also shows the work on each of its cblks.
    void factorize_branch(BranchId number, TaskId id, WorkerId worker) {
        Branch const& branch = plan_.partition.branches[number];
        if (structure_.is_kept(branch.first)) return;
        WorkerStats& stats = stats_[worker];
        auto& workspace = workspaces_[worker];
        bool const single = branch.first == branch.root;
        trace::Track* const track = team_.track(worker);
        trace::Scope const subtree(single ? nullptr : track, trace::Kind::subtree, info(id, branch.root));
        for (CblkId k = branch.first; k <= branch.root; ++k) {
            double const cost = plan_.cblk_cost[k];
            check_after(stats, cost);
            assemble_before(k, branch.root, track);
            {
                trace::Scope const scope(track, trace::Kind::factor, info(id, k));
                stats.pivots += factorize_panel(k, id, single, worker);
                stats.pivots.range += pivot_range(factor_, k);
            }
            if (!single) {
                trace::Scope const scope(track, trace::Kind::update, info(id, k));
                kernels_->update_all(k, branch.root, workspace, interrupt_for(cost));
                if (track) track->between_tasks();
            }
            report_progress(stats, cost);
        }
    }

    // Assembles the pending cblks of this branch among cblk k and those to which it contributes.
    void assemble_before(CblkId k, CblkId root, trace::Track* track) {
        if (pending_.empty()) return;
        assemble_pending(k, track);
        for (Blok const& blok : structure_.bloks_below(factor_.cblk(k))) {
            if (blok.facing_cblk > root) break;
            assemble_pending(blok.facing_cblk, track);
        }
    }
    void assemble_pending(CblkId k, trace::Track* track) {
        if (!std::exchange(pending_[k], 0)) return;
        trace::Scope const scope(track, trace::Kind::assemble);
        std::fill_n(factor_.lower(k).data, panel_size(factor_.cblk(k), factor_.form()), T(0));
        assembly_->assemble_cblk(values_, factor_, k);
    }

    [[nodiscard]] bool should_divide(TaskId id) const {
        return team_.size() > 1 &&
               is_divisible(plan_.factor.tasks[id], plan_.partition, plan_.groups, plan_.settings,
                            plan_.factor.graph.cost[id]) &&
               team_.count_idle(plan_.candidates[id]) >= plan_.settings.split_idle;
    }

    // Calls body(piece, worker) for all pieces of a task, on this worker and on idle candidates.
    void share(TaskId id, WorkerId worker, int pieces, trace::Kind kind, PieceBody const& body) {
        WorkerStats& stats = stats_[worker];
        if (std::exchange(stats.last_divided, id) != id) ++stats.tasks_divided;
        CblkId const k = cblk_of(plan_.factor.tasks[id], plan_.partition);
        team_.share(worker, plan_.candidates[id], pieces, [&](int piece, WorkerId by) {
            trace::Scope const scope(by == worker ? nullptr : team_.track(by), kind, info(id, k));
            FlushDenormals const mode(flushes_); // on another thread
            body(piece, by);
        });
    }

    // `single`: the task consists of cblk k only, and may be divided.
    PivotStats factorize_panel(CblkId k, TaskId id, bool single, WorkerId worker) {
        auto const for_all_rows = [&](RowsStep step) {
            if (single && should_divide(id))
                solve_in_pieces(step, k, id, worker);
            else
                step(0, factor_.cblk(k).rows_below());
        };
        std::optional<BlockDivision> division;
        if (single && PartSizes(plan_.settings.split_width).divide(factor_.cblk(k).width()) &&
            should_divide(id))
            division = divide_diagonal(id, worker);
        BlockDivision const* const divided = division ? &*division : nullptr;
        if (delays_) return delays_->factorize(k, worker, workspaces_[worker], divided, for_all_rows);
        PivotStats const stats = kernels_->factorize_diagonal(k, threshold_, divided);
        for_all_rows([&](Index first, Index count) { kernels_->solve_rows(k, first, count); });
        return stats;
    }

    [[nodiscard]] BlockDivision divide_diagonal(TaskId id, WorkerId worker) {
        return {PartSizes(plan_.settings.split_width),
                [this, id, worker](int count, std::function<void(int)> const& part) {
                    if (count == 1) return part(0);
                    share(id, worker, count, trace::Kind::factor, [&](int piece, WorkerId) { part(piece); });
                }};
    }

    void solve_in_pieces(RowsStep step, CblkId k, TaskId id, WorkerId worker) {
        RowGroups const& groups = plan_.groups;
        share(id, worker, groups.count(k) - 1, trace::Kind::factor, [&](int piece, WorkerId) {
            step(groups.first_row(structure_, k, piece + 1) - factor_.cblk(k).width(),
                 groups.rows(structure_, k, piece + 1));
        });
    }

    void update_in_pieces(FactorTask const& task, TaskId id, Interrupt* interrupt, WorkerId worker) {
        share(id, worker, plan_.groups.count(task.target), trace::Kind::update, [&](int piece, WorkerId by) {
            if (plan_.groups.is_empty(structure_, task.target, piece)) return;
            update_target(task, plan_.groups.window(structure_, task.target, piece), interrupt, by);
        });
    }

    // Works on the diagonal block of a panel that is cut into groups of rows, or on one of the groups below
    // it.
    void work_on_panel(FactorTask const& task, CblkId k, WorkerId worker) {
        WorkerStats& stats = stats_[worker];
        double const cost = plan_.cblk_cost[k] / plan_.groups.count(k);
        check_after(stats, cost);
        if (task.kind == TaskKind::diagonal) {
            stats.pivots += kernels_->factorize_diagonal(k, threshold_);
            stats.pivots.range += pivot_range(factor_, k);
        } else {
            kernels_->solve_rows(k,
                                 plan_.groups.first_row(structure_, k, task.group) - factor_.cblk(k).width(),
                                 plan_.groups.rows(structure_, k, task.group));
        }
        report_progress(stats, cost);
    }

    void report_progress(WorkerStats& stats, double cost) {
        stats.unreported += cost;
        if (stats.unreported < progress_step_) return;
        progress_.advance(stats.unreported);
        stats.unreported = 0;
    }

    void update_target(FactorTask const& task, RowWindow window, Interrupt* interrupt, WorkerId worker) {
        auto& workspace = workspaces_[worker];
        for_each_facing_group(structure_, task.first_facing, task.end_facing, [&](FacingGroup const& group) {
            check(interrupt);
            if (task.block == no_block) return kernels_->update(group, workspace, window);
            UpdateTarget<T> const target = fan_in_.target(task.block);
            bool const all_are_delayed = factor_.below(group.source).cols == 0;
            if (!all_are_delayed) kernels_->update(group, workspace, window, target);
        });
    }

    // Counts a contribution to an outgoing block; the last one sends the block.
    void contributed(std::int32_t number, WorkerId worker) {
        std::optional<Block> block = fan_in_.contributed(number);
        if (!block) return;
        FanInBlock const& info = plan_.factor.fan_in.blocks[number];
        if (delays_) block = delays_->complete(info.target, std::move(*block), workspaces_[worker]);
        messages_.send(info.to, info.number, std::move(*block),
                       {.tag = first_number_ + info.message, .priority = info.priority});
    }
    // Called by a communication thread.
    void receive(std::int64_t id, Block&& block) {
        std::int32_t const number = fan_in_.incoming(id);
        FanInBlock const& info = plan_.factor.fan_in.blocks[number];
        fan_in_.put(number, std::move(block), delays_.has_value());
        team_.release(info.fan_in_task);
    }
    void add_fan_in(FactorTask const& task, TaskId id, WorkerId worker) {
        RowGroups const& groups = plan_.groups;
        auto const add_group = [&](std::int32_t group) {
            Index const begin = groups.first_row(structure_, task.target, group);
            fan_in_.add(task.block, begin, begin + groups.rows(structure_, task.target, group), factor_);
        };
        if (should_divide(id))
            share(id, worker, groups.count(task.target), trace::Kind::fan_in,
                  [&](int piece, WorkerId) { add_group(piece); });
        else
            fan_in_.add(task.block, 0, factor_.cblk(task.target).stride, factor_);
        if (delays_) {
            FanInBlocks const& fan_in = plan_.factor.fan_in;
            FanInBlock const& block = fan_in.blocks[task.block];
            delays_->receive(block, fan_in.rows_of(block), fan_in_.left_over(task.block));
        }
        messages_.received_done(fan_in_.added(task.block));
    }

    std::span<T const> values_;
    AssemblyMap const* assembly_ = nullptr;
    std::vector<std::uint8_t> pending_; // by cblk; empty if all panels are assembled
    FactorPlan const& plan_;
    Factor<T>& factor_;
    BlockStructure const& structure_;
    std::unique_ptr<KernelFamily<T>> kernels_;
    Real<T> threshold_;
    bool flushes_ = false; // denormal numbers
    std::optional<DelayedPivoting<T>> delays_;
    Interrupt* interrupt_;
    std::vector<UpdateWorkspace<T>> workspaces_;
    std::vector<WorkerStats> stats_;
    ProgressScope progress_;
    double progress_step_;

    WorkerTeam& team_;
    std::vector<WorkerId> ran_by_;     // the worker of each task
    std::vector<std::int32_t> levels_; // the level of each cblk in the tree; empty if no trace is recorded
    std::int64_t first_number_;        // number of the first task in the trace
    FanInBuffers<T> fan_in_;
    MessageRun messages_; // last, because its handlers use the rest
};

// Whether the calling thread runs all tasks. Only static schedules allow this: users of the other policies
// want the tasks to pass through the queues.
bool runs_alone(FactorPlan const& plan, WorkerTeam const& team, FactorizeOptions const& options) {
    return !options.messaging && !team.recorder() && plan.settings.schedule == SchedulePolicy::static_order &&
           is_short(plan.factor.graph, team.size());
}

// Marks the panels that the tasks of subtrees clear and assemble while they are in the cache, because no
// other task contributes to them. Memory that is touched for the first time is left to its owners. Returns an
// empty vector if there are no such panels.
template <class T> std::vector<std::uint8_t> assembled_late(FactorPlan const& plan, Factor<T> const& factor) {
    std::vector<std::uint8_t> late;
    for (Branch const& branch : plan.partition.branches) {
        if (branch.first == branch.root || !factor.has_panel(branch.root)) continue;
        if (factor.is_untouched(plan.owner_of_cblk[branch.root])) continue;
        late.resize(factor.structure().cblks.size());
        std::fill(late.begin() + branch.first, late.begin() + branch.root + 1, 1);
    }
    return late;
}

// The memory for as many fan-in blocks as are planned to exist at once. With several NUMA nodes, blocks are
// instead placed by the threads that need them. Returns null if they are few.
template <class T>
std::shared_ptr<BlockPool> memory_of_fan_in(FactorPlan const& plan, Factor<T> const& factor) {
    constexpr double few_bytes = 1 << 20;
    if (plan.machine.processes == 1 || plan.machine.num_nodes() > 1) return {};
    double panels = 0;
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k)
        if (plan.is_own(k))
            panels += static_cast<double>(panel_size(factor.cblk(k), factor.form()) * sizeof(T));
    double const bytes = plan.memory_of_process[plan.process] - panels;
    if (bytes < few_bytes) return {};
    return std::make_shared<BlockPool>(static_cast<std::size_t>(bytes));
}

} // namespace

template <class T> FactorizeStats factorize(std::span<T const> values, AssemblyMap const& assembly,
                                            FactorPlan const& plan, Factor<T>& factor, WorkerTeam& team,
                                            FactorizeOptions const& options) {
    FactorizeStats stats;
    if (options.delays) require_whole_panels(plan);
    // An earlier factorization may have had a higher limit.
    if (options.delays && factor.delayed_memory_bytes() > options.delays->most_bytes) factor.clear_delayed(0);
    factor.set_pivot_threshold(static_cast<Real<T>>(options.pivot_threshold));
    bool const corrects = options.topology && options.topology->is_this_machine() &&
                          options.topology->num_nodes() > 1 && team.bound();
    bool const alone = runs_alone(plan, team, options);
    std::atomic<std::uint64_t> moved_bytes{0};
    std::vector<std::uint8_t> pending;
    std::shared_ptr<BlockPool> pool;
    all_succeed(options.messaging, [&] {
        trace::Scope const recorded(options.phases, trace::Kind::assembly);
        if (!corrects) pending = assembled_late(plan, factor);
        if (options.messaging) pool = memory_of_fan_in(plan, factor);
        team.for_each_worker(!alone, [&](WorkerId worker) {
            trace::Scope const scope(team.track(worker), trace::Kind::assemble);
            if (corrects) {
                factor.clear_owned(worker, options.interrupt);
                moved_bytes += factor.move_to_owner(worker, team.places()[worker].node_os_index);
            }
            assembly.assemble(values, factor, worker, corrects, options.interrupt, pending);
            if (pool) touch_part_of(pool->memory(), worker, team.size());
        });
        if (options.phases)
            options.phases->sample(trace::Counter::memory, static_cast<std::int64_t>(current_rss_bytes()));
    });

    trace::Scope const recorded(options.phases, trace::Kind::factorization);
    Timer const timer;
    // Runs on all processes, even if the factorization fails, so that they all number tasks alike.
    std::int64_t const first_number =
        team.recorder() ? team.recorder()->reserve_tasks(plan.num_numbers()) : 0;
    std::unique_ptr<FactorizationRun<T>> run;
    std::unique_ptr<Policy> policy;
    std::optional<TaskGraph> rehomed;
    all_succeed(options.messaging, [&] {
        run = std::make_unique<FactorizationRun<T>>(plan, factor, team, options, first_number, pool);
        run->assemble_late(values, assembly, std::move(pending));
        factor.set_workers_at_panels({});
        if (options.topology)
            factor.set_workers_at_panels(workers_at_pages(factor, plan, team, *options.topology));
        if (!factor.workers_at_panels().empty())
            rehomed = with_homes(plan, plan.factor, factor.workers_at_panels());
        if (!alone) policy = plan.make_policy(rehomed ? *rehomed : plan.factor.graph);
        run->prepare();
    });
    RunOptions run_options;
    run_options.interrupt = options.interrupt;
    RunStats ran;
    if (alone)
        run->run_alone(plan.factor.graph);
    else
        ran = run->run(rehomed ? *rehomed : plan.factor.graph, *policy, run_options);
    std::move(*run).report(stats);
    stats.steals = ran.steals();
    stats.moved_bytes = moved_bytes;
    if (!alone)
        all_succeed(options.messaging, [&] { stats.steals_by_distance = policy->steals_by_distance(); });
    stats.time_s = timer.seconds();
    stats.busy_s = alone ? stats.time_s : ran.busy_s();
    return stats;
}

std::uint64_t workspace_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes,
                              int workers) {
    // The workspace holds L D of the rows that face one cblk, which are at most as many as its columns.
    Offset scaled = 0;
    Index widest = 0;
    for (Cblk const& cblk : structure.cblks) widest = std::max(widest, cblk.width());
    if (form.has_d())
        for (Cblk const& cblk : structure.cblks)
            scaled = std::max(scaled, std::min(cblk.rows_below(), widest) * cblk.width());
    auto const coefficients = static_cast<std::uint64_t>(UpdateWorkspace<double>::buffer_size + scaled);
    return coefficients * scalar_bytes * static_cast<std::uint64_t>(workers);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template FactorizeStats factorize<T>(std::span<T const>, AssemblyMap const&, FactorPlan const&,          \
                                         Factor<T>&, WorkerTeam&, FactorizeOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
