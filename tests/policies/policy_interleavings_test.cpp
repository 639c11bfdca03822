// The queue of ready tasks and the protocol of a last check before sleep, in every interleaving of their
// atomic steps; and the dynamic policies under real threads.

#include "policies/interleavings.hpp"
#include "policies/make_policy.hpp"
#include "policies/ready_queue.hpp"
#include "policies/settings.hpp"
#include "runtime/support.hpp"

namespace espalier {
namespace {

using SteppedQueue = BasicReadyQueue<SteppedAtomics>;

/// Runs the bodies on a new queue in every schedule. The tasks that they took and those that are left must be
/// `tasks`, each once. Returns the number of schedules in which they were not.
struct QueueSearch {
    std::optional<SteppedQueue> queue;
    std::vector<TaskId> taken;

    void pop() {
        if (TaskId const task = queue->pop(); task != no_task) taken.push_back(task);
    }

    Interleavings::Result explore(std::vector<Interleavings::Body> const& bodies, std::vector<TaskId> tasks,
                                  int& wrong) {
        wrong = 0;
        return Interleavings::explore(
            bodies, [&] { taken.clear(), queue.emplace(); },
            [&] {
                EXPECT_EQ(queue->empty(), taken.size() == tasks.size());
                while (!queue->empty()) pop();
                std::sort(taken.begin(), taken.end());
                wrong += taken != tasks;
            });
    }
};

TEST(ReadyQueue, NeitherLosesNorRepeatsATaskInAnyInterleaving) {
    QueueSearch search;
    auto const pop = [&] { search.pop(); };
    int wrong = 0;
    // A pop of an empty queue is one step, others four, a push three; a wait for the lock is one more.
    auto result = search.explore(
        {[&] { search.queue->push(1, 0), search.queue->push(2, 1); }, [&] { search.pop(), search.pop(); }},
        {1, 2}, wrong);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(result.deadlocks, 0);
    EXPECT_GT(result.schedules, 100);

    result = search.explore({[&] { search.queue->push(1, 0); }, pop, pop}, {1}, wrong);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(result.deadlocks, 0);
    EXPECT_GT(result.schedules, 100);
}

/// Workers that sleep and workers that wake them, as in graph_run.hpp. The former (1) announce that they
/// sleep, (3) check a last time, and (4) wait; the latter (1) push and (3) wake a worker that has announced
/// it. The full fences (2) are in the order of the steps.
struct Bed {
    SteppedAtomic<bool> asleep;

