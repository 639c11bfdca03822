#include "factor/kernel_timing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <memory>
#include <optional>
#include <random>

#include "core/timer.hpp"
#include "factor/kernel_family.hpp"
#include "factor/timing_structure.hpp"
#include "kernels/product.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

// The lower quartile, because disturbances only add time.
double typical(std::vector<double>& times) {
    auto const at = times.begin() + std::ssize(times) / 4;
    std::nth_element(times.begin(), at, times.end());
    return *at;
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
            return typical(times);
        }();
        return seconds;
    }

    double processor_;
    Timer timer_; // after processor_
};

// Panels, workspace and measurements of one worker.
template <class T> class WorkerKernels {
  public:
    WorkerKernels(BlockStructure const& structure, FactorForm form, WorkerTeam& team, WorkerId worker)
        : structure_(structure), factor_(structure), panel_times_(structure.cblks.size()),
          update_times_(structure.cblks.size()) {
        std::vector<WorkerId> const owner(structure.cblks.size(), worker);
        factor_.allocate(form, owner, Allocation::local, team);
        kernels_ = make_kernel_family(factor_);
        std::minstd_rand engine(7);
        for (T& value : pattern_)
            value = static_cast<T>(static_cast<Real<T>>(
                static_cast<double>(engine()) / static_cast<double>(std::minstd_rand::max()) - 0.5));
    }

    // Called by the thread of the worker, so that the pages are near it.
    void clear(WorkerId worker, Interrupt* interrupt) { factor_.clear_owned(worker, interrupt); }

    // Factorizes and measures the kernels. As in tasks, each cblk receives its updates just before it is
    // factorized, when the source panels have left the nearest caches.
    void sweep(Interrupt* interrupt) {
        fill_panels();
        std::vector<double> updates(structure_.cblks.size(), 0.0); // by source
        for (CblkId k = 0; k < structure_.num_cblks(); ++k) {
            check(interrupt);
            for_each_facing_group(structure_, structure_.facing_ptr[k], structure_.facing_ptr[k + 1],
                                  [&](FacingGroup const& group) {
                                      CallTimer const timer;
                                      kernels_->update(group, workspace_);
                                      updates[group.source] += timer.seconds();
                                  });
            CallTimer const timer;
            kernels_->factorize_panel(k, Real<T>(0));
            panel_times_[k].push_back(timer.seconds());
        }
        for (std::size_t k = 0; k < updates.size(); ++k) update_times_[k].push_back(updates[k]);
    }

    // Drops the measurements.
    void restart() {
        for (auto* times : {&panel_times_, &update_times_})
            for (auto& of_cblk : *times) of_cblk.clear();
    }
    // Typical seconds of a sweep.
    [[nodiscard]] double total() {
        double sum = 0;
        for (auto* times : {&panel_times_, &update_times_})
            for (auto& of_cblk : *times) sum += typical(of_cblk);
        return sum;
    }

    // One sample for each cblk: its panel, and all its updates of others together.
    KernelSamples samples(KernelSet kernels) {
        KernelSamples samples;
        for (CblkId k = 0; k < structure_.num_cblks(); ++k) {
            Cblk const& cblk = structure_.cblk(k);
            samples.panels.push_back(
                {panel_counts(kernels, cblk.width(), cblk.rows_below()), typical(panel_times_[k])});
            if (cblk.rows_below() == 0) continue;
            KernelSample<UpdateTerm> updates;
            for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok;) {
                UpdateShape const shape = update_shape(structure_, cblk, b);
                updates.counts += update_counts(kernels, shape);
                b += shape.bloks;
            }
            updates.seconds = typical(update_times_[k]);
            samples.updates.push_back(updates);
        }
        return samples;
    }

  private:
    // Entries below 1/2 and a dominant diagonal, so that all factorizations succeed without replaced pivots.
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
    std::vector<std::vector<double>> panel_times_, update_times_; // by cblk
};

