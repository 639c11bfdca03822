// The threads of a team are started by its first call, and woken for each call by a generation number.
#include "runtime/worker_team.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <pthread.h>
#include <unistd.h>

namespace espalier {

namespace {

/// An idle worker spins about as long as a sleep and a wake-up take. If workers share cores, spinning only
/// takes time from workers with tasks.
Spin choose_spin(Topology const& topology, int workers, bool bound) {
    static int const here =
        static_cast<int>(std::thread::hardware_concurrency()); // reads a file at each call
    bool const own_cores = workers <= topology.num_cores() && workers <= topology.default_threads() &&
                           workers <= here && !topology.crowded();
    return {own_cores ? std::chrono::microseconds(50) : std::chrono::microseconds(2), !bound};
}

/// The threads of the caller handle signals.
void block_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

int checked_num_workers(Topology const& topology, int threads) {
    if (threads < 0 || threads > WorkerTeam::max_workers)
        throw Error(Status::usage,
                    fmt::format("{} threads were requested; expected 1 to {}, or 0 for one on each core",
                                threads, WorkerTeam::max_workers));
    return threads > 0 ? threads : topology.default_threads();
}

} // namespace

class WorkerTeam::Threads {
  public:
    using Job = std::function<void(WorkerId)>;

    Threads(std::vector<WorkerPlace> places, Spin spin) : places_(std::move(places)), spin_(spin) {}
    ~Threads() { stop(); }

    /// Starts the threads if they do not run yet. After an error it can be called again.
    void start() {
        if (!threads_.empty() || size() == 1) return;
        process_ = getpid();
        stopped_.store(false, std::memory_order_relaxed);
        generation_.store(0, std::memory_order_relaxed);
        active_.store(size() - 1, std::memory_order_relaxed);
        try {
            threads_.reserve(places_.size() - 1);
            for (WorkerId w = 1; w < size(); ++w) threads_.emplace_back([this, w] { main_of(w); });
        } catch (...) { // threads that have started must be joined
            Error const error = thread_error("a worker");
            stop();
            throw error;
        }
        wait_until_done(); // all have tried to bind themselves
    }

    [[nodiscard]] int size() const { return static_cast<int>(places_.size()); }
    [[nodiscard]] std::vector<WorkerPlace> const& places() const { return places_; }
    /// False in a child that fork() has made: it has a copy of this object, but not of the threads.
    [[nodiscard]] bool are_here() const { return threads_.empty() || process_ == getpid(); }
    [[nodiscard]] bool bound() {
        start(); // The system may refuse to bind them.
        return places_.front().pu >= 0 && !refused_.load(std::memory_order_relaxed);
    }

    /// One call at a time, by scope.
    class Claim {
      public:
        explicit Claim(Threads& threads) : threads_(threads) {
            if (threads.claimed_.exchange(true, std::memory_order_acquire))
                throw Error(Status::usage,
                            "the worker team is already at work: calls cannot be nested or concurrent");
        }
        ~Claim() { threads_.claimed_.store(false, std::memory_order_release); }
        Claim(Claim const&) = delete;
        Claim& operator=(Claim const&) = delete;

      private:
        Threads& threads_;
    };

    /// job(w) on every worker, job(0) here; returns when all have returned. The job must not throw. Needs
    /// start().
    void launch(Job const& job) {
        AffinityScope const affinity(places_.front().pu);
        if (size() > 1) {
            std::lock_guard const lock(mutex_);
            job_ = &job;
            active_.store(size() - 1, std::memory_order_relaxed);
            generation_.fetch_add(1, std::memory_order_release);
        }
        if (size() > 1) start_.notify_all();
        job(0);
        wait_until_done();
    }

  private:
    void main_of(WorkerId worker) {
        block_signals();
        pthread_setname_np(pthread_self(), ("espalier-" + std::to_string(worker)).c_str());
        int const pu = places_[worker].pu;
        if (pu >= 0 && !bind_this_thread(pu)) refused_.store(true, std::memory_order_relaxed);
        report_done();
        for (std::uint32_t seen = 0;; ++seen) {
            await_generation(seen + 1);
            if (stopped_.load(std::memory_order_relaxed)) return;
            (*job_)(worker);
            report_done();
        }
    }

    void await_generation(std::uint32_t wanted) {
        auto const come = [&] { return generation_.load(std::memory_order_acquire) == wanted; };
        if (spin_until(spin_, come)) return;
        std::unique_lock lock(mutex_);
        start_.wait(lock, come);
    }

