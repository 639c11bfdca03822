// The choice of the cost model for a schedule: a model that was measured earlier, in this process or in
// another, else one that is measured now, or the default model of the library.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "core/interrupt.hpp"
#include "espalier/options.hpp"
#include "machine/cost_model_store.hpp"

namespace espalier {

struct CostModelChoice {
    CostModel model;
    char const* source = "default"; ///< Or "cached" or "calibrated", as AnalysisReport::cost_model.
    Network network = {};           ///< The measured network between processes, else the default.
};

enum class Measuring : std::uint8_t { never, if_unknown, always };

/// The model for this scalar and factorization on `threads` threads of each of `processes` processes on this
/// computer. The other processes are taken into account if this process may use enough cores for all of them.
/// The environment variable ESPALIER_CALIBRATION replaces an automatic `calibration`; Error{usage} unless it
/// is auto, on or off. An automatic calibration measures a model that is not known if `is_worthwhile`. If
/// nothing is known or measured, the default model is returned. `progress`, which may be null, receives a
/// phase during measurements. Error{cancelled}.
CostModelChoice cost_model_for(Scalar scalar, Factorization kind, int threads, int processes,
                               Toggle calibration, bool is_worthwhile, Interrupt* interrupt,
                               ProgressSink* progress = nullptr);

/// The models that cost_model_for keeps between calls. Thread-safe: while one thread measures, the others
/// wait.
class CostModels {
  public:
    CostModels(CostModelStore store, int cores, TimingOptions timing)
        : store_(std::move(store)), cores_(cores), timing_(timing) {}

    /// Returns a known model, a model that is measured now, or the default model.
    CostModelChoice choose(Scalar scalar, Factorization kind, int threads, Measuring measuring,
                           Interrupt* interrupt, ProgressSink* progress = nullptr);

    /// Measures all scalars and kernels on all cores with `timing` for each, and keeps the models and the
    /// measured network. The speed of a machine changes within seconds, so each model has a part of its
    /// measurements in each of several rounds over all models. Calls `done` after each of `num_parts`.
    MachineCosts measure_all(TimingOptions const& timing, std::optional<Network> const& network,
                             std::function<void()> const& done);
    static constexpr int num_models = 12, num_rounds = 3, num_parts = num_rounds * num_models;
    [[nodiscard]] CostModelStore const& store() const { return store_; }
    [[nodiscard]] int cores() const { return cores_; }

  private:
    std::optional<CostModelChoice> known(Scalar scalar, KernelKind kind, int threads,
                                         char const* source) const;
    void keep(MachineCosts const& fresh);

    CostModelStore store_;
    int cores_;
    TimingOptions timing_;
    std::timed_mutex mutex_; ///< Guards the members below, and the processor during measurements.
    bool loaded_ = false;
    MachineCosts costs_;
};

/// The models of this process.
CostModels& cost_models();

} // namespace espalier
