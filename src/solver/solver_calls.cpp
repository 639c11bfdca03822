// Collective calls of a solver. At the beginning all processes adopt the settings of process 0, and processes
// that follow receive the name of the call. At the end all processes receive the report of process 0.
#include <utility>

#include "analysis/checks.hpp"
#include "espalier/distributed.hpp"
#include "options/report_table.hpp"
#include "runtime/process_limits.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> Solver<T>::State::State(Options given, Communicator processes, bool follows)
    : context_(given.topology, processes), notes_(context_, options, report.notes),
      calls_(std::move(processes)), factor_(context_), simplicial_(context_), incomplete_(context_),
      working_(!context_.is_alone()) {
    if (follows && context_.is_root())
        throw Error(Status::usage, "process 0 makes the calls and cannot follow");
    some_follow_ = max(context_.comm(), std::int64_t{follows}) > 0;
    report.processes = context_.comm().size();
    context_.on_all([&] {
        options.topology = given.topology;
        unused_.emplace();
        set_options(std::move(given));
    });
}

template <class T> Solver<T>::State::~State() {
    if (!some_follow_ || !context_.is_root()) return;
    try {
        calls_.end();
    } catch (...) { // a destructor cannot report an exception
    }
}

template <class T> void Solver<T>::State::make_call(std::string_view name, CallArguments const& arguments,
                                                    detail::StepRef const& body) {
    CallSettings settings = settings_of_call();
    static_cast<CallArguments&>(settings) = arguments;
    calls_.begin(name, settings, [this](CallSettings const& given) { adopt(given); });
    record_if_asked();
    if (context_.is_alone()) return body();
    std::optional<Error> const problem = error_of(body); // equal on all processes
    share_report();
    if (problem) throw *problem;
}

template <class T> void Solver<T>::State::set_options(Options given) {
    require_sound(given);
    bool const moves = options.topology != given.topology;
    if (moves && !context_.is_alone())
        throw Error(Status::usage,
                    "the topology of a solver on several processes cannot be changed; create a new solver");
    if (moves) context_.set_topology(given.topology);
    // An analysis belongs to the workers of process 0, which the other processes adopt in each call.
    if (context_.is_root() || !system_) {
        int const threads = given.threads > 0 ? given.threads : context_.default_threads();
        // A plan is made for a number of workers, and an incomplete factor for one team of them.
        bool const changes_team =
            system_ && system_->is_incomplete && options.bind_threads != given.bind_threads;
        if (moves || report.threads != threads || changes_team) drop_analysis();
        context_.set_threads(threads, given.bind_threads);
        report.threads = threads;
    }
    options = std::move(given);
    report.scalar = scalar_of<T>;
}

// The options that have the same names in CallSettings and in Options.
template <class From, class To> static void copy_options(From const& from, To& to) {
    to.bind_threads = from.bind_threads;
    to.comm_threads = from.comm_threads;
    to.pivoting = from.pivoting;
    to.pivot_tolerance = from.pivot_tolerance;
    to.record_trace = from.record_trace;
    to.mixed_precision = from.mixed_precision;
    to.condition = from.condition;
    to.allocation = from.allocation;
    to.refine = from.refine;
    to.max_refine_iterations = from.max_refine_iterations;
    to.tolerance = from.tolerance;
    to.max_memory = from.max_memory;
}

template <class T> CallSettings Solver<T>::State::settings_of_call() const {
    CallSettings settings;
    settings.is_analyzed = system_.has_value();
    settings.is_factorized = factorized_;
    settings.threads = report.threads;
    copy_options(options, settings);
    return settings;
}

template <class T> void Solver<T>::State::adopt(CallSettings const& settings) {
    call_ = settings;
    if (!settings.is_analyzed) drop_analysis();
    factorized_ = settings.is_factorized;
    report.threads = settings.threads;
    copy_options(settings, options);
    context_.set_threads(report.threads, options.bind_threads);
    if (options.max_memory > 0) factor_.release_workspace(); // the limit counts the memory of each call alone
    notes_.add_once(context_.begin_call(options));
    report.comm_threads = context_.comm_threads();
}

template <class T> void Solver<T>::State::record_if_asked() {
    if (options.record_trace && !context_.recording().has_recorder()) context_.recording().restart();
}

template <class T> void Solver<T>::State::share_report() {
    auto const peak = context_.on_all([] { return static_cast<std::int64_t>(peak_rss_bytes()); });
    auto const peaks = all_gather(context_.comm(), peak);
    report = context_.on_root([&] {
        notes_.throw_problem();
        report.peak_memory_of_process.assign(peaks.begin(), peaks.end());
        return report;
    });
}

template <class T> void Solver<T>::State::follow() {
    for (;;) {
        CallName const name = calls_.next([this](CallSettings const& given) { adopt(given); });
        if (name.view().empty()) return;
        try {
            record_if_asked();
            std::optional<Error> const problem = error_of([&] { take_part(name.view()); });
            share_report();
        } catch (std::exception const&) { // process 0 reports the error
        }
    }
}

// Makes the call `name` with empty arguments.
template <class T> void Solver<T>::State::take_part(std::string_view name) {
    CscMatrix<T> const& none = no_matrix<T>;
    if (name == "analyze") return analyze(none);
    if (name == "factorize") return factorize(none);
    if (name == "solve") return (void)solve({});
    if (name == "solve_rows") return (void)solve_rows({}, call_.columns, call_.op);
    if (name == "refine") return (void)refine(none, {}, {});
    if (name == "refine_rows") return (void)refine_rows(none, {}, {}, call_.columns, call_.op);
    if (name == "solve_sparse") return (void)solve_sparse(none);
    if (name == "inertia") return (void)inertia();
    if (name == "determinant") return (void)determinant();
    if (name == "reciprocal_condition") return (void)reciprocal_condition(none);
    if (name == "null_space") return (void)null_space(none);
    if (name == "selected_inverse") return (void)selected_inverse(none);
    if (name == "inverse_diagonal") return (void)inverse_diagonal();
    if (name == "factors") return (void)factors();
    if (name == "solve_lower") return (void)solve_half({}, true);
    if (name == "solve_lower_adjoint") return (void)solve_half({}, false);
    if (name == "update") return (void)update(*unused_, none, 1);
    if (name == "update_dense") return (void)update_dense(*unused_, {}, 1);
    if (name == "schur_complement") return (void)schur_complement();
    if (name == "condense") return (void)condense({});
    if (name == "expand") return (void)expand({}, {});
    if (name == "write_trace") return write_trace({}, {});
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Solver<T>::State::State(Options, Communicator, bool);                                           \
    template Solver<T>::State::~State();                                                                     \
    template void Solver<T>::State::make_call(std::string_view, CallArguments const&,                        \
                                              detail::StepRef const&);                                       \
    template void Solver<T>::State::set_options(Options);                                                    \
    template CallSettings Solver<T>::State::settings_of_call() const;                                        \
    template void Solver<T>::State::adopt(CallSettings const&);                                              \
    template void Solver<T>::State::record_if_asked();                                                       \
    template void Solver<T>::State::share_report();                                                          \
    template void Solver<T>::State::follow();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
