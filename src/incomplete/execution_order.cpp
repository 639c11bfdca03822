#include "incomplete/execution_order.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <thread>

#include <fmt/format.h>

#include "coarsen/coarse_string.hpp"
#include "coarsen/node_distribution.hpp"
#include "coarsen/pipeline.hpp"
#include "coarsen/super_steps.hpp"
#include "core/run_threads.hpp"
#include "incomplete/row_arrangement.hpp"
#include "incomplete/row_groups.hpp"

namespace espalier {

namespace {

/// After this many pauses, a waiting worker yields its core, which the awaited worker may need.
constexpr int pauses_before_yield = 1 << 14;

/// The sizes of the groups of fast_string(). Larger ones take less time to schedule and leave less
/// parallelism.
BlockRow length_of_lines(BlockRow num_rows, int workers) {
    constexpr int few_workers = 4;
    constexpr BlockRow many_rows = 1 << 19;
    return workers <= few_workers && num_rows >= many_rows ? 32 : 16;
}
Index size_of_trees(BlockRow num_rows, int workers) {
    constexpr Index trees_of_worker = 128; // at least
    return std::max<Index>(8, num_rows / (trees_of_worker * workers));
}

std::string fast_string(bool lines, BlockRow num_rows, int workers) {
    return lines ? fmt::format("C({})G({})", length_of_lines(num_rows, workers), workers)
                 : fmt::format("T({})G({})", size_of_trees(num_rows, workers), workers);
}

/// The coarse tasks of each worker in the order in which it starts them, and all tasks in one order that is
/// consistent with these orders and with the graph.
struct ListSchedule {
    std::vector<std::vector<TaskId>> tasks_of; ///< By worker.
    std::vector<TaskId> start_order;
};

/// The NUMA nodes of workers and of tasks. If none are given, all are on one node.
struct NodeAffinity {
    std::vector<int> node_of_worker;
    std::vector<std::int32_t> node_of_task;

    [[nodiscard]] int num_nodes() const {
        return node_of_worker.empty() ? 1
                                      : 1 + *std::max_element(node_of_worker.begin(), node_of_worker.end());
    }
    [[nodiscard]] int of_worker(WorkerId worker) const {
        return node_of_worker.empty() ? 0 : node_of_worker[worker];
    }
    [[nodiscard]] int of_task(TaskId task) const { return node_of_task.empty() ? 0 : node_of_task[task]; }
};

/// A list scheduler with highest path first: an idle worker takes the ready task of its node with the longest
/// path to an exit. Among idle workers, the one that ran the lowest predecessor of the task takes it: in a
/// grid, this task has the same lines of the plane before.
class ListScheduler {
  public:
    ListScheduler(TaskGraph const& graph, int workers, NodeAffinity const& affinity, Interrupt* interrupt)
        : graph_(graph), affinity_(affinity), interrupt_(interrupt), path_(longest_paths(graph)),
          waiting_(graph.num_predecessors), preferred_(graph.num_tasks()), idle_(workers, true),
          num_idle_(affinity.num_nodes(), 0), ready_(affinity.num_nodes()) {
        schedule_.tasks_of.resize(workers);
        for (WorkerId w = 0; w < workers; ++w) ++num_idle_[affinity.of_worker(w)];
    }

    ListSchedule run() {
        for (TaskId task = 0; task < graph_.num_tasks(); ++task)
            if (waiting_[task] == 0) make_ready(task);
        start_ready(0);
        while (!running_.empty()) {
            if (schedule_.start_order.size() % tasks_at_once == 0) check(interrupt_);
            auto const [end, worker, task] = running_.top();
            running_.pop();
            idle_[worker] = true;
            ++num_idle_[affinity_.of_worker(worker)];
            for (TaskId const next : graph_.successors_of(task)) {
                if (task < preferred_[next].predecessor) preferred_[next] = {task, worker};
                if (--waiting_[next] == 0) make_ready(next);
            }
            start_ready(end);
        }
        return std::move(schedule_);
    }

