// `espalier machine --calibrate`: the thorough measurement of the cost model, and its rates as a table.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/calibrate.hpp"
#include "parts.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/processes.hpp"
#include "tools/command/common/progress_bar.hpp"

namespace espalier::command {

namespace {

// GF/s of real flops, where `flops` counts as for real scalars.
double rate(CostModel const& model, Scalar scalar, double flops, double seconds) {
    double const sides = model.kernels.kind == KernelKind::lu ? 2 : 1;
    double const factor = scalar == Scalar::c || scalar == Scalar::z ? 4 : 1;
    return sides * factor * flops / seconds / 1e9;
}

std::string row(MeasuredModel const& measured) {
    constexpr Index width = 128, rows = 1000;
    constexpr double w = width, r = rows;
    CostModel const& model = measured.calibration.model;
    Scalar const scalar = measured.scalar;
    auto const panel = [&](Index below) {
        return seconds_of(panel_counts(model.kernels, width, below), model.panel_seconds);
    };
    auto const update_rate = [&](Index m, Index n, Index k, BlokId runs) {
        auto const counts = update_counts(model.kernels, {m, n, k, m + k + 1, 1, runs});
        double const flops = (counts[UpdateTerm::flop] + counts[UpdateTerm::strided]) /
                             (model.kernels.kind == KernelKind::lu ? 2 : 1);
        return rate(model, scalar, flops, seconds_of(counts, model.update_seconds));
    };
    auto const& contention = measured.contention;
    return fmt::format(
        "  {:<3}{:<10}{:>9.1f}{:>12.1f}{:>16.1f}{:>12.1f}{:>8.0f}{:>9.0f}{:>9.2f}\n", to_string(scalar),
        to_string(model.kernels.kind), rate(model, scalar, w * w * w / 3, panel(0)),
        rate(model, scalar, r * w * w, panel(rows) - panel(0)), update_rate(rows, 120, width, 3),
        update_rate(60, 15, 30, 8), 100 * measured.calibration.panel.median_error,
        100 * measured.calibration.update.median_error, contention.empty() ? 1.0 : contention.back().second);
}

} // namespace

CalibrationResult calibrate(bool shows) {
    CostModels& models = cost_models();
    ProgressBar bar(shows && stderr_shows_bars(), shows);
    TimingOptions timing;
    timing.seconds = 0.25;
    CalibrationResult result;
    {
        ProgressScope const phase(&bar, "calibration", CostModels::num_parts);
        result.costs = models.measure_all(timing, measure_network(), [&] { phase.advance(1); });
    }
    result.cores = models.cores();
    CostModelStore const& store = models.store();
    if (auto const kept = store.load();
        kept && to_json(*kept, store.key()) == to_json(result.costs, store.key()))
        result.file = store.path();
    return result;
}

std::string calibration_text(CalibrationResult const& calibration) {
    MachineCosts const& costs = calibration.costs;
    std::string text =
        fmt::format("cost model  GF/s of a core alone; median error of the fit; time with {} at work\n"
                    "  {:<13}{:>9}{:>12}{:>16}{:>12}{:>8}{:>9}{:>9}\n"
                    "  {:<13}{:>9}{:>12}{:>16}{:>12}{:>8}{:>9}{:>9}\n",
                    counted(calibration.cores, "core"), "", "diagonal", "solve", "update", "update", "panel",
                    "update", "all at", "", "128", "1000x128", "1000x120x128", "60x15x30", "%", "%", "once");
    for (MeasuredModel const& model : costs.models) text += row(model);
    Network const network = costs.network.value_or(Network{});
    text += fmt::format("  memory {:.1f} GB/s by one core, {:.1f} GB/s by all; network{}: {:.1f} us, "
                        "{:.2f} GB/s\n",
                        costs.memory.one / 1e9, costs.memory.all / 1e9, costs.network ? "" : " (default)",
                        network.latency * 1e6, network.bandwidth / 1e9);
    text += calibration.file.empty() ? "  not kept: no cache directory is writable\n"
                                     : fmt::format("  kept in {}\n", calibration.file);
    return text;
}

nlohmann::ordered_json calibration_json(CalibrationResult const& calibration) {
    auto json = nlohmann::ordered_json::parse(to_json(calibration.costs, cost_models().store().key()));
    json["file"] =
        calibration.file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(calibration.file);
    return json;
}

} // namespace espalier::command
