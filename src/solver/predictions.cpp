#include "solver/predictions.hpp"

#include <numeric>
#include <utility>

#include "factor/factorize.hpp"
#include "io/atomic_file.hpp"
#include "machine/machine_file.hpp"
#include "solver/predicted_trace.hpp"
#include "trace/paje.hpp"

namespace espalier {

namespace {

ProcessPrediction describe(Schedule const& schedule, Index p, double common_bytes) {
    ProcessUse const& use = schedule.processes[p];
    int const threads = schedule.machine.threads;
    auto const first = schedule.run.busy.begin() + p * threads;
    return {.busy_s = std::accumulate(first, first + threads, 0.0),
            .memory_bytes = use.memory() + common_bytes,
            .fan_in_bytes = use.fan_in_peak,
            .sent_bytes = use.sent,
            .received_bytes = use.received,
            .messages_sent = use.messages_sent,
            .messages_received = use.messages_received,
            .steals = use.steals,
            .local_share = use.bytes > 0 ? use.local_bytes / use.bytes : 1};
}

template <class T> Prediction describe(Analysis<T> const& analysis, Schedule const& schedule) {
    Prediction prediction;
    prediction.processes = schedule.machine.processes;
    prediction.threads = schedule.machine.threads;
    prediction.comm_threads = schedule.comm_threads.count;
    prediction.factor_s = schedule.makespan();
    prediction.solve_s = schedule.solve_seconds();
    prediction.critical_path_s = schedule.critical_path();
    prediction.work_s = schedule.total_work();
    prediction.memory_s = schedule.memory_seconds();
    prediction.communication_s = schedule.communication_seconds();
    prediction.efficiency = schedule.efficiency();
    prediction.steals = schedule.steals();
    prediction.tasks_divided = schedule.tasks_divided();
    prediction.steals_by_distance = schedule.steals_by_distance;
    prediction.local_share = schedule.local_share();
    prediction.messages = schedule.messages();
    prediction.message_bytes = schedule.message_bytes();
    prediction.tasks = schedule.tasks.graph.num_tasks() - prediction.messages;
    for (int w = 0; w < schedule.machine.num_workers(); ++w)
        prediction.idle_s.push_back(schedule.run.idle(w));
    auto const common =
        static_cast<double>(structure_bytes(analysis.structure) +
                            workspace_bytes(analysis.structure, analysis.form,
                                            analysis.panel_format().scalar_bytes, schedule.machine.threads));
    for (Index p = 0; p < std::ssize(schedule.processes); ++p)
        prediction.process.push_back(describe(schedule, p, common));
    for (std::int32_t const p : schedule.process_of_cblk) ++prediction.process[p].cblks;
    return prediction;
}

template <class T> void write_schedule(Analysis<T> const& analysis, std::string const& path,
                                       Schedule const& schedule, CostModel const& costs,
                                       TraceMetadata metadata) {
    metadata["processes"] = std::to_string(schedule.machine.processes);
    metadata["threads"] = std::to_string(schedule.machine.threads);
    AtomicFile file(path);
    trace::Trace const trace(predicted_trace(analysis.structure, costs, schedule, std::move(metadata)));
    trace::write_paje(trace, [&file](std::string_view text) { file.write(text); });
    file.commit();
}

} // namespace

template <class T> Prediction predict(Analysis<T> const& analysis, Topology const& topology, int processes,
                                      int threads, std::string const* trace_path,
                                      TraceMetadata const& metadata) {
    MachineModel machine = machine_model(topology, processes, threads);
    machine.network = analysis.network;
    Schedule const schedule = simulate_schedule(analysis.structure, analysis.costs, machine,
                                                {analysis.options, analysis.panel_format()});
    if (trace_path) write_schedule(analysis, *trace_path, schedule, analysis.costs, metadata);
    return describe(analysis, schedule);
}

template <class T>
Prediction simulate(Analysis<T> const& analysis, Simulation const& what, TraceMetadata metadata) {
    SimulatedMachine const machine = find_machine(what.machine);
    CostModel const costs = machine.costs(analysis.costs, analysis.planned_scalar());
    MachineModel model = machine.model(what.processes, what.threads);
    if (machine.is_here) model.network = analysis.network;
    Schedule const schedule =
        simulate_schedule(analysis.structure, costs, model, {what, analysis.panel_format(), true});
    if (!what.trace.empty()) {
        metadata["machine"] = machine.name;
        metadata["schedule"] = to_string(what.schedule);
        metadata["alloc"] = to_string(what.allocation);
        metadata["split"] = to_string(what.splitting);
        write_schedule(analysis, what.trace, schedule, costs, std::move(metadata));
    }
    return describe(analysis, schedule);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Prediction predict<T>(Analysis<T> const&, Topology const&, int, int, std::string const*,        \
                                   TraceMetadata const&);                                                    \
    template Prediction simulate<T>(Analysis<T> const&, Simulation const&, TraceMetadata);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
