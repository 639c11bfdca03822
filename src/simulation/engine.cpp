#include "simulation/engine.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "policies/exclusion.hpp"

namespace espalier {

namespace {

struct Finish {
    double time;
    TaskId task;
    WorkerId worker; ///< any_worker for a message on the network.
    bool operator>(Finish const& other) const {
        return std::tuple(time, task, worker) > std::tuple(other.time, other.task, other.worker);
    }
};

// The state of a message.
enum class Stage { to_send, on_the_way, comes_in, to_receive };

// The messages that the workers of a process must send or receive.
struct Inbox {
    std::deque<TaskId> waiting;
    bool is_handled = false; // A worker handles a message that is not in the list any more.
};

// A task that has been divided.
struct Divided {
    WorkerRange helpers;
    std::vector<std::vector<double>> stages; ///< Seconds of the pieces.
    std::size_t stage = 0;                   ///< The stage that runs, ...
    std::size_t next = 0;                    ///< ... and its first piece that has not started.
    int running = 0;

    [[nodiscard]] bool is_open() const { return stage < stages.size() && next < stages[stage].size(); }
};

class Engine : IdleWorkers {
  public:
    Engine(TaskGraph const& graph, Policy& policy, int workers, Transit* transit, TaskClock* clock,
           Divisions const* divisions)
        : graph_(graph), policy_(policy), workers_(workers), transit_(transit), clock_(clock),
          divisions_(divisions), waiting_(graph.num_predecessors), pushed_(graph.num_tasks()) {
        TaskId const tasks = graph.num_tasks();
        if (std::ssize(graph.cost) != tasks || std::ssize(graph.priority) != tasks)
            throw Error(Status::internal, fmt::format("simulation: {} tasks with {} costs and {} priorities",
                                                      tasks, graph.cost.size(), graph.priority.size()));
        exclusion_.begin(graph);
        result_.start.assign(tasks, -1.0);
        result_.end.assign(tasks, 0.0);
        result_.worker_of_task.assign(tasks, any_worker);
        result_.lists.resize(workers);
        result_.busy.assign(workers, 0.0);
        result_.communication.assign(workers, 0.0);
        taken_before_.assign(workers, 0.0);
        for (WorkerId w = 0; w < workers; ++w) idle_.insert(idle_.end(), w);
    }

    TimedRun run() {
        for (TaskId t = 0; t < graph_.num_tasks(); ++t)
            if (waiting_[t] == 0) make_ready(t, graph_.home_of(t));
        for (assign(); !running_.empty(); assign()) {
            now_ = running_.top().time;
            while (!running_.empty() && running_.top().time == now_) finish_next();
        }
        for (TaskId t = 0; t < graph_.num_tasks(); ++t)
            if (result_.start[t] < 0)
                throw Error(Status::internal, fmt::format("simulation: task {} never ran", t));
        result_.makespan = now_;
        return std::move(result_);
    }

  private:
    [[nodiscard]] WorkerId first_in(WorkerRange range) const override {
        auto const at = idle_.lower_bound(range.first);
        return at != idle_.end() && *at < range.end ? *at : any_worker;
    }
    [[nodiscard]] WorkerId last_in(WorkerRange range) const override {
        auto const past = idle_.lower_bound(range.end);
        return past != idle_.begin() && *std::prev(past) >= range.first ? *std::prev(past) : any_worker;
    }

    [[nodiscard]] bool is_message(TaskId task) const { return transit_ && transit_->carries(task); }

    // Worker 0 pushes tasks without a home. The runtime does the same.
    [[nodiscard]] WorkerId home_of(TaskId task) const { return std::max(graph_.home_of(task), 0); }

    void send(TaskId message) {
        result_.start[message] = now_;
        if (!leave_to_worker(message, Transit::End::sender)) travel(message);
    }

    void travel(TaskId message) {
        stage_[message] = Stage::on_the_way;
        running_.push({transit_->reach(message, now_), message, any_worker});
    }

    // Whether a worker must send or receive the message.
    bool leave_to_worker(TaskId message, Transit::End end) {
        auto const handling = transit_->handling(message, end);
        if (!handling) return false;
        stage_[message] = end == Transit::End::sender ? Stage::to_send : Stage::to_receive;
        inboxes_[handling->workers.first].waiting.push_back(message);
        return true;
    }

    // Idle workers send and receive messages before they take tasks, one at a time in each process.
    void handle_messages() {
        for (auto& [first, inbox] : inboxes_) {
            if (inbox.is_handled || inbox.waiting.empty()) continue;
            TaskId const message = inbox.waiting.front();
            auto const end = end_of(message);
            Handling const handling = *transit_->handling(message, end);
            WorkerId const worker = first_in(handling.workers);
            if (worker == any_worker) continue;
            inbox.waiting.pop_front();
            inbox.is_handled = true;
            idle_.erase(worker);
            running_.push({now_ + handling.seconds, message, worker});
            result_.communication[worker] += handling.seconds;
            result_.transfers.push_back({message, end, worker, now_, now_ + handling.seconds});
        }
    }

