#include "factor/kernel_timing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "comm/block.hpp"
#include "core/timer.hpp"
#include "factor/kernel_family.hpp"
#include "kernels/product.hpp"
#include "mapping/branches.hpp"
#include "runtime/large_vector.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

double median(std::span<double> times) {
    auto const middle = times.begin() + std::ssize(times) / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

// The processor time of the calling thread.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Measures a call that is expected to take `expected` seconds. The time of a long call is the smaller one of
// its wall time and its processor time. Processor time excludes time in which the system runs other work, but
// reading it takes as long as a short call and slows down the next one. Short calls therefore use wall time.
// A short call that is interrupted takes so long that the fit leaves it out.
class CallTimer {
  public:
    explicit CallTimer(double expected)
        : is_long_(expected > long_call), processor_(is_long_ ? processor_seconds() : 0) {}
    // Seconds since construction.
    [[nodiscard]] double seconds() const {
        double const wall = timer_.seconds() - overhead();
        return std::max(is_long_ ? std::min(wall, processor_seconds() - processor_) : wall, 1e-8);
    }

  private:
    // The seconds that reading the wall clock takes.
    static double overhead() {
        static double const seconds = [] {
            std::vector<double> times(200);
            for (double& time : times) {
                Timer const timer;
                time = timer.seconds();
            }
            return median(times);
        }();
        return seconds;
    }

    static constexpr double long_call = 2e-5;
    bool is_long_;
    double processor_;
    Timer timer_; // starts after processor_
};

// The order of updates. by_target: a cblk above the subtrees receives all its updates just before it is
// factorized, as by tasks of its own; sources have left the caches. by_source: a cblk updates others right
// after its factorization, as inside a subtree.
enum class SweepOrder : std::uint8_t { by_target, by_source };

// The calls of a sweep over cblks.
struct Sweep {
    KernelSamples samples;
    double seconds = 0; ///< The time of all calls together.
};

// Panels and workspace of one worker.
template <class T> class WorkerKernels {
  public:
    WorkerKernels(BlockStructure const& structure, FactorForm form, WorkerTeam& team, WorkerId worker)
        : structure_(structure), expected_(default_cost_model(scalar_of<T>, kernel_kind(form.kind))),
          set_(expected_.kernels),
          branches_(cut_branches(structure, cblk_costs(structure, expected_), std::max(2, team.size()))),
          factor_(structure) {
        std::vector<WorkerId> const owner(structure.cblks.size(), worker);
        factor_.allocate(form, owner, Allocation::local, team);
        kernels_ = make_kernel_family(factor_);
        std::minstd_rand engine(7);
        for (T& value : pattern_)
            value = static_cast<T>(static_cast<Real<T>>(
                (static_cast<double>(engine()) / static_cast<double>(std::minstd_rand::max()) - 0.5) /
                10000));
    }

    // Called by the thread of the worker, so that the pages are near it.
    void fill(WorkerId worker, Interrupt* interrupt) {
        factor_.clear_owned(worker, interrupt);
        fill_panels();
    }

    // Executes and measures the kernels of one of `step` cblks until `is_over()`.
    template <class Predicate>
    Sweep sweep(SweepOrder order, Index step, Interrupt* interrupt, Predicate const& is_over) {
        Sweep calls;
        double const processor = processor_seconds();
        for (CblkId k = 0; k < structure_.num_cblks() && !is_over(); ++k) {
            // Narrow cblks are measured with their neighbors, which share caches.
            Index const together = structure_.cblk(k).width() < 64 ? 64 : 1;
            if (k / together % step != 0) continue;
            check(interrupt);
            if (order == SweepOrder::by_target) {
                Branch const& branch = branches_.branches[branches_.branch_of_cblk[k]];
                if (branch.first != branch.root) continue;
                for_each_facing_group(structure_, structure_.facing_ptr[k], structure_.facing_ptr[k + 1],
                                      [&](FacingGroup const& group) { update(group, true, calls); });
                factorize(k, calls);
            } else {
                factorize(k, calls);
                for (BlokId b = structure_.cblk(k).first_blok + 1; b < structure_.cblk(k).end_blok;)
                    b = update(facing_group(structure_, k, b), false, calls);
            }
        }
        // The wall time of short calls includes interruptions.
        calls.seconds = std::min(calls.seconds, processor_seconds() - processor);
        return calls;
    }

  private:
    BlokId update(FacingGroup const& group, bool is_cold, Sweep& calls) {
        UpdateShape shape = update_shape(structure_, structure_.cblk(group.source), group.first);
        shape.is_cold = is_cold;
        CallTimer const timer(expected_.update(shape));
        kernels_->update(group, workspace_);
        double const seconds = timer.seconds();
        calls.samples.updates.push_back({update_counts(set_, shape), seconds});
        calls.seconds += seconds;
        return group.end;
    }
    void factorize(CblkId k, Sweep& calls) {
        Cblk const& cblk = structure_.cblk(k);
        CallTimer const timer(expected_.panel(cblk));
        kernels_->factorize_panel(k, Real<T>(0));
        double const seconds = timer.seconds();
        calls.samples.panels.push_back({panel_counts(set_, cblk.width(), cblk.rows_below()), seconds});
        calls.seconds += seconds;
    }

    // Fills the panels with ones on the diagonal and other entries so small that they hardly change the
    // diagonal. However often cblks are factorized and updated, no pivot is replaced, and no number becomes
    // subnormal.
    void fill_panels() {
        for (CblkId k = 0; k < structure_.num_cblks(); ++k) {
            MatrixView<T> const lower = factor_.lower(k);
            fill(lower);
            if (factor_.form().has_upper()) fill(factor_.upper(k));
            for (Index j = 0; j < lower.cols; ++j) lower(j, j) = T(1);
        }
    }
    void fill(MatrixView<T> panel) {
        for (Index j = 0; j < panel.cols; ++j)
            for (Index i = 0; i < panel.rows; i += pattern_size / 2) {
                Index const part = std::min(pattern_size / 2, panel.rows - i);
                std::copy_n(pattern_.data() + (7 * (i + j)) % (pattern_size / 2), part, panel.column(j) + i);
            }
    }

    static constexpr Index pattern_size = 1024;
    BlockStructure const& structure_;
    CostModel expected_;
    KernelSet set_;
    BranchPartition branches_;
    Factor<T> factor_;
    std::unique_ptr<KernelFamily<T>> kernels_;
    UpdateWorkspace<T> workspace_;
    std::array<T, pattern_size> pattern_;
};

// Runs a sweep on all workers at once. Workers that finish early continue until all have finished. Returns
// the mean seconds of a sweep.
template <class T> double sweep_together(std::vector<std::optional<WorkerKernels<T>>>& kernels,
                                         SweepOrder order, Index step, WorkerTeam& team,
                                         Interrupt* interrupt) {
    std::atomic<int> done{0};
    std::atomic<bool> failed{false};
    std::vector<double> seconds(kernels.size());
    team.for_each_worker([&](WorkerId worker) {
        auto const are_all_done = [&] { return done == std::ssize(kernels) || failed; };
        try {
            seconds[worker] = kernels[worker]->sweep(order, step, interrupt, [] { return false; }).seconds;
            ++done;
            while (!are_all_done()) kernels[worker]->sweep(order, step, interrupt, are_all_done);
        } catch (...) {
            failed = true;
            throw;
        }
    });
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(kernels.size());
}

// The median of the seconds of three calls of `body`, or of fewer if they take long.
template <class Body> double seconds_of_call(Interrupt* interrupt, Body const& body) {
    std::vector<double> times;
    Timer const all;
    do {
        check(interrupt);
        Timer const timer;
        body();
        times.push_back(timer.seconds());
    } while (times.size() < 3 && all.seconds() < 0.1);
    return median(times);
}

// Bytes per second of y += x / 2.
double stream(double const* x, double* y, std::size_t n, Interrupt* interrupt) {
    double const seconds = seconds_of_call(interrupt, [=] {
        for (std::size_t i = 0; i < n; ++i) y[i] += 0.5 * x[i];
    });
    return 3.0 * sizeof(double) * static_cast<double>(n) / seconds;
}

// Bytes per second of the sum of all x, in enough partial sums to hide the latency of an addition.
double read(double const* x, std::size_t n, Interrupt* interrupt) {
    constexpr std::size_t parts = 16;
    double sums[parts] = {};
    double const seconds = seconds_of_call(interrupt, [&] {
        for (std::size_t i = 0; i + parts <= n; i += parts)
            for (std::size_t s = 0; s < parts; ++s) sums[s] += x[i + s];
    });
    // keeps the compiler from removing the loop
    double const volatile used = std::accumulate(sums, sums + parts, 0.0);
    static_cast<void>(used);
    return sizeof(double) * static_cast<double>(n) / seconds;
}

// Bytes per second at which the first contributions to fan-in blocks clear them. This is a mean: a virtual
// machine gets some pages from its host, which takes many times longer, and has others.
double touch_blocks(Interrupt* interrupt) {
    constexpr std::size_t bytes = std::size_t{8} << 20;
    std::array<Block, 12> blocks; // all are kept, so that no memory is used twice
    Timer const timer;
    for (Block& block : blocks) {
        check(interrupt);
        block = Block::allocate(bytes);
        std::memset(block.data(), 0, bytes);
    }
    return static_cast<double>(blocks.size() * bytes) / timer.seconds();
}

// The number of operations of all updates of the structure, counted as for real scalars.
double operations(BlockStructure const& structure, KernelSet kernels) {
    double sum = 0;
    for (Cblk const& cblk : structure.cblks)
        for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok;) {
            UpdateShape const shape = update_shape(structure, cblk, b);
            PerTerm<UpdateTerm> const counts = update_counts(kernels, shape);
            sum += counts[UpdateTerm::flop] + counts[UpdateTerm::strided];
            b += shape.bloks;
        }
    return sum;
}

