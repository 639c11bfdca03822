#include "factor/kernel_timing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "core/timer.hpp"
#include "factor/kernel_family.hpp"
#include "kernels/product.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

double median(std::vector<double>& times) {
    auto const middle = times.begin() + std::ssize(times) / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

// Measures a call, as the smaller one of wall time and processor time. The latter excludes time in which the
// system runs other work, but is slow to read and too coarse for the shortest calls.
class CallTimer {
  public:
    CallTimer() : processor_(processor_seconds()) {}
    // Seconds since construction.
    [[nodiscard]] double seconds() const {
        double const wall = timer_.seconds() - overhead();
        return std::max(std::min(wall, processor_seconds() - processor_), 1e-8);
    }

  private:
    static double processor_seconds() {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }
    // Seconds that reading the wall clock takes.
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

    double processor_;
    Timer timer_; // after processor_
};

// Whether a cblk receives all its updates just before it is factorized, as in tasks above the subtrees, or updates
// others right after it, as inside a subtree. Sources have left the caches in the first case.
enum class SweepOrder : std::uint8_t { by_target, by_source };

struct Kernel {
    CblkId cblk = 0;
    BlokId first_blok = -1; ///< The first blok of an update; -1 for a panel.
};

// The calls of a sweep, and their times in all sweeps.
struct Calls {
    std::vector<Kernel> kernels;
    std::vector<std::vector<double>> times;
    std::size_t next = 0; ///< In the running sweep.

    void keep(Kernel kernel, double seconds) {
        if (next == times.size()) {
            kernels.push_back(kernel);
            times.emplace_back();
        }
        times[next++].push_back(seconds);
    }
    [[nodiscard]] double total() const {
        double sum = 0;
        for (auto const& of_call : times) sum += std::accumulate(of_call.begin(), of_call.end(), 0.0);
        return sum;
    }
};
using CallsByOrder = std::array<Calls, 2>;

void append_samples(Calls& calls, SweepOrder order, BlockStructure const& structure, KernelSet kernels,
                    KernelSamples& samples) {
    for (std::size_t i = 0; i < calls.times.size(); ++i) {
        auto const [cblk, first_blok] = calls.kernels[i];
        Cblk const& source = structure.cblk(cblk);
        double const seconds = median(calls.times[i]);
        if (first_blok < 0) {
            samples.panels.push_back({panel_counts(kernels, source.width(), source.rows_below()), seconds});
            continue;
        }
        UpdateShape shape = update_shape(structure, source, first_blok);
        shape.is_cold = order == SweepOrder::by_target;
        samples.updates.push_back({update_counts(kernels, shape), seconds});
    }
}

// Panels and workspace of one worker.
template <class T> class WorkerKernels {
  public:
    WorkerKernels(BlockStructure const& structure, FactorForm form, WorkerTeam& team, WorkerId worker)
        : structure_(structure), factor_(structure) {
        std::vector<WorkerId> const owner(structure.cblks.size(), worker);
        factor_.allocate(form, owner, Allocation::local, team);
        kernels_ = make_kernel_family(factor_);
        std::minstd_rand engine(7);
        for (T& value : pattern_)
            value = static_cast<T>(static_cast<Real<T>>(
                (static_cast<double>(engine()) / static_cast<double>(std::minstd_rand::max()) - 0.5) / 1000));
    }

    // Called by the thread of the worker, so that the pages are near it.
    void clear(WorkerId worker, Interrupt* interrupt) { factor_.clear_owned(worker, interrupt); }

    // Executes and measures the kernels of each `step`-th cblk in both orders.
    void sweep(Index step, CallsByOrder& calls, Interrupt* interrupt) {
        for (SweepOrder const order : {SweepOrder::by_target, SweepOrder::by_source})
            sweep(order, step, calls[static_cast<std::size_t>(order)], interrupt);
    }

  private:
    void sweep(SweepOrder order, Index step, Calls& calls, Interrupt* interrupt) {
        fill_panels();
        calls.next = 0;
        for (CblkId k = 0; k < structure_.num_cblks(); k += static_cast<CblkId>(step)) {
            check(interrupt);
            if (order == SweepOrder::by_target) {
                for_each_facing_group(structure_, structure_.facing_ptr[k], structure_.facing_ptr[k + 1],
                                      [&](FacingGroup const& group) { update(group, calls); });
                factorize(k, calls);
            } else {
                factorize(k, calls);
                for (BlokId b = structure_.cblk(k).first_blok + 1; b < structure_.cblk(k).end_blok;)
                    b = update(facing_group(structure_, k, b), calls);
            }
        }
    }
    BlokId update(FacingGroup const& group, Calls& calls) {
        CallTimer const timer;
        kernels_->update(group, workspace_);
        calls.keep({group.source, group.first}, timer.seconds());
        return group.end;
    }
    void factorize(CblkId k, Calls& calls) {
        CallTimer const timer;
        kernels_->factorize_panel(k, Real<T>(0));
        calls.keep({k, -1}, timer.seconds());
    }

    // Small entries and a dominant diagonal, so that all factorizations succeed without replaced pivots, although
    // most cblks are not factorized.
    void fill_panels() {
        for (CblkId k = 0; k < structure_.num_cblks(); ++k) {
            MatrixView<T> const lower = factor_.lower(k);
            fill(lower);
            if (factor_.form().has_upper()) fill(factor_.upper(k));
            for (Index j = 0; j < lower.cols; ++j) lower(j, j) = static_cast<Real<T>>(lower.rows + 1);
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
    Factor<T> factor_;
    std::unique_ptr<KernelFamily<T>> kernels_;
    UpdateWorkspace<T> workspace_;
    std::array<T, pattern_size> pattern_;
};

// Sweeps on all workers at once. Each continues until all have finished one. Returns the mean seconds of a sweep.
template <class T> double sweep_together(std::vector<std::optional<WorkerKernels<T>>>& kernels, Index step,
                                         WorkerTeam& team, Interrupt* interrupt) {
    std::atomic<int> done{0};
    std::atomic<bool> failed{false};
    std::vector<double> seconds(kernels.size());
    team.for_each_worker([&](WorkerId worker) {
        try {
            CallsByOrder calls;
            int sweeps = 0;
            do {
                kernels[worker]->sweep(step, calls, interrupt);
                if (++sweeps == 1) ++done;
            } while (done < std::ssize(kernels) && !failed);
            for (Calls const& one : calls) seconds[worker] += one.total() / sweeps;
        } catch (...) {
            failed = true;
            throw;
        }
    });
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(kernels.size());
}

// Operations of T per second (a multiply-add counts as two) in a product of a typical size.
template <class T> double product_rate() {
    constexpr Index n = 200;
    std::vector<T> a(n * n, T(1)), c(n * n, T(0));
    std::vector<double> times;
    for (int turn = 0; turn < 8; ++turn) {
        CallTimer const timer;
        subtract_product<T>(Op::transpose, {a.data(), n, n, n}, {a.data(), n, n, n}, {c.data(), n, n, n});
        times.push_back(timer.seconds());
    }
    return 2.0 * n * n * n / median(times);
}

// The median of the seconds of a call of `body`, of five.
template <class Body> double seconds_of_call(Interrupt* interrupt, Body const& body) {
    std::vector<double> times;
    for (int turn = 0; turn < 5; ++turn) {
        check(interrupt);
        Timer const timer;
        body();
        times.push_back(timer.seconds());
    }
    return median(times);
}

// Bytes per second of y += x / 2.
double stream(std::vector<double> const& x, std::vector<double>& y, Interrupt* interrupt) {
    double const seconds = seconds_of_call(interrupt, [&] {
        for (std::size_t i = 0; i < x.size(); ++i) y[i] += 0.5 * x[i];
    });
    return 3.0 * sizeof(double) * static_cast<double>(x.size()) / seconds;
}

// Bytes per second of the sum of all x, in as many parts as hide the time of an addition.
double read(std::vector<double> const& x, Interrupt* interrupt) {
    std::array<double, 16> sums{};
    double const seconds = seconds_of_call(interrupt, [&] {
        for (std::size_t i = 0; i + sums.size() <= x.size(); i += sums.size())
            for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += x[i + s];
    });
    volatile double const used = std::accumulate(sums.begin(), sums.end(), 0.0); // or the loop is left out
    static_cast<void>(used);
    return sizeof(double) * static_cast<double>(x.size()) / seconds;
}

// The operations of a sweep over the structure in one order, counted as for real scalars.
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

// Adds the samples of one structure. Returns the seconds of one worker alone, and while all work. The two take turns,
// because the speed of a machine changes.
template <class T>
std::pair<double, double> time_structure(BlockStructure const& structure, FactorForm form, WorkerTeam& team,
                                         TimingOptions const& options, KernelSamples& samples) {
    int const workers = team.size();
    KernelSet const set{kernel_kind(form.kind), sizeof(T)};
    constexpr int least_sweeps = 3;
    double const one_sweep = 2 * operations(structure, set) / product_rate<T>();
    Index const step = std::max<Index>(1, std::lround(least_sweeps * one_sweep / options.seconds));
    std::vector<std::optional<WorkerKernels<T>>> kernels(workers);
    for (WorkerId w = 0; w < workers; ++w) kernels[w].emplace(structure, form, team, w);
    team.for_each_worker([&](WorkerId worker) { kernels[worker]->clear(worker, options.interrupt); });
    CallsByOrder calls;
    double together = 0;
    Timer const timer;
    for (int turn = 0; turn < least_sweeps || timer.seconds() < options.seconds; ++turn) {
        team.for_each_worker([&](WorkerId worker) {
            if (worker == 0) kernels[0]->sweep(step, calls, options.interrupt);
        });
        if (workers > 1) together += sweep_together(kernels, step, team, options.interrupt);
    }
    double alone = 0;
    for (SweepOrder const order : {SweepOrder::by_target, SweepOrder::by_source}) {
        Calls& one = calls[static_cast<std::size_t>(order)];
        alone += one.total();
        append_samples(one, order, structure, set, samples);
    }
    return {alone, workers > 1 ? together : alone};
}

} // namespace

template <class T>
KernelTimings time_kernels(std::span<BlockStructure const> structures, FactorForm form, WorkerTeam& team,
                           TimingOptions const& options) {
    KernelTimings timings;
    double alone = 0, together = 0;
    for (BlockStructure const& structure : structures) {
        auto const seconds = time_structure<T>(structure, form, team, options, timings.samples);
        alone += seconds.first;
        together += seconds.second;
    }
    timings.contention = together / alone;
    return timings;
}

MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt) {
    constexpr std::size_t bytes = 128'000'000; // of each vector
    auto const workers = static_cast<std::uint64_t>(team.size());
    std::uint64_t const entries =
        std::min<std::uint64_t>(bytes, available_memory_bytes() / (8 * workers)) / sizeof(double);
    std::vector<std::vector<double>> x(workers), y(workers);
    std::vector<MemoryRates> rate(workers);
    team.for_each_worker([&](WorkerId w) {
        x[w].assign(entries, 1.0);
        y[w].assign(entries, 1.0);
    });
    MemoryRates rates;
    team.for_each_worker([&](WorkerId worker) {
        if (worker > 0) return;
        rates.one = stream(x[0], y[0], interrupt);
        rates.read_one = read(x[0], interrupt);
    });
    team.for_each_worker([&](WorkerId w) { rate[w].one = stream(x[w], y[w], interrupt); });
    team.for_each_worker([&](WorkerId w) { rate[w].read_one = read(x[w], interrupt); });
    for (MemoryRates const& of_worker : rate) {
        rates.all += of_worker.one;
        rates.read_all += of_worker.read_one;
    }
    return rates;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template KernelTimings time_kernels<T>(std::span<BlockStructure const>, FactorForm, WorkerTeam&,         \
                                           TimingOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
