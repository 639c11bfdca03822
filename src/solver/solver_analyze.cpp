// The analysis in espalier::Solver, which also prepares the factors.
#include <algorithm>
#include <utility>

#include "analysis/checks.hpp"
#include "analysis/choose_method.hpp"
#include "core/timer.hpp"
#include "machine/machine_file.hpp"
#include "runtime/process_limits.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

namespace {

// For matrices with at most this many entries, reading the resident set takes longer than the analysis.
constexpr Offset most_small_entries = 20'000;

} // namespace

template <class T> void Solver<T>::State::analyze(CscMatrix<T> const& matrix) {
    unavoidable_pivots_ = 0;
    unavoidable_error_ = 0;
    if (!context_.on_root([&] { return options.method == SolveMethod::automatic; }))
        return analyze(matrix, options);
    // The analysis for complete factors predicts their memory and time.
    Options chosen = options;
    chosen.method = SolveMethod::direct;
    chosen.max_memory = 0;
    std::optional<Error> const problem = error_of([&] { analyze(matrix, chosen); });
    if (problem && problem->status() != Status::out_of_memory) throw *problem;
    MethodChoice choice;
    bool const is_direct = context_.on_root([&] {
        if (problem && !demand_for_complete_factors(options).empty()) throw *problem;
        if (problem)
            choice = {SolveMethod::ilu, problem->what()};
        else
            choice =
                choose_method(report.analysis, options,
                              {matrix.cols, matrix.nnz(), sizeof(T), report.processes * report.threads,
                               available_memory_bytes(), context_.largest_sum_of_a_computer(memory_needs())});
        return choice.method == SolveMethod::direct;
    });
    if (!is_direct) {
        chosen.method = SolveMethod::ilu;
        chosen.max_memory = options.max_memory;
        analyze(matrix, chosen);
    }
    notes_.add("auto chose {}: {}", is_direct ? "direct" : "ilu", choice.reason);
    notes_.end_analysis();
}

template <class T> void Solver<T>::State::analyze(CscMatrix<T> const& matrix, Options const& with) {
    Timer const timer;
    std::optional<Analysis<T>> last = with.reuse_ordering ? std::exchange(analysis_, {}) : std::nullopt;
    drop_analysis();
    begin_reports();
    system_ = context_.on_root([&] {
        auto earlier = last ? last->ordering_to_adapt() : nullptr;
        last.reset();
        std::uint64_t const resident =
            matrix.stored() <= most_small_entries ? recent_resident_memory().current : current_rss_bytes();
        analysis_ = espalier::analyze(
            matrix, with,
            {report.processes,
             [this] { return machine_model(context_.topology(), report.processes, report.threads); },
             context_.shared_interrupt(), context_.background(), context_.phases(),
             [this](std::string const& text) { notes_.add(text); }, options.max_memory,
             context_.processes_of_a_computer(), std::move(earlier)});
        pattern_ = analysis_->pattern;
        report_analysis(resident);
        require_memory(context_.largest_sum_of_a_computer(memory_needs()), with.max_memory);
        return AnalyzedSystem{matrix.cols,
                              std::ssize(with.schur),
                              with.allow_singular,
                              with.factorization == Factorization::automatic,
                              analysis_->incomplete.has_value(),
                              analysis_->is_simplicial()};
    });
    prepare_inverse(matrix, with.max_memory);
    report.analysis.total_s = timer.seconds();
    notes_.end_analysis();
    context_.sample_memory();
}

// Drops the trace, the notes and the results of earlier calls.
template <class T> void Solver<T>::State::begin_reports() {
    if (options.record_trace)
        context_.recording().restart();
    else
        context_.recording().drop();
    report.schedule = {};
    report.analysis = {};
    report.factor = {};
    report.refine = {};
    report.incomplete = {};
    report.incomplete.coarsen = report.incomplete.runtime = "none";
    notes_.clear();
}