    [[nodiscard]] Transit::End end_of(TaskId message) const {
        return stage_.at(message) == Stage::to_send ? Transit::End::sender : Transit::End::receiver;
    }

    // The message has reached the end of a stage. Returns whether this was its last stage.
    bool advance(TaskId message, WorkerId worker) {
        if (worker != any_worker) {
            inboxes_[transit_->handling(message, end_of(message))->workers.first].is_handled = false;
            set_free(worker);
        }
        switch (stage_.at(message)) {
        case Stage::to_send:
            travel(message);
            return false;
        case Stage::on_the_way:
            stage_[message] = Stage::comes_in;
            running_.push({transit_->arrive(message, now_), message, any_worker});
            return false;
        case Stage::comes_in:
            if (leave_to_worker(message, Transit::End::receiver)) return false;
            break;
        case Stage::to_receive:
            break;
        }
        stage_.erase(message);
        result_.end[message] = now_;
        return true;
    }

    // If a communication thread has used the core of the worker since the task started, the task ends later.
    bool must_go_on(TaskId task, WorkerId worker) {
        if (!transit_) return false;
        double const taken = transit_->taken_from(worker, now_);
        double const left = taken - taken_before_[worker]; // seconds of work
        if (!(left > 0)) return false;
        // While the communication thread uses the core, the task makes no progress.
        double const wait = transit_->free_from(worker, now_) - now_;
        double const lost = wait > 0 ? wait : left;
        taken_before_[worker] = wait > 0 ? taken_before_[worker] + wait : taken;
        result_.communication[worker] += lost;
        running_.push({now_ + lost, task, worker});
        if (result_.worker_of_task[task] == worker) result_.end[task] = now_ + lost;
        for (std::size_t k = result_.helped.size(); k-- > 0;)
            if (result_.helped[k].worker == worker) {
                if (result_.helped[k].task == task) result_.helped[k].end = now_ + lost;
                break;
            }
        return true;
    }

    void set_free(WorkerId worker) {
        idle_.insert(worker);
        freed_.push_back(worker);
    }

    // The time that a communication thread used the core until now does not delay what starts now.
    void note_taken(WorkerId worker) {
        if (transit_) taken_before_[worker] = transit_->taken_from(worker, now_);
    }

    void make_ready(TaskId task, WorkerId by) {
        if (is_message(task)) return send(task);
        WorkerId const target = policy_.push(task, by == any_worker ? home_of(task) : by);
        pushed_[task] = {target, by != any_worker && policy_.in_own_queue(by, task) ? by : any_worker};
        ready_.push_back({graph_.priority[task], task});
    }

    void run_until(double end, TaskId task, WorkerId worker) {
        result_.start[task] = now_;
        result_.end[task] = end;
        result_.worker_of_task[task] = worker;
        running_.push({end, task, worker});
    }

    void start(TaskId task, WorkerId worker) {
        double seconds = clock_ ? clock_->begin(task, worker, now_) : graph_.cost[task];
        idle_.erase(worker);
        note_taken(worker);
        if (should_divide(task)) seconds = divide(task, seconds);
        run_until(now_ + seconds, task, worker);
        result_.lists[worker].push_back(task);
        result_.busy[worker] += seconds;
        if (auto const steal = policy_.on_start(worker))
            result_.steals.push_back({now_, task, worker, steal->victim, steal->distance});
        help();
    }

    [[nodiscard]] bool should_divide(TaskId task) const {
        if (!divisions_ || now_ == 0) return false; // at the start all workers search for a task
        WorkerRange const helpers = divisions_->helpers(task);
        if (helpers.count() == 1) return false;
        int needed = divisions_->least_idle();
        for (std::set<WorkerId> const* const without_task : {&idle_, &helping_})
            for (auto at = without_task->lower_bound(helpers.first);
                 at != without_task->end() && *at < helpers.end; ++at)
                if (--needed == 0) return true;
        return false;
    }

    // Returns the time of the first piece. Distance and contention slow all pieces down alike.
    double divide(TaskId task, double seconds) {
        Divided& divided = divided_[task];
        divided.helpers = divisions_->helpers(task);
        double const slowdown = graph_.cost[task] > 0 ? seconds / graph_.cost[task] : 1;
        divided.stages = divisions_->divide(task);
        for (auto& pieces : divided.stages) {
            std::erase(pieces, 0.0);
            for (double& piece : pieces) piece *= slowdown;
        }
        std::erase_if(divided.stages, [](auto const& pieces) { return pieces.empty(); });
        divided.running = 1;
        return divided.is_open() ? divided.stages[0][divided.next++] : 0;
    }

