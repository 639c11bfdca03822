#include "analysis/predicted_trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/kinds.hpp"
#include "trace/record.hpp"

namespace espalier {

namespace {

using trace::Kind;
using trace::Nanoseconds;
using trace::nanoseconds;

class PredictedTrace {
  public:
    PredictedTrace(BlockStructure const& structure, CostModel const& model, Schedule const& schedule,
                   bool with_cblks)
        : structure_(structure), model_(model), schedule_(schedule), with_cblks_(with_cblks),
          levels_(tree_levels(structure)) {
        parts_.kinds = trace::standard_kinds();
        parts_.variables = trace::standard_variables();
    }

    trace::TraceParts build(std::map<std::string, std::string> metadata) {
        parts_.metadata = std::move(metadata);
        parts_.metadata["origin"] = "predicted";
        parts_.metadata.try_emplace("processes", std::to_string(schedule_.machine.processes));
        parts_.metadata.try_emplace("threads", std::to_string(schedule_.machine.threads));
        add_containers();
        for (TaskId t = 0; t < static_cast<TaskId>(tasks().size()); ++t) add_task(t);
        for (TimedPiece const& piece : schedule_.run.helped) {
            FactorTask const& task = tasks()[piece.task];
            Kind const kind = task.kind == TaskKind::update   ? Kind::update
                              : task.kind == TaskKind::fan_in ? Kind::fan_in
                                                              : Kind::factor;
            add_state(kind, threads_[piece.worker], nanoseconds(piece.start), nanoseconds(piece.end),
                      piece.task, cblk_of(task, schedule_.partition));
        }
        Stage const factorization{schedule_.tasks.graph, schedule_.run, 0, 0};
        // The solve begins after a nanosecond without work, so that a state of zero length at the end of the
        // factorization belongs to the phase of the factorization.
        Stage const solve{schedule_.sweeps.tasks.graph, schedule_.sweeps.run, std::ssize(tasks()),
                          makespan() + 1};
        add_sweeps(solve);
        add_transfers(factorization, tasks());
        add_transfers(solve, sweep_tasks());
        trace::fill_idle(parts_, static_cast<std::int16_t>(Kind::idle), 0, solve.end());
        for (std::int32_t const process : processes_) {
            add_state(Kind::factorization, process, 0, solve.begin, -1, no_cblk);
            add_state(Kind::solve, process, solve.begin, solve.end(), -1, no_cblk);
        }
        std::vector<Change> ready;
        add_stage(factorization, tasks(), ready);
        add_stage(solve, sweep_tasks(), ready);
        add_samples(trace::Counter::ready_tasks, ready);
        add_memory();
        return std::move(parts_);
    }

  private:
    // The factorization, or the sweeps of the solve that follows it.
    struct Stage {
        TaskGraph const& graph;
        TimedRun const& run;
        std::int64_t first_task; // in the trace
        Nanoseconds begin;
        [[nodiscard]] Nanoseconds at(double seconds) const { return begin + nanoseconds(seconds); }
        [[nodiscard]] Nanoseconds end() const { return at(run.makespan); }
    };

    [[nodiscard]] std::vector<SolveTask> const& sweep_tasks() const { return schedule_.sweeps.tasks.tasks; }
    [[nodiscard]] std::vector<FactorTask> const& tasks() const { return schedule_.tasks.tasks; }
    [[nodiscard]] Nanoseconds start(TaskId t) const { return nanoseconds(schedule_.run.start[t]); }
    [[nodiscard]] Nanoseconds end(TaskId t) const { return nanoseconds(schedule_.run.end[t]); }
    [[nodiscard]] Nanoseconds makespan() const { return nanoseconds(schedule_.makespan()); }
    [[nodiscard]] std::int32_t thread_of(TaskId t) const {
        WorkerId const worker = schedule_.run.worker_of_task[t];
        return threads_[worker];
    }

    void add_containers() {
        MachineModel const& machine = schedule_.machine;
        std::vector<trace::ThreadInfo> threads;
        for (int t = 0; t < machine.threads; ++t) threads.push_back({t, machine.node_of(t), ""});
        for (int c = 0; c < schedule_.comm_threads.count; ++c)
            threads.push_back({-1, machine.node_of(0), ""});
        for (int p = 0; p < machine.processes; ++p) {
            auto const added = trace::add_process(parts_.containers, p, machine.processes, threads);
            threads_.insert(threads_.end(), added.begin(), added.begin() + machine.threads);
            comm_threads_.emplace_back(added.begin() + machine.threads, added.end() - 1);
            processes_.push_back(added.back());
        }
    }

