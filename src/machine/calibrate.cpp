#include "machine/calibrate.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstdlib>
#include <new>

#include <fmt/format.h>

#include "core/progress.hpp"
#include "kernels/blas.hpp"
#include "machine/timing_structure.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

namespace {

Toggle effective(Toggle option) {
    char const* const variable = std::getenv("ESPALIER_CALIBRATION");
    if (option != Toggle::automatic || !variable || !*variable) return option;
    std::string_view const text = variable;
    for (Toggle const toggle : {Toggle::automatic, Toggle::on, Toggle::off})
        if (text == to_string(toggle)) return toggle;
    throw Error(
        Status::usage,
        fmt::format("the environment variable ESPALIER_CALIBRATION is '{}'; it can be auto, on or off",
                    text));
}

template <class T> KernelTimings time_form(FactorForm form, WorkerTeam& team, TimingOptions const& timing) {
    // An eighth of the cblks is measured in this time. Smaller lattices with more measured cblks would keep
    // targets in the cache that large matrices read from memory.
    double const available = static_cast<double>(available_memory_bytes()) / (2 * team.size());
    TimingLimits const limits{std::min(256e6, available), 4 * kernel_rate<T>() * timing.seconds};
    auto const structures = timing_structures(form, sizeof(T), limits);
    return time_kernels<T>(structures, form, team, timing);
}

KernelTimings time_scalar(Scalar scalar, Factorization kind, WorkerTeam& team, TimingOptions const& timing) {
    FactorForm const form{kind};
    if (scalar == Scalar::s) return time_form<float>(form, team, timing);
    if (scalar == Scalar::c) return time_form<std::complex<float>>(form, team, timing);
    if (scalar == Scalar::z) return time_form<std::complex<double>>(form, team, timing);
    return time_form<double>(form, team, timing);
}

MeasuredModel fit(KernelTimings const& timings, Scalar scalar, Factorization kind, WorkerTeam const& team) {
    MeasuredModel model;
    model.scalar = scalar;
    model.calibration = fit_cost_model(timings.samples, scalar, kernel_kind(kind));
    if (team.size() > 1) model.contention = {{team.size(), std::max(1.0, timings.contention)}};
    return model;
}

// Adds the measurements of a later time to those of `earlier` times.
void add(KernelTimings&& later, int earlier, KernelTimings& all) {
    auto const append = [](auto& to, auto const& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.samples.panels, later.samples.panels);
    append(all.samples.updates, later.samples.updates);
    all.contention = (earlier * all.contention + later.contention) / (earlier + 1);
}

// Bytes per second that each of `threads` reads, interpolated between one and all cores.
double read_rate(MemoryRates const& rates, int threads, int cores) {
    if (cores == 1) return rates.read_one;
    double const all = std::min(rates.read_one, rates.read_all / cores);
    return rates.read_one + (all - rates.read_one) * (threads - 1) / (cores - 1);
}

// Another thread may be measuring for seconds.
std::unique_lock<std::timed_mutex> lock(std::timed_mutex& mutex, Interrupt* interrupt) {
    std::unique_lock<std::timed_mutex> held(mutex, std::defer_lock);
    while (!held.try_lock_for(std::chrono::milliseconds(10))) check(interrupt);
    return held;
}

} // namespace

CostModelChoice CostModels::choose(Scalar scalar, Factorization kind, int threads, Measuring measuring,
                                   Interrupt* interrupt, ProgressSink* progress) {
    KernelKind const kernels = kernel_kind(kind);
    CostModelChoice const standard{default_cost_model(scalar, kernels), "default"};
    auto const held = lock(mutex_, interrupt);
    if (measuring != Measuring::always) {
        if (auto const model = known(scalar, kernels, threads, "cached")) return *model;
        if (auto stored = loaded_ ? std::nullopt : store_.load()) costs_ = std::move(*stored);
        loaded_ = true;
        if (auto const model = known(scalar, kernels, threads, "cached")) return *model;
        if (measuring == Measuring::never) return standard;
    }
    try {
        ProgressScope const phase(progress, "calibration", 0);
        SingleThreadedBlas const blas;
        WorkerTeam team(Topology::detect(), std::min(threads, cores_));
        TimingOptions timing = timing_;
        timing.interrupt = interrupt;
        MachineCosts fresh;
        fresh.memory = time_memory(team, interrupt);
        fresh.put(fit(time_scalar(scalar, kind, team, timing), scalar, kind, team));
        keep(fresh);
    } catch (Error const& error) {
        if (error.status() != Status::out_of_memory) throw;
        return standard;
    } catch (std::bad_alloc const&) {
        return standard;
    }
    return known(scalar, kernels, threads, "calibrated").value_or(standard);
}

