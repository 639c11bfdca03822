#include "analysis/predictions.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "analysis/predicted_trace.hpp"
#include "core/timer.hpp"
#include "factor/factorize.hpp"
#include "io/atomic_file.hpp"
#include "machine/machine_file.hpp"
#include "simulation/pack_plan.hpp"
#include "trace/paje.hpp"

namespace espalier {

namespace {

ProcessPrediction describe(Schedule const& schedule, Index p, std::uint64_t other_bytes) {
    ProcessUse const& use = schedule.processes[p];
    int const threads = schedule.machine.threads;
    auto const first = schedule.run.busy.begin() + p * threads;
    return {.busy_s = std::accumulate(first, first + threads, 0.0),
            .memory_bytes = use.memory() + static_cast<double>(other_bytes),
            .fan_in_bytes = use.fan_in_peak,
            .sent_bytes = use.sent,
            .received_bytes = use.received,
            .messages_sent = use.messages_sent,
            .messages_received = use.messages_received,
            .steals = use.steals,
            .local_share = use.bytes > 0 ? use.local_bytes / use.bytes : 1};
}

// The plans that several processes get.
void add_plans(Prediction& prediction, ProcessPlans const& plans, Timer const& timer) {
    for (Index p = 0; p < prediction.processes; ++p) {
        ProcessPrediction& one = prediction.process[p];
        one.plan_bytes = static_cast<double>(packed_plan(plans, static_cast<int>(p)).size());
        one.memory_bytes += one.plan_bytes;
    }
    prediction.plans_s = timer.seconds();
}

template <class T> Prediction describe(Analysis<T> const& analysis, BlockStructure const& structure,
                                       ScheduleChoice const& choice, Schedule schedule) {
    Prediction prediction;
    prediction.schedule = analysis.describe(choice, schedule.machine.num_workers());
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
    std::string const note = splitting_without_effect(choice.settings, schedule.machine.num_workers(),
                                                      !schedule.groups.none_is_cut());
    if (!note.empty()) prediction.notes.push_back(note);
    for (int w = 0; w < schedule.machine.num_workers(); ++w)
        prediction.idle_s.push_back(schedule.run.idle(w));
    std::uint64_t const workspace = workspace_bytes(
        structure, analysis.form, analysis.panel_format().scalar_bytes, schedule.machine.threads);
    for (Index p = 0; p < prediction.processes; ++p)
        prediction.process.push_back(describe(schedule, p, workspace));
    for (std::int32_t const p : schedule.process_of_cblk) ++prediction.process[p].cblks;
    Timer const timer;
    ProcessPlans const plans = deal_schedule(structure, std::move(schedule), {choice.settings});
    if (prediction.processes == 1)
        prediction.process.front().memory_bytes += static_cast<double>(structure_bytes(structure));
    else
        add_plans(prediction, plans, timer);
    auto const needs = analysis.needs_of(structure, plans);
    typename Analysis<T>::Planned const planned{structure, plans.shared, needs};
    analysis.fill(prediction.analysis, planned);
    prediction.analysis.predicted_peak_bytes = analysis.expected_bytes(planned, 0);
    return prediction;
}

void write_schedule(std::string const& path, BlockStructure const& structure, Schedule const& schedule,
                    CostModel const& costs, ScheduleSettings const& settings, TraceMetadata metadata) {
    metadata["schedule"] = to_string(settings.schedule);
    metadata["alloc"] = to_string(settings.allocation);
    metadata["split"] = to_string(settings.splitting);
    metadata["processes"] = std::to_string(schedule.machine.processes);
    metadata["threads"] = std::to_string(schedule.machine.threads);
    metadata["comm threads"] = std::to_string(schedule.comm_threads.count);
    AtomicFile file(path);
    trace::Trace const trace(predicted_trace(structure, costs, schedule, std::move(metadata)));
    trace::write_paje(trace, [&file](std::string_view text) { file.write(text); });
    file.commit();
}

// Each process also as several, with an equal part of its NUMA nodes and of its network bandwidth each.
void add_shapes(std::vector<MachineModel>& shapes) {
    MachineModel const whole = shapes.front();
    int const nodes = whole.num_nodes();
    for (int parts = 2; parts <= nodes; ++parts)
        if (nodes % parts == 0 && whole.threads % parts == 0) {
            MachineModel part = whole;
            part.processes *= parts;
            part.threads /= parts;
            part.node_of_thread.resize(part.threads);
            part.network.bandwidth /= parts;
            if (part.num_nodes() * parts == nodes) shapes.push_back(std::move(part));
        }
}

} // namespace

template <class T> Prediction predict(Analysis<T> const& analysis, Topology const& topology, int processes,
                                      int threads, std::string const* trace_path,
                                      TraceMetadata const& metadata) {
    MachineModel machine = machine_model(topology, processes, threads);
    machine.network = analysis.network;
    ScheduleChoice const choice = analysis.choose_schedule(analysis.options, analysis.costs, {&machine, 1});
    BlockStructure const structure = analysis.split(choice.settings, machine.num_workers());
    Schedule schedule =
        simulate_schedule(structure, analysis.costs, machine, {choice.settings, analysis.panel_format()});
    if (trace_path)
        write_schedule(*trace_path, structure, schedule, analysis.costs, choice.settings, metadata);
    return describe(analysis, structure, choice, std::move(schedule));
}

template <class T>
Prediction simulate(Analysis<T> const& analysis, Simulation const& what, TraceMetadata metadata) {
    require_block_widths(what);
    SimulatedMachine const machine = find_machine(what.machine);
    CostModel const costs = machine.costs(analysis.costs, analysis.planned_scalar());
    MachineModel model = machine.model(what.processes, what.threads);
    if (machine.is_here) model.network = analysis.network;
    std::vector<MachineModel> shapes{model};
    if (what.schedule == SchedulePolicy::automatic && what.threads == 0) add_shapes(shapes);
    ScheduleChoice const choice = analysis.choose_schedule(what, costs, shapes);
    MachineModel const& shape = shapes[choice.machine];
    BlockStructure const structure = analysis.split(choice.settings, shape.num_workers());
    Schedule schedule =
        simulate_schedule(structure, costs, shape, {choice.settings, analysis.panel_format(), true});
    if (!what.trace.empty()) {
        metadata["machine"] = machine.name;
        write_schedule(what.trace, structure, schedule, costs, choice.settings, std::move(metadata));
    }
    return describe(analysis, structure, choice, std::move(schedule));
}

ESPALIER_INSTANTIATE_FUNCTION(predict)
ESPALIER_INSTANTIATE_FUNCTION(simulate)

} // namespace espalier