    void start_piece(TaskId task, Divided& divided, WorkerId worker) {
        double const seconds = divided.stages[divided.stage][divided.next++];
        ++divided.running;
        note_taken(worker);
        running_.push({now_ + seconds, task, worker});
        result_.busy[worker] += seconds;
        if (worker != result_.worker_of_task[task]) {
            helping_.insert(worker);
            result_.helped.push_back({task, worker, now_, now_ + seconds});
        }
    }

    // `worker` has ended a piece. Returns whether the whole task has ended.
    bool go_on(TaskId task, Divided& divided, WorkerId worker) {
        --divided.running;
        WorkerId const own = result_.worker_of_task[task];
        if (divided.is_open()) {
            start_piece(task, divided, worker);
            return false;
        }
        if (worker != own) {
            helping_.erase(worker);
            set_free(worker);
        }
        if (divided.running > 0) return false;
        ++divided.stage;
        divided.next = 0;
        if (!divided.is_open()) return true;
        start_piece(task, divided, own);
        return false;
    }

    // Idle workers start the pieces that they may help with.
    void help() {
        for (auto& [task, divided] : divided_) {
            while (divided.is_open()) {
                WorkerId const helper = first_in(divided.helpers);
                if (helper == any_worker) break;
                idle_.erase(helper);
                start_piece(task, divided, helper);
            }
        }
    }

    TaskId take(WorkerId worker) {
        TaskId task = policy_.pop(worker);
        while (task != no_task && !exclusion_.acquire(task)) task = policy_.pop(worker);
        return task;
    }

    void finish_next() {
        auto const [time, task, last] = running_.top();
        running_.pop();
        if (is_message(task)) {
            if (!advance(task, last)) return;
        } else if (must_go_on(task, last)) {
            return;
        }
        if (auto const divided = divided_.find(task); divided != divided_.end()) {
            if (!go_on(task, divided->second, last)) return;
            divided_.erase(divided);
            result_.end[task] = time;
        }
        WorkerId const worker = result_.worker_of_task[task];
        if (worker != any_worker) {
            set_free(worker);
            if (clock_) clock_->end(task, worker);
        }
        if (TaskId const queued = exclusion_.release(task); queued != no_task) make_ready(queued, worker);
        for (TaskId const next : graph_.successors_of(task))
            if (--waiting_[next] == 0) make_ready(next, worker);
    }

    // Afterwards no idle worker may run any of the tasks that wait. Pieces go first.
    void assign() {
        handle_messages();
        help();
        std::sort(ready_.rbegin(), ready_.rend());
        for (ReadyTask const& ready : ready_) offer(ready.task);
        ready_.clear();
        for (WorkerId const worker : freed_)
            if (idle_.contains(worker))
                if (TaskId const task = take(worker); task != no_task) start(task, worker);
        freed_.clear();
    }

    // Wakes workers until the task runs. A worker may take another task that it prefers.
    void offer(TaskId task) {
        while (result_.start[task] < 0) {
            WorkerId const worker = choose_worker(task);
            if (worker == any_worker) return;
            TaskId const taken = take(worker);
            if (taken == no_task) return;
            start(taken, worker);
        }
    }

    [[nodiscard]] WorkerId choose_worker(TaskId task) const {
        auto const [target, owner] = pushed_[task];
        if (owner != any_worker && idle_.contains(owner)) return owner;
        return policy_.worker_to_wake(task, target, home_of(task), workers_, *this);
    }

    struct Pushed {
        WorkerId target = any_worker; ///< The result of Policy::push.
        WorkerId owner = any_worker;  ///< The worker that made the task ready, if it is in its own queue.
    };

    TaskGraph const& graph_;
    Policy& policy_;
    int workers_;
    Transit* transit_;
    TaskClock* clock_;
    Divisions const* divisions_;
    Exclusion exclusion_;
    std::vector<std::int32_t> waiting_; // predecessors that have not ended
    std::vector<Pushed> pushed_;
    std::unordered_map<TaskId, Stage> stage_; // by message that has not arrived
    std::map<WorkerId, Inbox> inboxes_;       // by the first worker of the process
    std::vector<double> taken_before_;        // by worker: Transit::taken_from when its task was started
    std::set<WorkerId> idle_;
    std::set<WorkerId> helping_; // workers that execute pieces of tasks of other workers
    std::map<TaskId, Divided> divided_;
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> running_;
    std::vector<ReadyTask> ready_; // since the last assignment
    std::vector<WorkerId> freed_;  // since the last assignment
    double now_ = 0;
    TimedRun result_;
};

} // namespace

TimedRun simulate(TaskGraph const& graph, Policy& policy, int workers, Transit* transit, TaskClock* clock,
                  Divisions const* divisions) {
    return Engine(graph, policy, workers, transit, clock, divisions).run();
}

} // namespace espalier