    template <class Look> TaskId sleep_until_found(Look look) {
        for (;;) {
            asleep.store(true);
            if (TaskId const task = look(); task != no_task) return task;
            Interleavings::wait_until([&] { return !asleep.peek(); });
        }
    }
    void announce() {
        if (asleep.load()) asleep.store(false);
    }
};

TEST(ReadyQueue, ACheckOfTheSizeBeforeSleepMissesNoTask) {
    std::optional<SteppedQueue> queue;
    std::optional<Bed> bed;
    TaskId found = no_task;
    auto const start = [&] { queue.emplace(), bed.emplace(), found = no_task; };
    auto const end = [&] { EXPECT_EQ(found, 5); };
    auto const push = [&] { queue->push(5, 0), bed->announce(); };
    auto result = Interleavings::explore(
        {push, [&] { found = bed->sleep_until_found([&] { return queue->pop(); }); }}, start, end);
    EXPECT_EQ(result.deadlocks, 0);
    EXPECT_GT(result.schedules, 30);

    // The search finds the error if the last check precedes the announcement.
    auto const too_early = [&] {
        found = queue->pop();
        bed->asleep.store(true);
        if (found == no_task) Interleavings::wait_until([&] { return !bed->asleep.peek(); });
    };
    result = Interleavings::explore({push, too_early}, start, [] {});
    EXPECT_GT(result.deadlocks, 0);
}

TEST(ReadyQueue, ACheckOfSeveralQueuesMissesNoTaskThatIsPutBackIntoAnother) {
    // A worker finds that the resource of a task is held. The holder pushes the task again, perhaps into a
    // queue that the thief has already checked.
    std::optional<SteppedQueue> first, second;
    std::optional<Bed> bed;
    int found = 0;
    auto const put_back = [&] {
        TaskId const task = second->pop();
        if (task == no_task) return;
        first->push(task, 0);
        bed->announce();
    };
    auto const thief = [&] {
        bed->sleep_until_found([&] {
            TaskId const task = first->pop();
            return task != no_task ? task : second->pop();
        });
        ++found;
    };
    auto const result = Interleavings::explore(
        {put_back, thief},
        [&] {
            first.emplace(), second.emplace(), bed.emplace();
            second->push(3, 0);
            found = 0;
        },
        [&] {
            EXPECT_EQ(found, 1);
            EXPECT_TRUE(first->empty() && second->empty());
        });
    EXPECT_EQ(result.deadlocks, 0);
    EXPECT_GT(result.schedules, 100);
}

/// A flag that is read and set in two steps.
struct BrokenAtomics : SteppedAtomics {
    struct Flag : SteppedFlag {
        SteppedAtomic<bool> value;
        bool test_and_set(std::memory_order = {}) {
            bool const was = value.load();
            value.store(true);
            return was;
        }
        [[nodiscard]] bool test(std::memory_order = {}) const {
            Interleavings::wait_until([this] { return !value.peek(); });
            return value.peek();
        }
        void clear(std::memory_order = {}) { value.store(false); }
    };
};

TEST(ReadyQueue, TheSearchFindsALockThatTwoThreadsCanHold) {
    std::optional<BasicSpinLock<BrokenAtomics>> lock;
    int inside = 0, crowded = 0;
    auto const enter = [&] {
        std::lock_guard const guard(*lock);
        ++inside;
        Interleavings::step();
        crowded += inside > 1;
        --inside;
    };
    Interleavings::explore({enter, enter}, [&] { lock.emplace(), inside = 0; }, [] {});
    EXPECT_GT(crowded, 0);
}

TEST(ReadyQueue, ServesByPriorityThenByNumber) {
    ReadyQueue queue;
    EXPECT_EQ(queue.pop(), no_task);
    for (auto const& [task, priority] : {std::pair{4, 1.0}, {2, 1.0}, {7, 3.0}, {1, -1.0}})
        queue.push(task, priority);
    std::vector<TaskId> order;
    while (!queue.empty()) order.push_back(queue.pop());
    EXPECT_EQ(order, (std::vector<TaskId>{7, 2, 4, 1}));
}

std::string describe(ScheduleSettings const& settings) {
    return std::string(to_string(settings.schedule)) + ' ' + to_string(settings.push) + ' ' +
           to_string(settings.select) + (settings.strict ? " strict" : "");
}

TEST(DynamicPolicies, RunEveryTaskOnceUnderThreads) {
    constexpr TaskId tasks = 400;
    constexpr int workers = 4;
    PolicyMachine const here({0, 0, 1, 1});
    WorkerTeam team(machine(), workers, false);
    std::mt19937 random(3);
    unsigned seed = 0;
    for (ScheduleSettings const& settings : dynamic_settings()) {
        SCOPED_TRACE(describe(settings));
        auto const edges = random_edges(tasks, 1, ++seed);
        TaskGraph graph = graph_of(tasks, edges);
        std::vector<WorkerRange> candidates;
        for (TaskId t = 0; t < tasks; ++t) {
            candidates.push_back(random_range(random, workers));
            graph.home.push_back(t % 5 == 0 ? any_worker : candidates.back().first);
            graph.priority.push_back(static_cast<double>(random() % 50));
        }
        auto const policy = make_policy(settings, graph, here, {nullptr, &candidates});
        run_checked(team, edges, tasks, *policy); // twice: a policy that has run to the end is empty
        run_checked(team, edges, tasks, *policy);
        for (WorkerId w = 0; w < workers; ++w) EXPECT_EQ(policy->pop(w), no_task);
    }
}

} // namespace
} // namespace espalier
