// The steps of an analysis.
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.hpp"
#include "analysis/options_without_effect.hpp"
#include "analysis/plan_without_supernodes.hpp"
#include "analysis/structure_job.hpp"
#include "core/progress.hpp"
#include "core/timer.hpp"
#include "machine/calibrate.hpp"
#include "matrix/adjacency.hpp"
#include "matrix/convert.hpp"
#include "ordering/graph_properties.hpp"
#include "rows/row_order.hpp"

namespace espalier {

namespace {

// Additional seconds for a panel whose columns may be delayed: checks of its pivots, and bookkeeping.
// Measured for small panels, where they matter: 0.7e-6 without delayed columns, 1.1e-6 to 3.7e-6 with them.
constexpr double delayed_panel_seconds = 1e-6;

SymbolicOptions symbolic_options(Options const& options) {
    SymbolicOptions symbolic;
    symbolic.amalgamation_fill = options.amalgamation_fill;
    return symbolic;
}

void require_schur_unknowns(std::vector<Index> const& schur, Index n) {
    std::vector<bool> seen(n, false);
    for (Index const i : schur) {
        if (i < 0 || i >= n)
            throw Error(Status::usage,
                        fmt::format("unknown {} of the Schur complement is not between 0 and {}", i, n - 1));
        if (seen[i])
            throw Error(Status::usage, fmt::format("unknown {} is listed twice in the Schur complement", i));
        seen[i] = true;
    }
}

// The ordering of an incomplete factorization, as a job for a thread in the background. It owns all its data,
// because it may outlive the call that was cancelled.
template <class T> struct RowOrderJob {
    CscMatrix<T> working;
    int block_size = 0;
    OrderingOptions ordering;
    std::shared_ptr<Interrupt> interrupt;
    RowOrder order;
};

// The steps of an analysis. Each reads the results of the steps before it.
template <class T> class Analyzer {
  public:
    Analyzer(CscMatrix<T> const& matrix, Options const& options, AnalysisContext const& context)
        : matrix_(matrix), options_(options), context_(context), interrupt_(*context.interrupt) {
        analysis_.options = options;
    }

    Analysis<T> run() {
        validate();
        choose_kind();
        for (std::string const& note : options_without_effect(options_, analysis_.form)) context_.note(note);
        if (plan_without_supernodes(matrix_, context_, analysis_)) {
            for (std::string const& note : options_without_effect_on_columns(options_, analysis_.form))
                context_.note(note);
            return std::move(analysis_);
        }
        machine_ = context_.machine();
        if (!options_.allow_singular) require_no_empty_row(matrix_, options_.schur, &interrupt_);
        scale_and_match();
        if (options_.method == SolveMethod::ilu) {
            require_runtime(options_.runtime);
            choose_cost_model();
            order_rows();
            analysis_.incomplete->bandwidth = analysis_.costs.read_bandwidth; // while all threads sweep
            return std::move(analysis_);
        }
        order_and_factorize_symbolically();
        choose_cost_model();
        choose_schedule();
        split();
        plan();
        return std::move(analysis_);
    }

  private:
    void validate() {
        require_square(matrix_);
        matrix_.validate();
        require_schur_unknowns(options_.schur, matrix_.cols);
        analysis_.pattern = PatternFingerprint(matrix_, workers());
        interrupt_.check();
    }

    void choose_kind() {
        FactorizationChoice const choice = analysis_.choose_kind(matrix_);
        analysis_.reason = choice.reason;
        context_.note(choice.reason);
        analysis_.form.kind = choice.kind;
    }

    void scale_and_match() {
        analysis_.match(matrix_, workers(), &interrupt_);
        analysis_.note_matching(context_);
        interrupt_.check();
    }

    void order_rows() {
        Timer const timer;
        require_memory(2 * graph_bytes() + static_cast<std::uint64_t>(matrix_.cols) * 60, context_.max_bytes,
                       "the analysis");
        RowOrder order = ordered_rows(ordering_options());
        IncompleteOptions& incomplete = analysis_.incomplete.emplace();
        incomplete.levels = options_.levels;
        incomplete.block_size = order.block_size;
        incomplete.positions = std::move(order.positions);
        incomplete.max_memory = options_.max_memory;
        if (options_.coarsen != "auto") incomplete.coarse_string = options_.coarsen;
        incomplete.runtime.runtime = options_.runtime;
        incomplete.runtime.schedule = options_;
        analysis_.ordering_s = timer.seconds();
    }

    RowOrder ordered_rows(OrderingOptions const& ordering) {
        bool const is_short = ordering.method == OrderingMethod::natural && analysis_.system.is_identity();
        if (is_short) { // only the size of blocks is sought
            analysis_.working_entries = matrix_.stored();
            return espalier::order_rows(matrix_, options_.block_size, ordering);
        }
        auto const job = std::make_shared<RowOrderJob<T>>();
        job->working = analysis_.system.apply(matrix_);
        analysis_.working_entries = job->working.stored();
        job->block_size = options_.block_size;
        job->ordering = ordering;
        job->interrupt = context_.interrupt;
        run_step("ordering", trace::Kind::ordering,
                 [job] { job->order = espalier::order_rows(job->working, job->block_size, job->ordering); });
        return std::move(job->order);
    }

    OrderingOptions ordering_options() {
        OrderingMethod const usual =
            options_.method == SolveMethod::ilu ? OrderingMethod::natural : OrderingMethod::dissection;
        OrderingOptions ordering;
        ordering.method = options_.ordering == OrderingMethod::automatic ? usual : options_.ordering;
        ordering.user_file = options_.ordering_file;
        ordering.user_positions = options_.ordering_positions;
        ordering.threads = workers();
        ordering.interrupt = &interrupt_;
        analysis_.ordering = ordering.method;
        return ordering;
    }

    std::shared_ptr<StructureJob> make_structure_job() {
        auto job = std::make_shared<StructureJob>();
        job->max_bytes = context_.max_bytes;
        require_memory(graph_bytes(), context_.max_bytes, "the analysis");
        {
            CscMatrix<T> const copy =
                analysis_.system.is_identity() ? CscMatrix<T>() : analysis_.system.apply(matrix_);
            CscMatrix<T> const& working = analysis_.system.is_identity() ? matrix_ : copy;
            analysis_.working_entries = working.stored();
            job->graph = adjacency_graph(working);
        }
        job->pairs = analysis_.system.pairs();
        job->schur = options_.schur;
        job->ordering = ordering_options();
        job->chooses = options_.ordering == OrderingMethod::automatic;
        job->workers = machine_.num_workers();
        if (context_.earlier && !has_given_order(options_.ordering) &&
            std::ssize(context_.earlier->tree.inverse) == matrix_.cols)
            job->earlier = context_.earlier;
        job->symbolic = symbolic_options(options_);
        job->symbolic.interrupt = &interrupt_;
        job->interrupt = context_.interrupt;
        return job;
    }

    void order_and_factorize_symbolically() {
        std::shared_ptr<StructureJob> const job = make_structure_job();
        run_step("ordering", trace::Kind::ordering, [job] { job->order_vertices(); });
        run_step("symbolic factorization", trace::Kind::symbolic, [job] { job->find_supernodes(); });
        if (job->is_badly_adapted())
            run_step("another ordering", trace::Kind::ordering,
                     [job] { job->order_again(OrderingMethod::dissection); });
        if (job->chooses && !job->earlier) try_dissection(job);
        if (job->adapted)
            context_.note(fmt::format(
                "the ordering was adapted to the new pattern: {} of {} vertices moved, and {} were ordered "
                "again",
                job->adapted->moved, job->compressed.graph.num_vertices, job->adapted->reordered));
        analysis_.flops_of_new_ordering = job->adapted ? job->earlier->flops : job->structure.flops;
        analysis_.ordering = job->ordering.method;
        analysis_.supernodal = std::move(job->structure);
        analysis_.compressed_vertices = job->compressed.graph.num_vertices;
        analysis_.ordering_s = job->ordering_s;
        analysis_.symbolic_s = job->symbolic_s;
    }

    // A scaled copy of the matrix, its graph, and what is stored for each row meanwhile.
    [[nodiscard]] std::uint64_t graph_bytes() const {
        auto const entries = static_cast<std::uint64_t>(matrix_.stored());
        std::uint64_t const copy = analysis_.system.is_identity() ? 0 : entries * (sizeof(T) + sizeof(Index));
        return copy + 2 * entries * sizeof(Index) + static_cast<std::uint64_t>(matrix_.cols) * 60;
    }

    // After minimum degree, orders by dissection if that may save more time of the factorization than it
    // takes. It rarely saves more than half. On small graphs that are not lattices it takes 1.4 to 5 times as
    // long as predicted. Graphs with long paths may also be grids in space, of which it saves more than half.
    // Without small separators it takes up to 14 times as long as predicted, and rarely saves anything.
    void try_dissection(std::shared_ptr<StructureJob> const& job) {
        if (job->ordering.method != OrderingMethod::amd) return;
        double const saved_s = 0.5 * expected_seconds(job->structure) / machine().processes;
        double const cost_s = predicted_dissection_seconds(job->compressed.graph);
        if (saved_s <= (job->has_long_paths ? 1 : 3) * cost_s) return;
        bool const pays_anyway = saved_s > 30 * cost_s;
        run_step("another ordering", trace::Kind::ordering, [job, pays_anyway] {
            if (pays_anyway || job->has_small_separators()) job->order_again(OrderingMethod::dissection);
        });
    }

    // The time of a factorization on one thread with 30 Gflop/s, before a cost model is known.
    double expected_seconds(SupernodalStructure const& structure) const {
        double const sides = analysis_.form.has_upper() ? 2 : 1;
        return structure.flops * sides * flop_factor<T> / 30e9;
    }

    // Runs the step in the background if the call can be cancelled, because ordering libraries cannot be
    // interrupted. Steps that take a few milliseconds need no thread for this.
    void run_step(std::string_view phase, trace::Kind kind, std::function<void()> const& step) {
        ProgressScope const progress(options_.progress, phase, 0);
        trace::Scope const recorded(context_.phases, kind);
        constexpr Offset few_entries = 20'000;
        if (options_.cancel && matrix_.stored() > few_entries)
            context_.background.run(step, interrupt_);
        else
            step();
    }

    void choose_cost_model() {
        auto const [costs, source, network] = cost_model_for(
            analysis_.planned_scalar(), analysis_.form.kind, workers(), context_.processes_of_a_computer,
            options_.calibration, expected_seconds(analysis_.supernodal) > worth_calibrating_s, &interrupt_,
            options_.progress);
        analysis_.costs = costs;
        analysis_.network = network;
        // The memory of fan-in blocks is touched before the tasks (factor/factorize.cpp).
        if (machine_.num_nodes() == 1)
            analysis_.network.first_touch_bandwidth = std::numeric_limits<double>::infinity();
        // Automatic pivoting first tries static pivots.
        if (options_.pivoting == Pivoting::delayed && analysis_.may_delay(options_.pivoting))
            analysis_.costs.panel_seconds[PanelTerm::call] += delayed_panel_seconds;
        analysis_.cost_model = source;
        if (!options_.topology.empty())
            analysis_.costs.threads_per_core = 1; // the calibration is of this machine
    }

    void choose_schedule() {
        bool const is_search = options_.schedule == SchedulePolicy::automatic;
        ProgressScope const progress(is_search ? options_.progress : nullptr, "choice of a schedule", 0);
        trace::Scope const recorded(context_.phases, trace::Kind::mapping);
        Timer const timer;
        MachineModel const machine = this->machine();
        analysis_.choice = analysis_.choose_schedule(options_, analysis_.costs, {&machine, 1}, &interrupt_);
        Splitting& splitting = analysis_.choice.settings.splitting;
        if (splitting == Splitting::two_d && analysis_.may_delay(options_.pivoting)) {
            splitting = Splitting::dynamic;
            context_.note("split dynamic is used instead of 2d, because columns may be delayed");
        }
        analysis_.mapping_s = timer.seconds();
    }

    void split() {
        trace::Scope const recorded(context_.phases, trace::Kind::symbolic);
        Timer const timer;
        analysis_.structure = analysis_.split(analysis_.choice.settings, machine_.num_workers());
        analysis_.symbolic_s += timer.seconds();
    }

    void plan() {
        trace::Scope const recorded(context_.phases, trace::Kind::mapping);
        Timer const timer;
        MachineModel const machine = this->machine();
        ScheduleSettings const& settings = analysis_.choice.settings;
        ProcessPlans plans = make_process_plans(analysis_.structure, analysis_.costs, machine,
                                                {settings, analysis_.panel_format()});
        static_cast<SharedPlan&>(analysis_.plan) = plans.shared;
        std::string const note =
            splitting_without_effect(settings, machine.num_workers(), plans.shared.cuts_panels);
        if (!note.empty()) context_.note(note);
        analysis_.needs = analysis_.needs_of(analysis_.structure, plans);
        if (machine.processes == 1)
            static_cast<LocalPlan&>(analysis_.plan) = std::move(plans.of_process.front());
        else
            analysis_.plans = std::move(plans);
        analysis_.mapping_s += timer.seconds();
    }

    [[nodiscard]] MachineModel machine() const {
        MachineModel machine = machine_;
        machine.network = analysis_.network;
        return machine;
    }
    [[nodiscard]] int workers() const { return machine_.threads; }

    // A calibration takes about a second, and much shorter factorizations do not wait for it.
    static constexpr double worth_calibrating_s = 20;

    CscMatrix<T> const& matrix_;
    Options const& options_;
    AnalysisContext const& context_;
    Interrupt& interrupt_;
    MachineModel machine_; // unknown to factorizations without supernodes
    Analysis<T> analysis_;
};

} // namespace

template <class T>
Analysis<T> analyze(CscMatrix<T> const& matrix, Options const& options, AnalysisContext const& context) {
    return Analyzer<T>(matrix, options, context).run();
}

ESPALIER_INSTANTIATE_FUNCTION(analyze)

} // namespace espalier