// Runs `sweeps` sweeps on all workers at once. Each continues until all have finished theirs. Returns the
// mean over the workers of the seconds of a sweep.
template <class T> double sweep_together(std::vector<std::optional<WorkerKernels<T>>>& kernels, int sweeps,
                                         WorkerTeam& team, Interrupt* interrupt) {
    std::atomic<int> done{0};
    std::atomic<bool> failed{false};
    team.for_each_worker([&](WorkerId worker) {
        WorkerKernels<T>& own = *kernels[worker];
        try {
            own.restart();
            for (int s = 0; s < sweeps && !failed; ++s) own.sweep(interrupt);
            ++done;
            while (done < std::ssize(kernels) && !failed) own.sweep(interrupt);
        } catch (...) {
            failed = true;
            throw;
        }
    });
    double sum = 0;
    for (auto& own : kernels) sum += own->total();
    return sum / static_cast<double>(kernels.size());
}

// The maximum share of options.seconds for one sweep.
constexpr double sweep_part = 0.6;

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
    return 2.0 * n * n * n / typical(times);
}

// Bytes per second of y += x / 2.
double stream(std::vector<double> const& x, std::vector<double>& y, Interrupt* interrupt) {
    std::vector<double> times;
    for (int turn = 0; turn < 5; ++turn) {
        check(interrupt);
        Timer const timer;
        for (std::size_t i = 0; i < x.size(); ++i) y[i] += 0.5 * x[i];
        times.push_back(timer.seconds());
    }
    return 3.0 * sizeof(double) * static_cast<double>(x.size()) / typical(times);
}

} // namespace

template <class T>
KernelTimings time_kernels(FactorForm form, WorkerTeam& team, TimingOptions const& options) {
    int const workers = team.size();
    double const available = static_cast<double>(available_memory_bytes()) / (2 * workers);
    TimingLimits const limits{std::min(options.worker_bytes, available),
                              options.seconds * sweep_part * product_rate<T>()};
    auto const structure = make_timing_structure(form, sizeof(T), limits);
    std::vector<std::optional<WorkerKernels<T>>> kernels(workers);
    for (WorkerId w = 0; w < workers; ++w) kernels[w].emplace(structure, form, team, w);
    team.for_each_worker([&](WorkerId worker) { kernels[worker]->clear(worker, options.interrupt); });

    int sweeps = 0;
    team.for_each_worker([&](WorkerId worker) {
        if (worker > 0) return;
        Timer const timer;
        do kernels[0]->sweep(options.interrupt);
        while (++sweeps < 2 || timer.seconds() < options.seconds);
    });
    KernelTimings timings;
    timings.samples = kernels[0]->samples({kernel_kind(form.kind), sizeof(T)});
    if (workers == 1) return timings;
    double const alone = kernels[0]->total();
    timings.contention = sweep_together(kernels, sweeps, team, options.interrupt) / alone;
    return timings;
}

MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt) {
    constexpr std::size_t bytes = 24'000'000; // of each vector
    auto const workers = static_cast<std::uint64_t>(team.size());
    std::uint64_t const entries =
        std::min<std::uint64_t>(bytes, available_memory_bytes() / (8 * workers)) / sizeof(double);
    std::vector<std::vector<double>> x(workers), y(workers);
    std::vector<double> rate(workers);
    team.for_each_worker([&](WorkerId w) {
        x[w].assign(entries, 1.0);
        y[w].assign(entries, 1.0);
    });
    MemoryRates rates;
    team.for_each_worker([&](WorkerId worker) {
        if (worker == 0) rates.one = stream(x[0], y[0], interrupt);
    });
    team.for_each_worker([&](WorkerId w) { rate[w] = stream(x[w], y[w], interrupt); });
    for (double const r : rate) rates.all += r;
    return rates;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template KernelTimings time_kernels<T>(FactorForm, WorkerTeam&, TimingOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