// Adds the samples of one structure. Returns the seconds of one worker alone, and while all workers compute.
// The two measurements alternate, because the speed of a machine changes.
template <class T> std::pair<double, double> time_structure(BlockStructure const& structure, FactorForm form,
                                                            double rate, WorkerTeam& team,
                                                            TimingOptions const& options,
                                                            KernelSamples& samples) {
    int const workers = team.size();
    double const seconds = 2 * operations(structure, {kernel_kind(form.kind), sizeof(T)}) / rate;
    Index const step = std::max<Index>(1, std::lround(seconds / options.seconds));
    std::vector<std::optional<WorkerKernels<T>>> kernels(workers);
    for (WorkerId w = 0; w < workers; ++w) kernels[w].emplace(structure, form, team, w);
    team.for_each_worker([&](WorkerId worker) { kernels[worker]->fill(worker, options.interrupt); });
    double alone = 0, together = 0;
    for (SweepOrder const order : {SweepOrder::by_target, SweepOrder::by_source}) {
        Sweep one;
        team.for_each_worker([&](WorkerId worker) {
            if (worker == 0) one = kernels[0]->sweep(order, step, options.interrupt, [] { return false; });
        });
        alone += one.seconds;
        samples.panels.insert(samples.panels.end(), one.samples.panels.begin(), one.samples.panels.end());
        samples.updates.insert(samples.updates.end(), one.samples.updates.begin(), one.samples.updates.end());
        if (workers > 1) together += sweep_together(kernels, order, step, team, options.interrupt);
    }
    return {alone, workers > 1 ? together : alone};
}

} // namespace

