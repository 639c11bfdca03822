// Which cost model a schedule counts in: one that was measured in this process or is kept from an earlier
// one, else one that is measured now; or the one that comes with the library.
#pragma once

#include <functional>
#include <mutex>
#include <string_view>

#include "core/interrupt.hpp"
#include "espalier/options.hpp"
#include "machine/cost_model_store.hpp"

namespace espalier {

struct CostModelChoice {
    CostModel model;
    char const* source = "default"; ///< Or "cached" or "calibrated", as AnalysisReport::cost_model.
    Network network = {};           ///< What was measured between processes, else the default.
};

/// The model for this scalar and factorization when that many threads compute. Options::calibration may be
/// overridden by the environment variable ESPALIER_CALIBRATION when it is automatic: Error{usage} when that
/// is set to anything but auto, on or off. Error{cancelled}. Where memory does not suffice to measure, the
/// model is the default one. `progress` sees a phase when something is measured; it may be null.
CostModelChoice cost_model_for(Scalar scalar, Factorization kind, int threads, Toggle calibration,
                               Interrupt* interrupt, ProgressSink* progress = nullptr);

/// What cost_model_for remembers between its calls. Safe to use from several threads: one of them measures,
/// those who want the same wait for it.
class CostModels {
  public:
    CostModels(CostModelStore store, int cores, TimingOptions timing)
        : store_(std::move(store)), cores_(cores), timing_(timing) {}

    /// Measures if it has to, or `anew` says so.
    CostModelChoice choose(Scalar scalar, Factorization kind, int threads, bool anew, Interrupt* interrupt,
                           ProgressSink* progress = nullptr);

    /// Measures all scalars and kernels on all cores, taking `timing` for each, and keeps that, with a
    /// network that was measured; `done` is told after each of the `num_models`.
    MachineCosts measure_all(TimingOptions const& timing, std::optional<Network> const& network,
                             std::function<void()> const& done);
    static constexpr int num_models = 12;
    [[nodiscard]] CostModelStore const& store() const { return store_; }
    [[nodiscard]] int cores() const { return cores_; }

  private:
    std::optional<CostModelChoice> known(Scalar scalar, KernelKind kind, int threads,
                                         char const* source) const;
    void keep(MachineCosts const& fresh);

    CostModelStore store_;
    int cores_;
    TimingOptions timing_;
    std::timed_mutex mutex_; ///< Guards what follows, and the processor while something is measured.
    bool loaded_ = false;
    MachineCosts costs_;
};

/// The one of this process.
CostModels& cost_models();

} // namespace espalier
