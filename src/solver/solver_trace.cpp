// Predictions and traces in espalier::Solver.
#include <optional>
#include <string>
#include <utility>

#include "io/atomic_file.hpp"
#include "solver/solver_state.hpp"
#include "trace/paje.hpp"

namespace espalier {

Simulation simulation_of(Options const& options, std::string machine, int processes, int threads) {
    return {options, std::move(machine), processes, threads, {}, {}};
}

static TraceMetadata trace_metadata(Topology const& topology, Report const& report, Allocation allocation,
                                    std::string const& matrix_name) {
    TraceMetadata metadata{{"program", "espalier " ESPALIER_VERSION_TEXT},
                           {"machine", topology.machine_name()},
                           {"scalar", to_string(report.scalar)},
                           {"factorization", to_string(report.factorization)},
                           {"schedule", to_string(report.schedule.policy)},
                           {"alloc", to_string(allocation)},
                           {"threads", std::to_string(report.threads)},
                           {"processes", std::to_string(report.processes)},
                           {"comm threads", std::to_string(report.comm_threads)}};
    if (!matrix_name.empty()) metadata["matrix"] = matrix_name;
    return metadata;
}

template <class T> Prediction Solver<T>::State::predict(int processes, int threads,
                                                        std::string const* trace_path,
                                                        std::string const& matrix_name) const {
    if (!analysis_)
        throw Error(Status::usage, "predictions need an analysis; call analyze first, and again after a "
                                   "change of threads or topology");
    require("predict", {Need::complete, Need::supernodes});
    return with_times_and_peak(
        espalier::predict(*analysis_, context_.topology(), processes, threads, trace_path,
                          trace_metadata(context_.topology(), report, options.allocation, matrix_name)));
}

template <class T> Prediction Solver<T>::State::simulate(Simulation const& what) const {
    if (!analysis_)
        throw Error(Status::usage, "simulations need an analysis; call analyze first, and again after a "
                                   "change of threads or topology");
    require("simulate", {Need::complete, Need::supernodes});
    return with_times_and_peak(espalier::simulate(
        *analysis_, what, trace_metadata(context_.topology(), report, options.allocation, what.matrix_name)));
}

template <class T> Prediction Solver<T>::State::with_times_and_peak(Prediction prediction) const {
    std::uint64_t const resident =
        report.analysis.predicted_peak_bytes - analysis_->expected_bytes(analysis_->planned(), 0);
    prediction.analysis.total_s = report.analysis.total_s;
    prediction.analysis.predicted_peak_bytes += resident;
    return prediction;
}

template <class T>
void Solver<T>::State::write_trace(std::string const& path, std::string const& matrix_name) {
    std::optional<AtomicFile> file;
    context_.on_root([&] {
        if (!context_.recording().has_recorder())
            throw Error(Status::usage, "no trace was recorded: set record_trace before analyze or factorize");
        file.emplace(path); // may fail before the records are collected
    });
    trace::TraceParts parts = context_.recording().collect();
    context_.on_root([&] {
        parts.metadata.merge(trace_metadata(context_.topology(), report, options.allocation, matrix_name));
        if (parts.states.empty())
            throw Error(Status::usage, "nothing was recorded since the last trace was written");
        trace::Trace const trace(std::move(parts));
        trace::write_paje(trace, [&file](std::string_view text) { file->write(text); });
        file->commit();
    });
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Prediction Solver<T>::State::predict(int, int, std::string const*, std::string const&) const;   \
    template Prediction Solver<T>::State::simulate(Simulation const&) const;                                 \
    template void Solver<T>::State::write_trace(std::string const&, std::string const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