MachineCosts CostModels::measure_all(TimingOptions const& timing, std::optional<Network> const& network,
                                     std::function<void()> const& done) {
    auto const held = lock(mutex_, timing.interrupt);
    SingleThreadedBlas const blas;
    WorkerTeam team(Topology::detect(), cores_);
    MachineCosts fresh;
    fresh.memory = time_memory(team, timing.interrupt);
    fresh.network = network;
    TimingOptions part = timing;
    part.seconds /= num_rounds;
    std::array<KernelTimings, num_models> timings;
    auto const for_each_model = [&](auto const& body) {
        auto of_model = timings.begin();
        for (Scalar const scalar : {Scalar::s, Scalar::d, Scalar::c, Scalar::z})
            for (Factorization const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu})
                body(*of_model++, scalar, kind);
    };
    for (int round = 0; round < num_rounds; ++round)
        for_each_model([&](KernelTimings& of_model, Scalar scalar, Factorization kind) {
            add(time_scalar(scalar, kind, team, part), round, of_model);
            done();
        });
    for_each_model([&](KernelTimings const& of_model, Scalar scalar, Factorization kind) {
        fresh.put(fit(of_model, scalar, kind, team));
    });
    keep(fresh);
    return costs_;
}

std::optional<CostModelChoice> CostModels::known(Scalar scalar, KernelKind kind, int threads,
                                                 char const* source) const {
    MeasuredModel const* const measured = costs_.find(scalar, kind);
    auto const model = measured ? measured->for_threads(threads, cores_) : std::nullopt;
    if (!model) return std::nullopt;
    CostModelChoice choice{*model, source, costs_.network.value_or(Network{})};
    choice.network.first_touch_bandwidth = costs_.memory.first_touch;
    choice.model.bandwidth = costs_.memory.one;
    choice.model.read_bandwidth = read_rate(costs_.memory, std::min(threads, cores_), cores_);
    return choice;
}

// Keeps the models that other processes have stored meanwhile.
void CostModels::keep(MachineCosts const& fresh) {
    if (auto stored = store_.load()) {
        for (MeasuredModel& model : stored->models)
            if (!costs_.find(model.scalar, model.calibration.model.kernels.kind))
                costs_.put(std::move(model));
        if (!costs_.network) costs_.network = stored->network;
    }
    if (fresh.network) costs_.network = fresh.network;
    loaded_ = true;
    costs_.memory = {fresh.memory.one, std::max(fresh.memory.all, costs_.memory.all), fresh.memory.read_one,
                     std::max(fresh.memory.read_all, costs_.memory.read_all), fresh.memory.first_touch};
    for (MeasuredModel const& model : fresh.models) costs_.put(model);
    store_.save(costs_);
}

CostModels& cost_models() {
    static CostModels models(CostModelStore(CostModelStore::default_folder(), this_machine()),
                             Topology::detect().default_threads(), {});
    return models;
}

CostModelChoice cost_model_for(Scalar scalar, Factorization kind, int threads, int processes,
                               Toggle calibration, bool is_worthwhile, Interrupt* interrupt,
                               ProgressSink* progress) {
    Toggle const choice = effective(calibration);
    if (choice == Toggle::off) return {default_cost_model(scalar, kernel_kind(kind)), "default"};
    Measuring const measuring = choice == Toggle::on ? Measuring::always
                                : is_worthwhile      ? Measuring::if_unknown
                                                     : Measuring::never;
    CostModels& models = cost_models();
    int const together = threads <= models.cores() / processes ? threads * processes : threads;
    return models.choose(scalar, kind, together, measuring, interrupt, progress);
}

} // namespace espalier