template <class T> double kernel_rate() {
    constexpr Index n = 160;
    std::vector<T> a(n * n, T(1)), c(n * n, T(0));
    std::vector<double> times(5);
    for (double& time : times) {
        CallTimer const timer(1);
        subtract_product<T>(Op::transpose, {a.data(), n, n, n}, {a.data(), n, n, n}, {c.data(), n, n, n});
        time = timer.seconds();
    }
    return n * n * n / median(times);
}

template <class T> KernelTimings time_kernels(std::span<BlockStructure const> structures, FactorForm form,
                                              WorkerTeam& team, TimingOptions const& options) {
    KernelTimings timings;
    double const rate = kernel_rate<T>();
    double alone = 0, together = 0;
    for (BlockStructure const& structure : structures) {
        auto const seconds = time_structure<T>(structure, form, rate, team, options, timings.samples);
        alone += seconds.first;
        together += seconds.second;
    }
    timings.contention = together / alone;
    return timings;
}

MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt) {
    constexpr std::size_t bytes = 128'000'000; // for each worker
    auto const workers = static_cast<std::uint64_t>(team.size());
    std::uint64_t const entries =
        std::min<std::uint64_t>(bytes, available_memory_bytes() / (4 * workers)) / sizeof(double);
    // This is on huge pages, like panels. As in a factorization, the blocks of messages get what the panels
    // leave over.
    std::vector<LargeVector<double>> memory(workers);
    team.for_each_worker([&](WorkerId w) { memory[w].assign(entries, 1.0); });
    auto const stream_of = [&](WorkerId w) {
        double* const half = memory[w].data() + entries / 2;
        return stream(memory[w].data(), half, entries / 2, interrupt);
    };
    auto const read_of = [&](WorkerId w) { return read(memory[w].data(), entries, interrupt); };
    std::vector<MemoryRates> rate(workers);
    MemoryRates rates;
    team.for_each_worker([&](WorkerId worker) {
        if (worker > 0) return;
        rates.one = stream_of(0);
        rates.read_one = read_of(0);
        rates.first_touch = touch_blocks(interrupt);
    });
    team.for_each_worker([&](WorkerId w) { rate[w].one = stream_of(w); });
    team.for_each_worker([&](WorkerId w) { rate[w].read_one = read_of(w); });
    for (MemoryRates const& of_worker : rate) {
        rates.all += of_worker.one;
        rates.read_all += of_worker.read_one;
    }
    // One worker alone is not slower than with others, and all together are not slower than one. If they were
    // measured so, something disturbed them.
    rates.one = std::max(rates.one, rates.all / static_cast<double>(workers));
    rates.read_one = std::max(rates.read_one, rates.read_all / static_cast<double>(workers));
    rates.all = std::max(rates.all, rates.one);
    rates.read_all = std::max(rates.read_all, rates.read_one);
    return rates;
}

ESPALIER_INSTANTIATE_FUNCTION(kernel_rate)
ESPALIER_INSTANTIATE_FUNCTION(time_kernels)

} // namespace espalier
