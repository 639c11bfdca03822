// Cancels a factorization while it runs, and uses the objects again.

#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;
using namespace std::chrono_literals;

// A system with cblks as wide as in real problems.
System<double> wide_system(int workers) {
    return {real("lap3d:20"), Factorization::ldlt, workers, {}, SymbolicOptions()};
}

// Calls `then` after this share of the work.
class AtProgress : public ProgressSink {
  public:
    AtProgress(double part, std::function<void()> then) : part_(part), then_(std::move(then)) {}
    void begin(std::string_view, double total) override { total_ = total; }
    void advance(double amount) override {
        std::function<void()> now;
        {
            std::lock_guard const lock(mutex_);
            done_ += amount / total_;
            if (done_ >= part_) now = std::exchange(then_, nullptr);
        }
        if (now) now();
    }
    void end() override {}
    [[nodiscard]] double done() {
        std::lock_guard const lock(mutex_);
        return done_;
    }

  private:
    double part_;
    std::function<void()> then_;
    std::mutex mutex_;
    double total_ = 0;
    double done_ = 0;
};

template <class T>
Status status_of_factorize(System<T>& system, Interrupt& interrupt, ProgressSink* progress = nullptr) {
    return status_of([&] { system.factorize({.progress = progress, .interrupt = &interrupt}); });
}

class Interrupted : public ::testing::TestWithParam<int> {
  protected:
    void TearDown() override { // the objects can be used again in any case
        Interrupt silent([] { return false; });
        EXPECT_EQ(status_of_factorize(system_, silent), Status::ok);
        System<double> fresh = wide_system(GetParam());
        fresh.factorize();
        expect_equal_factors(system_.factor, fresh.factor);
    }
    System<double> system_ = wide_system(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Workers, Interrupted, ::testing::Values(1, 3));

// The share of the work after which some kernels are still running.
constexpr double soon = 0.75;

TEST_P(Interrupted, ByARequestDuringATask) {
    Interrupt interrupt;
    AtProgress progress(0.2, [&] { interrupt.request(); });
    EXPECT_EQ(status_of_factorize(system_, interrupt, &progress), Status::cancelled);
    EXPECT_LT(progress.done(), soon);
}

TEST_P(Interrupted, ByAnotherThread) {
    Interrupt interrupt;
    std::atomic<bool> now{false};
    std::thread other([&] {
        now.wait(false);
        interrupt.request();
    });
    AtProgress progress(0.2, [&] {
        now = true;
        now.notify_one();
        while (!interrupt.requested()) std::this_thread::sleep_for(1ms);
    });
    EXPECT_EQ(status_of_factorize(system_, interrupt, &progress), Status::cancelled);
    other.join();
}

TEST_P(Interrupted, ByTheCallback) {
    std::atomic<bool> now{false};
    auto const caller = std::this_thread::get_id();
    Interrupt interrupt([&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return now.load();
    });
    AtProgress progress(0.2, [&] {
        now = true;
        if (std::this_thread::get_id() == caller)
            std::this_thread::sleep_for(21ms); // twice the time between two calls of the callback
        else
            while (!interrupt.requested()) std::this_thread::sleep_for(1ms);
    });
    EXPECT_EQ(status_of_factorize(system_, interrupt, &progress), Status::cancelled);
    if (GetParam() == 1) { // the other workers continue while this one waits for a processor
        EXPECT_LT(progress.done(), soon);
    }
}

TEST_P(Interrupted, ByAnExceptionOfTheCallback) {
    Interrupt interrupt([]() -> bool { throw std::domain_error("thrown by the callback"); });
    EXPECT_THROW((void)status_of_factorize(system_, interrupt), std::domain_error);
}

TEST(Interrupt, BeforeTheStartCancelsEachStep) {
    Interrupt interrupt;
    interrupt.request();
    System<double> system(real("lap2d:8"), Factorization::lu, 2);
    EXPECT_EQ(status_of_factorize(system, interrupt), Status::cancelled);
    EXPECT_THROW((void)AssemblyMap(system.matrix, system.structure, &interrupt), Error);
    EXPECT_THROW(system.factor.clear_owned(0, &interrupt), Error);
    SymbolicOptions symbolic;
    symbolic.interrupt = &interrupt;
    EXPECT_THROW(System<double>(system.matrix, Factorization::lu, 2, {}, symbolic), Error);
    Interrupt silent;
    EXPECT_EQ(status_of_factorize(system, silent), Status::ok);
}

} // namespace
} // namespace espalier