  private:
    static constexpr std::size_t tasks_at_once = 256; ///< Between two checks of the interrupt.

    struct Running {
        double end;
        WorkerId worker;
        TaskId task;
        bool operator>(Running const& other) const {
            return end != other.end ? end > other.end : task > other.task;
        }
    };

    struct Preferred {
        TaskId predecessor = std::numeric_limits<TaskId>::max(); ///< The lowest one that has ended.
        WorkerId worker = 0;
    };

    void make_ready(TaskId task) { ready_[affinity_.of_task(task)].push({path_[task], task}); }

    void start_ready(double now) {
        for (int node = 0; node < std::ssize(ready_); ++node)
            for (auto& ready = ready_[node]; num_idle_[node] > 0 && !ready.empty(); ready.pop()) {
                TaskId const task = ready.top().task;
                WorkerId worker = preferred_[task].worker;
                if (!can_start(worker, node)) worker = first_idle(node);
                idle_[worker] = false;
                --num_idle_[node];
                schedule_.tasks_of[worker].push_back(task);
                schedule_.start_order.push_back(task);
                running_.push({now + graph_.cost[task], worker, task});
            }
    }

    [[nodiscard]] bool can_start(WorkerId worker, int node) const {
        return idle_[worker] && affinity_.of_worker(worker) == node;
    }
    [[nodiscard]] WorkerId first_idle(int node) const {
        WorkerId worker = 0;
        while (!can_start(worker, node)) ++worker;
        return worker;
    }

    TaskGraph const& graph_;
    NodeAffinity const& affinity_;
    Interrupt* interrupt_;
    std::vector<double> path_;
    std::vector<std::int32_t> waiting_;
    std::vector<Preferred> preferred_;
    std::vector<bool> idle_;
    std::vector<int> num_idle_;                         ///< By node.
    std::vector<std::priority_queue<ReadyTask>> ready_; ///< By node.
    std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
    ListSchedule schedule_;
};

/// The position of a chunk: its worker, and the number of chunks that the worker runs before it.
struct ChunkPlace {
    WorkerId worker = 0;
    std::int32_t index = 0;
};

/// Finds the waits of chunks, which are given in a possible sequential order. A wait is left out if it is
/// implied: by an earlier wait of the worker, or because another awaited chunk has itself waited for the same
/// chunk.
class WaitReduction {
  public:
    WaitReduction(std::span<ChunkPlace const> places, int workers)
        : places_(places), workers_(workers), known_(places.size() * static_cast<std::size_t>(workers), 0),
          last_chunk_(workers, -1), chunk_at_(workers), needed_(workers), lists_(places.size()) {}

    /// `awaited` are the chunks that must be done before this one.
    void add(std::int32_t chunk, std::span<std::int32_t const> awaited) {
        auto const [worker, index] = places_[chunk];
        auto const known = known_by(chunk);
        if (last_chunk_[worker] >= 0) {
            auto const before = known_by(last_chunk_[worker]);
            std::copy(before.begin(), before.end(), known.begin());
        }
        std::fill(needed_.begin(), needed_.end(), 0);
        for (std::int32_t const other : awaited) {
            auto const place = places_[other];
            if (place.worker != worker && place.index + 1 > known[place.worker])
                needed_[place.worker] = std::max(needed_[place.worker], place.index + 1);
        }
        for (WorkerId w = 0; w < workers_; ++w)
            if (needed_[w] > 0 && !is_implied(w)) lists_[chunk].push_back({w, needed_[w]});
        for (auto const& wait : lists_[chunk]) {
            auto const theirs = known_by(chunk_at_[wait.worker][wait.chunks - 1]);
            for (WorkerId w = 0; w < workers_; ++w) known[w] = std::max(known[w], theirs[w]);
            known[wait.worker] = std::max(known[wait.worker], wait.chunks);
        }
        known[worker] = index;
        last_chunk_[worker] = chunk;
        chunk_at_[worker].push_back(chunk);
    }