    void report_done() {
        if (active_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        {
            std::lock_guard const lock(mutex_);
        } // the caller is before its check or in its wait
        done_.notify_one();
    }

    void wait_until_done() {
        auto const done = [&] { return active_.load(std::memory_order_acquire) == 0; };
        if (spin_until(spin_, done)) return;
        std::unique_lock lock(mutex_);
        done_.wait(lock, done);
    }

    void stop() {
        {
            std::lock_guard const lock(mutex_);
            stopped_.store(true, std::memory_order_relaxed);
            generation_.fetch_add(1, std::memory_order_release);
        }
        start_.notify_all();
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

    std::vector<WorkerPlace> places_;
    Spin spin_;
    pid_t process_ = 0; ///< The process that started the threads.
    std::atomic<bool> claimed_{false};
    std::atomic<bool> refused_{false};
    std::atomic<bool> stopped_{false};
    Job const* job_ = nullptr;
    // Written by the caller, once a call.
    alignas(64) std::atomic<std::uint32_t> generation_{0};
    // Written by each worker, once a call.
    alignas(64) std::atomic<int> active_{0};
    alignas(64) std::mutex mutex_;
    std::condition_variable start_;
    std::condition_variable done_;
    std::vector<std::thread> threads_;
};

WorkerTeam::WorkerTeam(Topology const& topology, int threads, bool bind) {
    int const workers = checked_num_workers(topology, threads);
    std::vector<WorkerPlace> const places = place_workers(topology, workers, bind);
    Spin const spin = choose_spin(topology, workers, places.front().pu >= 0);
    threads_ = std::make_unique<Threads>(places, spin);
    run_ = std::make_unique<GraphRun>(workers, spin);
}

WorkerTeam::~WorkerTeam() {
    // In a forked child the threads cannot be joined, nor the condition variables destroyed on which they
    // wait.
    if (!threads_->are_here()) (void)threads_.release();
}

void WorkerTeam::start() {
    threads_->start();
}
int WorkerTeam::size() const {
    return threads_->size();
}
std::vector<WorkerPlace> const& WorkerTeam::places() const {
    return threads_->places();
}
std::vector<int> WorkerTeam::node_of_worker() const {
    std::vector<int> nodes;
    for (WorkerPlace const& place : places()) nodes.push_back(place.node);
    return nodes;
}
bool WorkerTeam::bound() const {
    return threads_->bound();
}

void WorkerTeam::record(trace::Recorder* recorder) {
    if (recorder == recorder_) return;
    std::vector<trace::Track*> tracks(recorder ? size() : 0);
    if (recorder) // each on its own thread, so that its memory is on the node of the worker
        for_each_worker([&](WorkerId w) {
            tracks[w] = &recorder->add_thread({.worker = w, .node = places()[w].node, .name = {}});
        });
    run_->record(tracks);
    tracks_ = std::move(tracks);
    recorder_ = recorder;
}

void WorkerTeam::for_each_worker(std::function<void(WorkerId)> const& body) {
    Threads::Claim const claim(*threads_);
    threads_->start();
    FirstError error;
    threads_->launch([&](WorkerId worker) {
        try {
            body(worker);
        } catch (...) {
            error.capture();
        }
    });
    error.rethrow();
}

// On two cores, a run with a second worker takes 16 to 30 us longer than its tasks if these are short.
bool is_short(TaskGraph const& graph, int workers, double times) {
    double const short_s = workers == 1 ? 2e-3 : 5e-5;
    constexpr TaskId most_tasks = 200; // each takes some time besides its cost
    return graph.num_tasks() <= most_tasks &&
           times * std::accumulate(graph.cost.begin(), graph.cost.end(), 0.0) < short_s;
}

void WorkerTeam::for_each_worker(bool together, std::function<void(WorkerId)> const& body) {
    if (together) return for_each_worker(body);
    Threads::Claim const claim(*threads_);
    for (WorkerId w = 0; w < size(); ++w) body(w);
}

RunStats WorkerTeam::run(TaskGraph const& graph, Policy& policy, TaskBody const& body,
                         RunOptions const& options) {
    Threads::Claim const claim(*threads_);
    threads_->start();
    run_->begin(graph, policy, body, options);
    if (options.on_start) run_->guard(options.on_start);
    threads_->launch([this](WorkerId worker) { run_->work(worker); });
    return run_->finish();
}

void WorkerTeam::run_alone(TaskGraph const& graph, TaskBody const& body) {
    Threads::Claim const claim(*threads_);
    for (TaskId task = 0; task < graph.num_tasks(); ++task) body(task, std::max(graph.home_of(task), 0));
}

} // namespace espalier
