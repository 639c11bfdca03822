// What a solver stands on: its options, the machine they name, its team of workers, its recorder of traces.
#include <utility>

#include "api/solver_state.hpp"

namespace espalier {

Simulation simulation_of(Options const& options, std::string machine, int processes, int threads) {
    Simulation what;
    what.machine = std::move(machine);
    what.processes = processes;
    what.threads = threads;
    what.schedule = options.schedule;
    what.push_init = options.push_init;
    what.push = options.push;
    what.select = options.select;
    what.strict = options.strict;
    what.seed = options.seed;
    what.allocation = options.allocation;
    what.splitting = options.splitting;
    what.split_width = options.split_width;
    what.split_rows = options.split_rows;
    return what;
}

template <class T> Solver<T>::State::State(Options given) : topology_(Topology::named(given.topology)) {
    options.topology = given.topology;
    set_options(std::move(given));
}

template <class T> void Solver<T>::State::set_options(Options given) {
    require_sound(given);
    bool const moves = options.topology != given.topology;
    if (moves) {
        Topology other = Topology::named(given.topology);
        team_.reset();
        topology_ = std::move(other);
    }
    int const threads = given.threads > 0 ? given.threads : topology_.default_threads();
    if (report.threads != threads || options.bind_threads != given.bind_threads) team_.reset();
    if (moves || report.threads != threads) { // plans are made for a number of workers
        factorized_ = false;
        full_.reset();
        narrow_.reset();
        assembly_.reset();
        analysis_.reset();
    }
    options = std::move(given);
    report.scalar = scalar_of<T>;
    report.threads = threads;
}

template <class T> WorkerTeam& Solver<T>::State::workers() {
    if (!team_) team_ = std::make_unique<WorkerTeam>(topology_, report.threads, options.bind_threads);
    team_->record(options.record_trace ? recorder_.get() : nullptr);
    return *team_;
}

template <class T> void Solver<T>::State::begin_call() {
    interrupt_ = std::make_shared<Interrupt>(options.cancel);
    if (options.record_trace && !recorder_)
        recorder_ = std::make_unique<trace::Recorder>(trace::Recorder::Options{});
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Solver<T>::State::State(Options);                                                               \
    template void Solver<T>::State::set_options(Options);                                                    \
    template WorkerTeam& Solver<T>::State::workers();                                                        \
    template void Solver<T>::State::begin_call();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