    void add_state(Kind kind, std::int32_t container, Nanoseconds from, Nanoseconds to, std::int64_t task,
                   CblkId cblk) {
        trace::State state;
        state.start = from, state.end = to, state.container = container;
        state.task = task, state.cblk = cblk, state.kind = static_cast<std::int16_t>(kind);
        if (cblk != no_cblk) state.level = static_cast<std::int16_t>(std::min(levels_[cblk], 32767));
        parts_.states.push_back(state);
    }

    void add_task(TaskId t) {
        FactorTask const& task = tasks()[t];
        switch (task.kind) {
        case TaskKind::factor:
            return add_branch(t, schedule_.partition.branches[task.source]);
        case TaskKind::diagonal:
        case TaskKind::solve:
            return add_state(Kind::factor, thread_of(t), start(t), end(t), t,
                             schedule_.partition.branches[task.source].root);
        case TaskKind::update:
            return add_state(Kind::update, thread_of(t), start(t), end(t), t, task.target);
        case TaskKind::fan_in:
            return add_state(Kind::fan_in, thread_of(t), start(t), end(t), t, task.target);
        case TaskKind::message: // from the update before it to the fan-in after it
            parts_.links.push_back({start(t), end(t), std::llround(task.bytes), t, thread_of(t - 1),
                                    thread_of(t + 1), 0, trace::LinkKind::message});
        }
    }

    // A message is sent after one task, and one other task waits for it.
    void add_sweeps(Stage const& solve) {
        TimedRun const& run = solve.run;
        for (TaskId t = 0; t < solve.graph.num_tasks(); ++t) {
            SolveTask const& task = sweep_tasks()[t];
            if (task.kind == SolveTaskKind::message) continue;
            std::int32_t const thread = threads_[run.worker_of_task[t]];
            add_state(is_forward(task.kind) ? Kind::forward : Kind::backward, thread, solve.at(run.start[t]),
                      solve.at(run.end[t]), solve.first_task + t, cblk_of(task, schedule_.partition));
            for (TaskId const message : solve.graph.successors_of(t)) {
                if (sweep_tasks()[message].kind != SolveTaskKind::message) continue;
                WorkerId const receiver = run.worker_of_task[solve.graph.successors_of(message).front()];
                parts_.links.push_back({solve.at(run.start[message]), solve.at(run.end[message]),
                                        std::llround(sweep_tasks()[message].bytes),
                                        solve.first_task + message, thread, threads_[receiver], 0,
                                        trace::LinkKind::message});
            }
        }
    }

    // Workers or communication threads that send and receive.
    template <class Task> void add_transfers(Stage const& stage, std::vector<Task> const& stage_tasks) {
        for (TimedTransfer const& transfer : stage.run.transfers) {
            Task const& message = stage_tasks[transfer.message];
            bool const sends = transfer.end == Transit::End::sender;
            std::int32_t container = 0;
            if (transfer.worker != any_worker) {
                container = threads_[transfer.worker];
            } else {
                auto const& own = comm_threads_[sends ? message.process : message.peer];
                container = sends ? own.front() : own.back();
            }
            add_state(sends ? Kind::send : Kind::receive, container, stage.at(transfer.start),
                      stage.at(transfer.finish), stage.first_task + transfer.message,
                      cblk_of(message, schedule_.partition));
        }
    }

    void add_branch(TaskId t, Branch const& branch) {
        if (branch.first >= structure_.first_kept_cblk) return; // idle
        if (branch.first == branch.root)
            return add_state(Kind::factor, thread_of(t), start(t), end(t), t, branch.root);
        if (with_cblks_) add_cblks(t, branch);
        add_state(Kind::subtree, thread_of(t), start(t), end(t), t, branch.root);
    }

    // Lists the panel and the updates of each cblk of the subtree in sequence. Their times are scaled to the
    // duration of the task in the schedule, which differs by rounding.
    void add_cblks(TaskId t, Branch const& branch) {
        std::vector<double> until{0}; // seconds after the start of the task; two for each cblk
        for (CblkId k = branch.first; k <= branch.root; ++k) {
            Cblk const& cblk = structure_.cblks[k];
            until.push_back(until.back() + model_.panel(cblk));
            double updates = 0;
            for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok;) {
                if (structure_.bloks[b].facing_cblk > branch.root) break;
                UpdateShape const shape = update_shape(structure_, cblk, b);
                updates += model_.update(shape);
                b += shape.bloks;
            }
            until.push_back(until.back() + updates);
        }
        double const begin = schedule_.run.start[t];
        double const length = schedule_.run.end[t] - begin;
        double const scale = until.back() > 0 ? length / until.back() : 0.0;
        Nanoseconds from = start(t);
        for (std::size_t i = 1; i < until.size(); ++i) {
            Nanoseconds const to = std::min(end(t), nanoseconds(begin + until[i] * scale));
            auto const k = branch.first + static_cast<CblkId>((i - 1) / 2);
            bool const panel = i % 2 == 1;
            if (panel || to > from)
                add_state(panel ? Kind::factor : Kind::update, thread_of(t), from, to, t, k);
            from = to;
        }
    }

