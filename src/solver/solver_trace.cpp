// What a solver shows of its schedule: predictions for this machine or another, and traces of both prediction
// and run.
#include <map>
#include <numeric>
#include <string>

#include "factor/factorize.hpp"
#include "io/atomic_file.hpp"
#include "machine/machine_file.hpp"
#include "runtime/process_limits.hpp"
#include "solver/checks.hpp"
#include "solver/predicted_trace.hpp"
#include "solver/solver_state.hpp"
#include "trace/paje.hpp"

namespace espalier {

namespace {

void write_to(AtomicFile& file, trace::Trace const& trace) {
    trace::write_paje(trace, [&file](std::string_view text) { file.write(text); });
    file.commit();
}

} // namespace

template <class T> std::map<std::string, std::string> Solver<T>::State::trace_metadata() const {
    return {{"program", "espalier " ESPALIER_VERSION_TEXT},
            {"machine", topology_.machine_name()},
            {"scalar", to_string(report.scalar)},
            {"factorization", to_string(report.factorization)},
            {"schedule", to_string(options.schedule)},
            {"alloc", to_string(options.allocation)},
            {"threads", std::to_string(report.threads)},
            {"processes", std::to_string(report.processes)},
            {"comm threads", std::to_string(report.comm_threads)}};
}

template <class T> trace::Track* Solver<T>::State::phases() {
    return recording_.phases();
}

template <class T> void Solver<T>::State::sample_memory() {
    if (trace::Track* const track = phases())
        track->sample(trace::Counter::memory, static_cast<std::int64_t>(current_rss_bytes()));
}

template <class T> Schedule Solver<T>::State::schedule_for(int processes, int threads) const {
    if (!analysis_) throw Error(Status::usage, "predictions need an analysis; call analyze first");
    if (threads < 0)
        throw Error(Status::usage, "a machine of " + std::to_string(threads) + " threads a process");
    MachineModel machine = machine_model(topology_, processes, threads);
    machine.network = analysis_->network;
    return simulate_schedule(analysis_->structure, analysis_->costs, machine,
                             {analysis_->options, analysis_->panel_format()});
}

template <class T> Prediction Solver<T>::State::describe(Schedule const& schedule) const {
    Prediction prediction;
    prediction.processes = schedule.machine.processes;
    prediction.threads = schedule.machine.threads;
    prediction.factor_s = schedule.makespan();
    prediction.critical_path_s = schedule.critical_path();
    prediction.work_s = schedule.total_work();
    prediction.memory_s = schedule.memory_seconds();
    prediction.efficiency = schedule.efficiency();
    prediction.steals = schedule.steals();
    prediction.steals_by_distance = schedule.steals_by_distance;
    prediction.local_share = schedule.local_share();
    prediction.messages = schedule.messages();
    prediction.message_bytes = schedule.message_bytes();
    prediction.tasks = schedule.tasks.graph.num_tasks() - prediction.messages;
    for (int w = 0; w < schedule.machine.num_workers(); ++w)
        prediction.idle_s.push_back(schedule.run.idle(w));
    auto const common = static_cast<double>(structure_bytes(analysis_->structure) +
                                            workspace_bytes(analysis_->structure, analysis_->form,
                                                            analysis_->panel_format().scalar_bytes,
                                                            schedule.machine.threads));
    std::vector<Index> owned(schedule.processes.size(), 0);
    for (std::int32_t const p : schedule.process_of_cblk) ++owned[p];
    for (std::size_t p = 0; p < schedule.processes.size(); ++p) {
        ProcessUse const& use = schedule.processes[p];
        auto const first = schedule.run.busy.begin() + static_cast<std::ptrdiff_t>(p) * prediction.threads;
        prediction.process.push_back({.cblks = owned[p],
                                      .busy_s = std::accumulate(first, first + prediction.threads, 0.0),
                                      .memory_bytes = use.memory() + common,
                                      .fan_in_bytes = use.fan_in_peak,
                                      .sent_bytes = use.sent,
                                      .received_bytes = use.received,
                                      .messages_sent = use.messages_sent,
                                      .messages_received = use.messages_received,
                                      .steals = use.steals,
                                      .local_share = use.bytes > 0 ? use.local_bytes / use.bytes : 1});
    }
    return prediction;
}

template <class T> void Solver<T>::State::write_schedule(std::string const& path, Schedule const& schedule,
                                                         CostModel const& costs,
                                                         std::map<std::string, std::string> metadata) const {
    metadata["processes"] = std::to_string(schedule.machine.processes);
    metadata["threads"] = std::to_string(schedule.machine.threads);
    AtomicFile file(path);
    write_to(file, trace::Trace(predicted_trace(analysis_->structure, costs, schedule, std::move(metadata))));
}

template <class T> Prediction Solver<T>::State::predict(int processes, int threads,
                                                        std::string const* trace_path,
                                                        std::string const& matrix_name) const {
    Schedule const schedule = schedule_for(processes, threads);
    if (trace_path) {
        auto metadata = trace_metadata();
        if (!matrix_name.empty()) metadata["matrix"] = matrix_name;
        write_schedule(*trace_path, schedule, analysis_->costs, std::move(metadata));
    }
    return describe(schedule);
}

template <class T> Prediction Solver<T>::State::simulate(Simulation const& what) const {
    if (!analysis_) throw Error(Status::usage, "simulations need an analysis; call analyze first");
    SimulatedMachine const machine = find_machine(what.machine);
    bool const narrow = analysis_->options.mixed_precision && analysis_->options.schur.empty() && can_narrow;
    CostModel const costs = machine.costs(analysis_->costs, narrow ? scalar_of<Low> : scalar_of<T>);
    MachineModel model = machine.model(what.processes, what.threads);
    if (machine.is_here) model.network = analysis_->network;
    Schedule const schedule =
        simulate_schedule(analysis_->structure, costs, model, {what, analysis_->panel_format(), true});
    if (!what.trace.empty()) {
        auto metadata = trace_metadata();
        metadata["machine"] = machine.name;
        metadata["schedule"] = to_string(what.schedule);
        metadata["alloc"] = to_string(what.allocation);
        metadata["split"] = to_string(what.splitting);
        if (!what.matrix_name.empty()) metadata["matrix"] = what.matrix_name;
        write_schedule(what.trace, schedule, costs, std::move(metadata));
    }
    return describe(schedule);
}

template <class T>
void Solver<T>::State::write_trace(std::string const& path, std::string const& matrix_name) {
    if (!recording_.has_recorder())
        throw Error(Status::usage, "no trace was recorded: set record_trace before analyze or factorize");
    auto metadata = trace_metadata();
    if (!matrix_name.empty()) metadata["matrix"] = matrix_name;
    AtomicFile file(path); // before anything is taken from the recorder
    trace::TraceParts parts = ensemble_.collect_trace();
    parts.metadata.merge(metadata);
    if (parts.states.empty())
        throw Error(Status::usage, "nothing was recorded since the last trace was written");
    write_to(file, trace::Trace(std::move(parts)));
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template trace::Track* Solver<T>::State::phases();                                                       \
    template void Solver<T>::State::sample_memory();                                                         \
    template Prediction Solver<T>::State::predict(int, int, std::string const*, std::string const&) const;   \
    template Prediction Solver<T>::State::simulate(Simulation const&) const;                                 \
    template void Solver<T>::State::write_trace(std::string const&, std::string const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
