// Runs a few short threads in every interleaving. The atomics of the code under test are replaced by atomics
// that let another thread continue before each operation. A depth-first search over these choices runs the
// threads repeatedly until all schedules were tried. Operations take effect in program order; the thread
// sanitizer checks for errors that need a weakly ordered machine. The search can be limited to schedules with
// few preemptions, which show most errors (Musuvathi, Qadeer 2007).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace espalier {

class Interleavings {
  public:
    using Body = std::function<void()>;

    struct Result {
        int schedules = 0;
        int deadlocks = 0; ///< Schedules that ended with threads waiting for each other.
    };

    /// Calls start() before each schedule and end() after it, both on the calling thread.
    static Result explore(std::vector<Body> const& bodies, Body const& start, Body const& end) {
        Interleavings search(bodies);
        Result result;
        do {
            start();
            ++result.schedules;
            result.deadlocks += search.run();
            end();
        } while (search.backtrack());
        return result;
    }

    /// The atomics call this before each operation. On threads that are not explored nothing happens.
    static void step() {
        if (current_) current_->hand_on(nullptr);
    }
    /// The thread continues at some time when ready() is true.
    static void wait_until(std::function<bool()> const& ready) {
        if (current_) current_->hand_on(&ready);
    }

  private:
    struct Stop {}; // unwinds the threads of a deadlock
    struct Choice {
        int taken, count;
    };
    static constexpr int outside = -1; // the calling thread of explore()

    explicit Interleavings(std::vector<Body> const& bodies) : bodies_(bodies) {
        for (int t = 0; t < static_cast<int>(bodies.size()); ++t)
            threads_.emplace_back([this, t] { serve(t); });
    }
    ~Interleavings() {
        ends_ = true;
        for (int t = 0; t < static_cast<int>(threads_.size()); ++t) {
            give(t);
            threads_[t].join();
        }
    }

    int run() {
        depth_ = 0;
        deadlock_ = false;
        done_.assign(bodies_.size(), false);
        waits_.assign(bodies_.size(), nullptr);
        give(next(outside));
        await(outside);
        return deadlock_;
    }

    bool backtrack() {
        while (!choices_.empty() && ++choices_.back().taken == choices_.back().count) choices_.pop_back();
        return !choices_.empty();
    }

    void serve(int self) {
        for (;;) {
            await(self);
            if (ends_) return;
            current_ = this;
            self_ = self;
            if (!deadlock_) {
                try {
                    bodies_[self]();
                } catch (Stop const&) {
                }
            }
            current_ = nullptr;
            done_[self] = true;
            give(next(outside));
        }
    }

    void hand_on(std::function<bool()> const* ready) {
        int const self = self_;
        waits_[self] = ready;
        if (int const chosen = next(ready ? outside : self); chosen != self) {
            give(chosen);
            await(self);
        }
        waits_[self] = nullptr;
        if (deadlock_ && ready) throw Stop{};
    }

    /// Chooses the thread that continues; `running` could. If none can although some are not finished, all
    /// are unwound.
    int next(int running) {
        std::vector<int> able;
        if (running != outside) able.push_back(running);
        for (int t = 0; t < static_cast<int>(bodies_.size()); ++t)
            if (t != running && !done_[t] && (deadlock_ || !waits_[t] || (*waits_[t])())) able.push_back(t);
        if (able.empty()) {
            for (int t = 0; t < static_cast<int>(bodies_.size()); ++t)
                if (!done_[t]) return deadlock_ = true, t;
            return outside;
        }
        if (deadlock_) return able.front();
        if (depth_ == choices_.size()) choices_.push_back({0, static_cast<int>(able.size())});
        return able[choices_[depth_++].taken];
    }

    void give(int thread) {
        turn_.store(thread, std::memory_order_release);
        turn_.notify_all();
    }
    void await(int thread) {
        for (int turn = turn_.load(std::memory_order_acquire); turn != thread;
             turn = turn_.load(std::memory_order_acquire))
            turn_.wait(turn, std::memory_order_acquire);
    }

    std::vector<Body> const& bodies_;
    std::atomic<int> turn_{outside};
    // Touched only by the thread whose turn it is.
    std::vector<Choice> choices_;
    std::size_t depth_ = 0;
    bool deadlock_ = false;
    bool ends_ = false;
    std::vector<bool> done_;
    std::vector<std::function<bool()> const*> waits_; ///< Null: the thread can continue.
    std::vector<std::thread> threads_;
    inline static thread_local Interleavings* current_ = nullptr;
    inline static thread_local int self_ = outside;
};

/// A plain value, as only one thread runs at a time.
template <class Value> class SteppedAtomic {
  public:
    explicit SteppedAtomic(Value value = {}) : value_(value) {}
    Value load(std::memory_order = {}) const { return Interleavings::step(), value_; }
    void store(Value value, std::memory_order = {}) { Interleavings::step(), value_ = value; }
    Value exchange(Value value, std::memory_order = {}) {
        return Interleavings::step(), std::exchange(value_, value);
    }
    Value fetch_and(Value value, std::memory_order = {}) {
        return Interleavings::step(), std::exchange(value_, value_ & value);
    }
    /// Never fails spuriously.
    bool compare_exchange_weak(Value& expected, Value value, std::memory_order, std::memory_order) {
        Interleavings::step();
        bool const same = value_ == expected;
        expected = value_;
        if (same) value_ = value;
        return same;
    }
    [[nodiscard]] Value peek() const { return value_; } ///< Not a step of the code under test.

  private:
    Value value_;
};

class SteppedFlag {
  public:
    bool test_and_set(std::memory_order = {}) {
        Interleavings::step();
        return std::exchange(set_, true);
    }
    /// A thread that finds the flag set checks it until it is clear; these checks are one step.
    [[nodiscard]] bool test(std::memory_order = {}) const {
        Interleavings::wait_until([this] { return !set_; });
        return set_;
    }
    void clear(std::memory_order = {}) {
        Interleavings::step();
        set_ = false;
    }

  private:
    bool set_ = false;
};

struct SteppedAtomics {
    using Flag = SteppedFlag;
    using Priority = SteppedAtomic<double>;
    using Word = SteppedAtomic<std::uint64_t>;
};

} // namespace espalier
