// What a solver stands on: its options, the machine they name, its team of workers, its recorder of traces.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "solver/solver_state.hpp"

namespace espalier {

Simulation simulation_of(Options const& options, std::string machine, int processes, int threads) {
    return {options, std::move(machine), processes, threads, {}, {}};
}

namespace {

// Processes that may use the same cores of a machine divide them up.
Topology own_part(Topology const& topology, Communicator const& processes) {
    auto const machine =
        static_cast<std::int64_t>(std::hash<std::string>{}(topology.machine_name()) >> 1); // never negative
    std::vector<std::int64_t> const machines = all_gather(processes, machine);
    int part = 0, parts = 0;
    for (int r = 0; r < processes.size(); ++r) {
        if (machines[r] != machine) continue;
        part += r < processes.rank();
        ++parts;
    }
    bool const disjoint = topology.num_cores() * parts <= topology.machine_cores();
    return parts == 1 || disjoint || !topology.is_this_machine() ? topology : topology.share(part, parts);
}

// The machine of every process; the same error on all where one has none.
Topology topology_of_process(std::string const& name, Communicator const& processes) {
    std::optional<Topology> found;
    all_succeed(processes, [&] { found = Topology::named(name); });
    return own_part(*found, processes);
}

} // namespace

template <class T> Solver<T>::State::State(Options given, Communicator processes, bool follows)
    : topology_(topology_of_process(given.topology, processes)),
      default_threads_(static_cast<int>(min(processes, std::int64_t{topology_.default_threads()}))),
      recording_(processes, topology_.machine_name(),
                 [this] {
                     if (team_) team_->record(nullptr);
                 }),
      ensemble_(std::move(processes), follows, recording_) {
    options.topology = given.topology;
    report.processes = ensemble_.comm().size();
    all_succeed(ensemble_.comm(), [&] { set_options(std::move(given)); });
}

template <class T> void Solver<T>::State::set_options(Options given) {
    require_sound(given);
    bool const moves = options.topology != given.topology;
    if (moves && !ensemble_.is_alone())
        throw Error(Status::usage, "several processes keep the machine that their solver was made for");
    if (moves) {
        Topology other = Topology::named(given.topology);
        team_.reset();
        topology_ = std::move(other);
        default_threads_ = topology_.default_threads();
    }
    int const threads = given.threads > 0 ? given.threads : default_threads_;
    if (report.threads != threads || options.bind_threads != given.bind_threads) team_.reset();
    if (moves || report.threads != threads) { // plans are made for a number of workers
        factorized_ = false;
        ensemble_.drop_factors();
        analysis_.reset();
    }
    options = std::move(given);
    report.scalar = scalar_of<T>;
    report.threads = threads;
}

template <class T> WorkerTeam& Solver<T>::State::workers() {
    if (!team_) team_ = std::make_unique<WorkerTeam>(topology_, report.threads, options.bind_threads);
    team_->record(recording_.recorder());
    return *team_;
}

template <class T> void Solver<T>::State::begin_call(std::string_view call) {
    CallSettings settings{std::string(call), report.threads, options.bind_threads, options.comm_threads,
                          options.record_trace};
    ensemble_.agree_on_call(settings);
    adopt(settings);
}

// As process 0 has it, and then this call begins.
template <class T> void Solver<T>::State::adopt(CallSettings const& settings) {
    if (settings.threads != report.threads || settings.bind_threads != options.bind_threads) team_.reset();
    report.threads = settings.threads;
    options.bind_threads = settings.bind_threads;
    options.record_trace = settings.record_trace;
    recording_.switch_on(options.record_trace);
    interrupt_ = std::make_shared<Interrupt>(options.cancel);
    std::string const fewer = ensemble_.work_with([this]() -> WorkerTeam& { return workers(); }, topology_,
                                                  interrupt_, settings.comm_threads);
    bool const is_new = std::find(report.notes.begin(), report.notes.end(), fewer) == report.notes.end();
    if (!fewer.empty() && is_new) note(fewer);
    report.comm_threads = ensemble_.comm_threads();
}

template <class T> void Solver<T>::State::follow() {
    if (ensemble_.leads()) throw Error(Status::usage, "process 0 leads, it cannot follow");
    for (;;) {
        CallSettings const settings = ensemble_.next_call();
        if (settings.call.empty()) return;
        try {
            adopt(settings);
            (void)ensemble_.serve(report);
        } catch (Error const&) { // process 0 has it, too
        }
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Solver<T>::State::State(Options, Communicator, bool);                                           \
    template void Solver<T>::State::set_options(Options);                                                    \
    template WorkerTeam& Solver<T>::State::workers();                                                        \
    template void Solver<T>::State::begin_call(std::string_view);                                            \
    template void Solver<T>::State::follow();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