    [[nodiscard]] WaitLists lists() const {
        WaitLists result;
        for (auto const& list : lists_) {
            result.waits.insert(result.waits.end(), list.begin(), list.end());
            result.ptr.push_back(std::ssize(result.waits));
        }
        return result;
    }

  private:
    std::span<std::int32_t> known_by(std::int32_t chunk) {
        return {known_.data() + static_cast<std::size_t>(chunk) * workers_,
                static_cast<std::size_t>(workers_)};
    }

    /// Whether the awaited chunk of another worker implies that worker w has done enough.
    bool is_implied(WorkerId w) {
        for (WorkerId other = 0; other < workers_; ++other)
            if (other != w && needed_[other] > 0 &&
                known_by(chunk_at_[other][needed_[other] - 1])[w] >= needed_[w])
                return true;
        return false;
    }

    std::span<ChunkPlace const> places_;
    int workers_;
    /// For each chunk, the number of chunks of each worker that are done when it starts.
    std::vector<std::int32_t> known_;
    std::vector<std::int32_t> last_chunk_;            ///< The last chunk of each worker so far, or -1.
    std::vector<std::vector<std::int32_t>> chunk_at_; ///< The chunks of each worker, by index.
    std::vector<std::int32_t> needed_;
    std::vector<std::vector<ChunkWait>> lists_;
};

std::vector<std::vector<std::int32_t>> predecessor_lists(TaskGraph const& graph,
                                                         std::span<std::int32_t const> chunk_of) {
    std::vector<std::vector<std::int32_t>> lists(graph.num_tasks());
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        for (TaskId const next : graph.successors_of(task)) lists[chunk_of[next]].push_back(chunk_of[task]);
    return lists;
}

/// The waits in both directions. chunk_of[t] is the chunk of coarse task t.
void find_waits(ExecutionOrder& order, TaskGraph const& graph, std::span<TaskId const> start_order,
                std::span<std::int32_t const> chunk_of) {
    std::vector<ChunkPlace> places(graph.num_tasks()), reversed(graph.num_tasks());
    for (WorkerId w = 0; w < order.num_workers; ++w)
        for (std::int32_t c = order.worker_ptr[w]; c < order.worker_ptr[w + 1]; ++c) {
            places[c] = {w, c - order.worker_ptr[w]};
            reversed[c] = {w, order.worker_ptr[w + 1] - 1 - c};
        }
    auto const before = predecessor_lists(graph, chunk_of);
    WaitReduction forward(places, order.num_workers), backward(reversed, order.num_workers);
    for (TaskId const task : start_order) forward.add(chunk_of[task], before[chunk_of[task]]);
    std::vector<std::int32_t> after;
    for (auto task = start_order.rbegin(); task != start_order.rend(); ++task) {
        after.clear();
        for (TaskId const next : graph.successors_of(*task)) after.push_back(chunk_of[next]);
        backward.add(chunk_of[*task], after);
    }
    order.forward = forward.lists();
    order.backward = backward.lists();
}

/// The graph of the coarse tasks, numbered as their chunks.
TaskGraph chunk_tasks(ExecutionOrder const& order, TaskGraph const& coarse,
                      std::span<std::int32_t const> chunk_of) {
    std::vector<TaskEdge> edges;
    edges.reserve(coarse.successors.size());
    for (TaskId task = 0; task < coarse.num_tasks(); ++task)
        for (TaskId const next : coarse.successors_of(task))
            edges.push_back({chunk_of[task], chunk_of[next]});
    TaskGraph graph;
    connect_tasks(graph, coarse.num_tasks(), edges);
    graph.cost.resize(coarse.num_tasks());
    for (TaskId task = 0; task < coarse.num_tasks(); ++task) graph.cost[chunk_of[task]] = coarse.cost[task];
    graph.home.resize(coarse.num_tasks());
    for (WorkerId w = 0; w < order.num_workers; ++w)
        std::fill(graph.home.begin() + order.worker_ptr[w], graph.home.begin() + order.worker_ptr[w + 1], w);
    return graph;
}

/// Arranges the rows of all chunks. `aggregate_of` has the aggregate of each row, or is empty if there is one
/// chunk.
void arrange_rows(ExecutionOrder& order, RowPattern const& pattern, RowPattern const& dependences,
                  std::span<TaskId const> aggregate_of, Interrupt* interrupt) {
    std::vector<BlockRow> blocks; // first positions
    for (std::int32_t c = 0; c < order.num_chunks(); ++c)
        for (BlockRow p = order.chunk_ptr[c]; p < order.chunk_ptr[c + 1]; p += rows_per_block)
            blocks.push_back(p);
    blocks.push_back(pattern.num_rows);
    LargeVector<std::int32_t> depths(pattern.num_rows);
    check(interrupt);
    order.follows_closely = are_lines(dependences, 2);
    order.begins_depth.resize(pattern.num_rows);
    order.position_of.resize(pattern.num_rows);
    order.row_at.resize(pattern.num_rows);
    std::size_t const at_once = blocks.size() > 4096 ? 16 : 1; // blocks that a thread takes
    std::atomic<std::size_t> next{0};
    run_threads(team_size(order.num_workers), [&](int) {
        RowArrangement arrangement(pattern, dependences, aggregate_of, depths);
        for (std::size_t k; (k = next.fetch_add(at_once, std::memory_order_relaxed)) + 1 < blocks.size();) {
            check(interrupt);
            for (std::size_t end = std::min(k + at_once, blocks.size() - 1); k < end; ++k)
                arrangement.arrange(
                    std::span(order.ascending).subspan(blocks[k], blocks[k + 1] - blocks[k]), blocks[k],
                    {order.row_at.data(), order.position_of.data(), order.begins_depth.data()});
        }
    });
}

/// The order with all rows in one chunk on the first worker.
ExecutionOrder one_chunk_order(RowPattern const& pattern, int workers, bool has_nodes) {
    ExecutionOrder order;
    order.num_workers = workers;
    order.coarse_string = one_chunk;
    order.ascending.resize(pattern.num_rows);
    std::iota(order.ascending.begin(), order.ascending.end(), BlockRow(0));
    order.chunk_ptr = {0, pattern.num_rows};
    order.worker_ptr.assign(workers + 1, 1);
    order.worker_ptr[0] = 0;
    order.forward.ptr = order.backward.ptr = {0, 0};
    if (has_nodes) order.node_of_chunk = {0};
    connect_tasks(order.tasks, 1, {});
    order.tasks.cost = {static_cast<double>(pattern.num_blocks())};
    order.tasks.home = {0};
    return order;
}

/// Assigns the coarse tasks to workers: task t to owners[t], or to any worker if `owners` is empty.
/// num_rows(task) is the number of rows of a task, and write_rows(task, to) writes them.
template <class NumRows, class WriteRows>
void deal_tasks(ExecutionOrder& order, TaskGraph const& coarse, std::vector<int> const& node_of_worker,
                std::vector<WorkerId> const& owners, NumRows const& num_rows, WriteRows const& write_rows,
                Interrupt* interrupt) {
    NodeAffinity affinity{node_of_worker, {}};
    if (!owners.empty()) { // as if each worker were a node
        affinity.node_of_worker.resize(order.num_workers);
        std::iota(affinity.node_of_worker.begin(), affinity.node_of_worker.end(), 0);
        affinity.node_of_task = owners;
    } else if (!node_of_worker.empty()) {
        affinity.node_of_task = distribute_over_nodes(coarse, affinity.num_nodes());
    }
    auto const schedule = ListScheduler(coarse, order.num_workers, affinity, interrupt).run();
    order.coarse_edges = std::ssize(coarse.successors);
    order.chunk_ptr.push_back(0);
    order.worker_ptr.push_back(0);
    std::vector<std::int32_t> chunk_of(coarse.num_tasks());
    std::vector<TaskId> task_of(coarse.num_tasks());
    for (auto const& tasks : schedule.tasks_of) {
        for (TaskId const task : tasks) {
            chunk_of[task] = order.num_chunks();
            task_of[order.num_chunks()] = task;
            if (!node_of_worker.empty())
                order.node_of_chunk.push_back(owners.empty() ? affinity.of_task(task)
                                                             : node_of_worker[owners[task]]);
            order.chunk_ptr.push_back(order.chunk_ptr.back() + num_rows(task));
        }
        order.worker_ptr.push_back(order.num_chunks());
    }
    order.ascending.resize(order.chunk_ptr.back());
    int const threads = team_size(order.num_workers);
    run_threads(threads, [&](int t) {
        for (std::int32_t chunk = t; chunk < order.num_chunks(); chunk += threads)
            write_rows(task_of[chunk], order.ascending.data() + order.chunk_ptr[chunk]);
    });
    check(interrupt);
    find_waits(order, coarse, schedule.start_order, chunk_of);
    check(interrupt);
    order.tasks = chunk_tasks(order, coarse, chunk_of);
}

Pipeline pipeline_of(RowPattern const& dependences, int workers) {
    std::vector<Reach> sample;
    for (BlockRow const i : sampled_tasks(dependences.num_rows)) {
        auto const after = dependences.upper(i);
        if (after.empty()) continue;
        sample.push_back({after.back() - i, after.size() > 1 ? after[after.size() - 2] - i : 0});
    }
    return {dependences.num_rows, sample, workers};
}

/// Makes the order of a pipeline. If `pipeline` is null, makes the order of fast_string().
ExecutionOrder grouped_order(RowPattern const& pattern, RowPattern const& dependences, int workers,
                             Pipeline const* pipeline, std::vector<int> const& node_of_worker,
                             Interrupt* interrupt) {
    int const threads = team_size(workers);
    bool const lines = are_lines(dependences);
    auto row_ptr = pipeline ? pipeline->bounds()
                   : lines  ? lines_of_rows(dependences, length_of_lines(pattern.num_rows, workers), threads)
                            : trees_of_rows(dependences, size_of_trees(pattern.num_rows, workers), threads);
    check(interrupt);
    GroupedRows groups = connect_groups(pattern, dependences, std::move(row_ptr), threads);
    auto const coarse =
        quotient_graph(groups.graph, pipeline ? pipeline->aggregate(groups.graph, groups.row_ptr)
                                              : aggregate_grow_local(groups.graph, workers, interrupt));
    ExecutionOrder order;
    order.num_workers = workers;
    order.coarse_string = pipeline ? pipeline_string(workers) : fast_string(lines, pattern.num_rows, workers);
    auto const num_rows = [&](TaskId task) {
        BlockRow rows = 0;
        for (TaskId const group : coarse.parts_of(task))
            rows += groups.row_ptr[group + 1] - groups.row_ptr[group];
        return rows;
    };
    auto const write_rows = [&](TaskId task, BlockRow* to) {
        for (TaskId const group : coarse.parts_of(task))
            for (BlockRow i = groups.row_ptr[group]; i < groups.row_ptr[group + 1]; ++i) *to++ = i;
    };
    std::vector<WorkerId> owners;
    for (TaskId task = 0; pipeline && task < coarse.graph.num_tasks(); ++task)
        owners.push_back(pipeline->part_of(groups.row_ptr[coarse.parts_of(task).front()]));
    deal_tasks(order, coarse.graph, node_of_worker, owners, num_rows, write_rows, interrupt);
    LargeVector<TaskId>& aggregate_of = groups.group_of;
    for (TaskId& group : aggregate_of) group = coarse.aggregate_of[group];
    arrange_rows(order, pattern, dependences, aggregate_of, interrupt);
    return order;
}

} // namespace

TaskGraph row_tasks(RowPattern const& pattern) {
    if (!pattern.symmetric) {
        TaskGraph graph = row_tasks(symmetrized(pattern));
        for (BlockRow i = 0; i < pattern.num_rows; ++i)
            graph.cost[i] = static_cast<double>(pattern.row(i).size());
        return graph;
    }
    TaskGraph graph;
    BlockRow const n = pattern.num_rows;
    graph.num_predecessors.resize(n);
    graph.successor_ptr.reserve(n + 1);
    graph.successors.reserve(pattern.num_blocks() / 2);
    graph.cost.resize(n);
    for (BlockRow i = 0; i < n; ++i) {
        auto const after = pattern.upper(i);
        graph.successors.insert(graph.successors.end(), after.begin(), after.end());
        graph.successor_ptr.push_back(std::ssize(graph.successors));
        graph.num_predecessors[i] = static_cast<std::int32_t>(pattern.lower(i).size());
        graph.cost[i] = static_cast<double>(pattern.row(i).size());
    }
    return graph;
}

std::string fast_string(RowPattern const& pattern, int workers) {
    RowPattern const united = pattern.symmetric ? RowPattern() : symmetrized(pattern);
    return fast_string(are_lines(pattern.symmetric ? pattern : united), pattern.num_rows, workers);
}

std::string pipeline_string(int workers) {
    return fmt::format("W({})", workers);
}

bool has_pipeline(RowPattern const& pattern, int workers) {
    return pattern.symmetric && pipeline_of(pattern, workers).is_regular();
}

ExecutionOrder make_execution_order(RowPattern const& pattern, int workers, std::string const& coarse_string,
                                    std::vector<int> const& node_of_worker, Interrupt* interrupt) {
    check(interrupt);
    std::string const used = coarse_string.empty() && workers == 1 ? one_chunk : coarse_string;
    RowPattern const united = pattern.symmetric ? RowPattern() : symmetrized(pattern);
    RowPattern const& dependences = pattern.symmetric ? pattern : united;
    ExecutionOrder order;
    if (used == one_chunk && pattern.num_rows > 0) {
        order = one_chunk_order(pattern, workers, !node_of_worker.empty());
        arrange_rows(order, pattern, dependences, {}, interrupt);
        return order;
    }
    if (used.empty()) return grouped_order(pattern, dependences, workers, nullptr, node_of_worker, interrupt);
    if (used == pipeline_string(workers))
        if (auto const pipeline = pipeline_of(dependences, workers); pipeline.is_regular())
            return grouped_order(pattern, dependences, workers, &pipeline, node_of_worker, interrupt);
    bool const is_plain = used == "none" || used == one_chunk;
    auto const coarse = coarsen(row_tasks(pattern), is_plain ? "B(1)" : used,
                                CoarseOperators::standard(interrupt), interrupt);
    order.num_workers = workers;
    order.coarse_string = used;
    auto const num_rows = [&](TaskId task) { return static_cast<BlockRow>(coarse.parts_of(task).size()); };
    auto const write_rows = [&](TaskId task, BlockRow* to) { std::ranges::copy(coarse.parts_of(task), to); };
    deal_tasks(order, coarse.graph, node_of_worker, {}, num_rows, write_rows, interrupt);
    arrange_rows(order, pattern, dependences, coarse.aggregate_of, interrupt);
    return order;
}

ChunkProgress::ChunkProgress(int workers)
    : num_workers_(workers), counters_(std::make_unique<Counter[]>(2 * static_cast<std::size_t>(workers))) {}

void ChunkProgress::reset() {
    for (int k = 0; k < 2 * num_workers_; ++k) counters_[k].done.store(0, std::memory_order_relaxed);
}

void ChunkProgress::pause(int spins, bool yields) {
    if (yields || spins > pauses_before_yield)
        std::this_thread::yield();
    else
        relax_processor();
}

} // namespace espalier