    // A change of a variable of a process.
    struct Change {
        std::int32_t process = 0;
        Nanoseconds time = 0;
        double amount = 0;
    };

    // Steals, dependencies, and changes of the number of tasks that are ready and have not started.
    template <class Task>
    void add_stage(Stage const& stage, std::vector<Task> const& stage_tasks, std::vector<Change>& changes) {
        for (TimedSteal const& steal : stage.run.steals) {
            if (steal.victim == any_worker) continue;
            Nanoseconds const time = stage.at(steal.time);
            parts_.links.push_back({time, time, 0, stage.first_task + steal.task, threads_[steal.victim],
                                    threads_[steal.thief], steal.distance, trace::LinkKind::steal});
        }
        std::vector<double> ready(stage_tasks.size(), 0);
        for (TaskId t = 0; t < stage.graph.num_tasks(); ++t)
            for (TaskId const next : stage.graph.successors_of(t)) {
                parts_.dependencies.push_back({stage.first_task + t, stage.first_task + next});
                ready[next] = std::max(ready[next], stage.run.end[t]);
            }
        for (std::size_t t = 0; t < stage_tasks.size(); ++t) {
            if (stage_tasks[t].kind == decltype(stage_tasks[t].kind)::message) continue;
            changes.push_back({stage_tasks[t].process, stage.at(ready[t]), 1});
            changes.push_back({stage_tasks[t].process, stage.at(stage.run.start[t]), -1});
        }
    }

    // Adds one sample for each time of a change.
    void add_samples(trace::Counter counter, std::vector<Change>& changes) {
        std::sort(changes.begin(), changes.end(), [](Change const& a, Change const& b) {
            return std::tie(a.process, a.time) < std::tie(b.process, b.time);
        });
        double value = 0;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (i > 0 && changes[i].process != changes[i - 1].process) value = 0;
            value += changes[i].amount;
            if (i + 1 < changes.size() && changes[i + 1].process == changes[i].process &&
                changes[i + 1].time == changes[i].time)
                continue;
            parts_.samples.push_back(
                {changes[i].time, value, processes_[changes[i].process], static_cast<std::int32_t>(counter)});
        }
    }

    // A fan-in block occupies memory of its sender from its first update to the end of the message, then
    // memory of the receiver until it is added.
    void add_memory() {
        std::vector<Change> changes;
        for (std::size_t p = 0; p < processes_.size(); ++p)
            changes.push_back({static_cast<std::int32_t>(p), 0, schedule_.processes[p].panels});
        auto const& blocks = schedule_.tasks.fan_in.blocks;
        std::vector<Nanoseconds> first(blocks.size(), std::numeric_limits<Nanoseconds>::max());
        auto const count = static_cast<TaskId>(tasks().size());
        for (TaskId t = 0; t < count; ++t) {
            FactorTask const& task = tasks()[t];
            if (task.kind == TaskKind::update && task.block != no_block)
                first[task.block] = std::min(first[task.block], start(t));
        }
        for (TaskId t = 0; t < count; ++t) {
            FactorTask const& task = tasks()[t];
            if (task.kind != TaskKind::message) continue;
            changes.push_back({task.process, first[task.block], task.bytes});
            changes.push_back({task.process, end(t), -task.bytes});
            changes.push_back({task.peer, end(t), task.bytes});
            changes.push_back({task.peer, end(blocks[task.block].fan_in_task), -task.bytes});
        }
        add_samples(trace::Counter::memory, changes);
    }

    BlockStructure const& structure_;
    CostModel const& model_;
    Schedule const& schedule_;
    bool with_cblks_;
    std::vector<std::int32_t> levels_;
    std::vector<std::int32_t> threads_;   // the container of each worker
    std::vector<std::int32_t> processes_; // the container of each process
    std::vector<std::vector<std::int32_t>>
        comm_threads_; // the containers of the communication threads of each process
    trace::TraceParts parts_;
};

} // namespace

trace::TraceParts predicted_trace(BlockStructure const& structure, CostModel const& model,
                                  Schedule const& schedule, std::map<std::string, std::string> metadata,
                                  std::size_t most_states) {
    // There are at most as many idle states as tasks.
    bool const with_cblks = 2 * (schedule.tasks.tasks.size() + structure.cblks.size()) <= most_states;
    return PredictedTrace(structure, model, schedule, with_cblks).build(std::move(metadata));
}

} // namespace espalier