// On process 0, which had `resident` bytes in use before the analysis.
template <class T> void Solver<T>::State::report_analysis(std::uint64_t resident) {
    bool const is_incomplete = analysis_->incomplete.has_value(), is_simplicial = analysis_->is_simplicial();
    analysis_->fill(report.analysis, analysis_->planned());
    report.factorization = analysis_->form.kind;
    report.ordering = analysis_->ordering;
    report.method = analysis_->options.method;
    report.factor_path = is_incomplete ? "none" : is_simplicial ? "simplicial" : "supernodal";
    if (!is_incomplete && !is_simplicial)
        report.schedule = analysis_->describe(analysis_->choice, report.processes * report.threads);
    if (!is_incomplete)
        report.analysis.predicted_peak_bytes = std::max(
            peak_memory(), resident + (is_simplicial ? report.analysis.memory_bytes
                                                     : analysis_->expected_bytes(analysis_->planned(), 0)));
}

template <class T>
void Solver<T>::State::prepare_inverse(CscMatrix<T> const& matrix, std::uint64_t max_memory) {
    try {
        if (system_->is_incomplete) {
            vectors_.emplace(context_, prepare_incomplete(matrix, max_memory));
            refiner_.emplace(context_, incomplete_, *vectors_);
        } else if (system_->is_simplicial) {
            vectors_.emplace(context_, analysis_->simplicial_lu
                                           ? simplicial_.prepare(matrix, *analysis_->simplicial_lu)
                                           : simplicial_.prepare(matrix, *analysis_->simplicial_ldl,
                                                                 analysis_->form.kind));
            vectors_->set_system(analysis_->system);
            refiner_.emplace(context_, simplicial_, *vectors_);
        } else {
            vectors_.emplace(context_, factor_.prepare(analysis_ ? &*analysis_ : nullptr));
            refiner_.emplace(context_, factor_, *vectors_);
            supernodal_.emplace(context_, options, *system_, analysis_ ? &*analysis_ : nullptr, factor_,
                                *refiner_, report, notes_);
            if (context_.is_alone()) {
                working_.set(matrix, analysis_->system);
                prepare_assembly(matrix);
            }
        }
    } catch (...) {
        drop_analysis();
        throw;
    }
}

// Finds the pattern of the incomplete factor. Returns the rows that each process owns.
template <class T>
DistributedRows Solver<T>::State::prepare_incomplete(CscMatrix<T> const& matrix, std::uint64_t max_memory) {
    ProgressScope const phase(progress(), "symbolic factorization", 0);
    trace::Scope const recorded(context_.phases(), trace::Kind::symbolic);
    IncompleteOptions const none = context_.on_all([] { return IncompleteOptions(); });
    context_.on_root([&] { working_.set(matrix, analysis_->system); });
    DistributedRows rows =
        incomplete_.prepare(working_.of(matrix), analysis_ ? *analysis_->incomplete : none);
    incomplete_.fill(report.analysis);
    incomplete_.fill(report.incomplete);
    context_.on_root([&] {
        report.incomplete.levels = analysis_->incomplete->levels;
        if (!analysis_->system.is_identity()) { // then process 0 has a copy of the matrix
            AnalysisReport& out = report.analysis;
            double& bytes = out.memory_bytes_of_process.front();
            bytes += static_cast<double>(analysis_->working_entries * (sizeof(T) + sizeof(Index)));
            out.memory_bytes = std::max(out.memory_bytes, static_cast<std::uint64_t>(bytes));
        }
        require_memory(context_.largest_sum_of_a_computer(memory_needs()), max_memory);
    });
    return rows;
}

template <class T> void Solver<T>::State::drop_analysis() {
    factorized_ = false;
    supernodal_.reset();
    refiner_.reset();
    vectors_.reset();
    factor_.clear();
    incomplete_.clear();
    simplicial_.clear();
    analysis_.reset();
    system_.reset();
    working_.clear();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::analyze(CscMatrix<T> const&);                                            \
    template void Solver<T>::State::analyze(CscMatrix<T> const&, Options const&);                            \
    template void Solver<T>::State::drop_analysis();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
