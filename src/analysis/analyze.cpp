// The steps of an analysis.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/analysis.hpp"
#include "analysis/structure_job.hpp"
#include "core/names.hpp"
#include "core/progress.hpp"
#include "core/timer.hpp"
#include "incomplete/row_order.hpp"
#include "kernels/blas.hpp"
#include "machine/calibrate.hpp"
#include "matrix/adjacency.hpp"
#include "matrix/convert.hpp"
#include "scaling/matching.hpp"

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

// Throws Error{singular} with the number of an empty row or column and the structural rank.
template <class T> void require_entries_in_every_row(CscMatrix<T> const& matrix, std::span<Index const> kept,
                                                     Interrupt* interrupt) {
    try {
        require_no_empty_row(matrix, kept);
    } catch (Error const& error) {
        Index const rank = maximum_product_matching(matrix, interrupt).structural_rank;
        throw Error(error.status(),
                    fmt::format("{}; its structural rank is {} of {}", error.what(), rank, matrix.cols));
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

// Options as a user spells them, such as "levels 2".
class GivenOptions {
  public:
    template <class Value> void add(std::string_view name, Value const& value) {
        if constexpr (std::is_enum_v<Value>)
            texts_.push_back(fmt::format("{} {}", name, spellings<Value>[static_cast<std::size_t>(value)]));
        else
            texts_.push_back(fmt::format("{} {}", name, value));
    }
    /// Adds the option unless it has its default.
    template <class Value> void add(std::string_view name, Value const& value, Value const& usual) {
        if (value != usual) add(name, value);
    }
    [[nodiscard]] std::vector<std::string> const& texts() const { return texts_; }

  private:
    std::vector<std::string> texts_;
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
        note_options_without_effect();
        if (goes_without_supernodes()) return std::move(analysis_);
        machine_ = context_.machine();
        if (!options_.allow_singular) require_entries_in_every_row(matrix_, options_.schur, &interrupt_);
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
        if (blas_is_narrow())
            context_.note(
                fmt::format("OpenBLAS uses slow kernels for {0} processors; set OPENBLAS_CORETYPE={1} in the "
                            "environment to select faster ones",
                            blas_info().core,
                            instructions_of_processor() == InstructionSet::avx512 ? "SkylakeX" : "Haswell"));
        analysis_.form.kind = choice.kind;
    }

    // Whether the options allow a factorization without supernodes, and do not describe one with them.
    bool may_go_without_supernodes() {
        FactorForm const& form = analysis_.form;
        if (options_.supernodes == Toggle::on || options_.method != SolveMethod::direct) return false;
        bool const is_stored_right = form.has_upper() == (matrix_.symmetry == Symmetry::general);
        static Options const usual;
        bool const is_usual =
            (options_.matching == usual.matching || (options_.matching == Toggle::on && form.has_d())) &&
            options_.scaling == usual.scaling && options_.schedule == usual.schedule &&
            options_.splitting == usual.splitting && options_.pivoting == usual.pivoting &&
            options_.pivot_threshold == usual.pivot_threshold &&
            options_.max_block_width == usual.max_block_width &&
            options_.min_block_width == usual.min_block_width &&
            options_.amalgamation_fill == usual.amalgamation_fill;
        bool const may_order =
            options_.ordering == OrderingMethod::automatic || options_.ordering == OrderingMethod::amd;
        char const* const need = form.kind == Factorization::llt        ? "lu, llh, ldlt or ldlh"
                                 : !is_stored_right && form.has_upper() ? "a matrix that is stored in full"
                                 : !is_stored_right        ? "a matrix that is stored as a triangle"
                                 : context_.processes > 1  ? "one process"
                                 : !options_.schur.empty() ? "no Schur complement"
                                 : analysis_.factors_narrow(options_.mixed_precision)
                                     ? "factors in the precision of the matrix"
                                 : options_.allow_singular    ? "allow-singular off"
                                 : options_.record_trace      ? "no trace"
                                 : !options_.topology.empty() ? "the topology of this machine"
                                 : !form.has_upper() && !(is_usual && may_order)
                                     ? "the default matching, scaling, pivoting, block widths and ordering"
                                     : nullptr;
        bool const is_asked = options_.supernodes == Toggle::off;
        if (need && is_asked)
            context_.note(fmt::format("supernodes are used: a factorization without them needs {}", need));
        if (need || is_asked) return !need;
        return may_order && is_usual;
    }

    bool goes_without_supernodes() {
        if (!may_go_without_supernodes()) return false;
        ProgressScope const progress(options_.progress, "ordering", 0);
        Timer const timer;
        bool const is_planned = analysis_.form.has_upper() ? plans_simplicial_lu()
                                : analysis_.form.has_d()   ? plans_simplicial_ldl()
                                                           : plans_simplicial_cholesky();
        if (!is_planned) return false;
        analysis_.cost_model = "default";
        analysis_.ordering_s = timer.seconds();
        analysis_.working_entries = matrix_.stored();
        interrupt_.check();
        return true;
    }

    bool plans_simplicial_lu() {
        bool const is_natural = options_.ordering == OrderingMethod::natural;
        auto plan = plan_simplicial_lu({matrix_.col_ptr, matrix_.row_ind}, !is_natural, chooses_supernodes());
        if (!plan) return false;
        Index const rank = plan->form.structural_rank;
        if (rank < matrix_.cols) require_entries_in_every_row(matrix_, options_.schur, &interrupt_);
        if (rank < matrix_.cols)
            throw Error(Status::singular,
                        fmt::format("the matrix is structurally singular: its structural rank is {} of {}",
                                    rank, matrix_.cols));
        analysis_.ordering = is_natural ? OrderingMethod::natural : OrderingMethod::amd;
        analysis_.simplicial_lu = std::move(plan);
        return true;
    }

    // Whether supernodes are used if they are faster.
    [[nodiscard]] bool chooses_supernodes() const { return options_.supernodes == Toggle::automatic; }

    // Whether a plan of llh is likely to be used. Its time is a large part of an analysis with supernodes.
    // Forests and networks with few cycles have little fill, grids of a few thousand rows too, meshes of a
    // few hundred.
    [[nodiscard]] bool may_have_little_fill() const {
        constexpr Offset few_entries = 2000;
        constexpr double most = 40'000;
        auto const n = static_cast<double>(matrix_.cols);
        double const neighbors = 2 * static_cast<double>(matrix_.stored() - matrix_.cols) / std::max(n, 1.0);
        return matrix_.stored() <= few_entries || n * std::pow(std::max(neighbors - 2, 0.0), 4) <= most;
    }

    bool plans_simplicial_cholesky() {
        if (chooses_supernodes() && !may_have_little_fill()) return false;
        if (options_.factorization != Factorization::automatic) // which chose llh for a positive diagonal
            require_entries_in_every_row(matrix_, {}, &interrupt_);
        return take_plan(plan_simplicial_cholesky(matrix_, chooses_supernodes()));
    }

    // Larger systems are factorized faster with supernodes, and their plan takes as long as an ordering.
    bool plans_simplicial_ldl() {
        constexpr Offset most_entries = 20'000;
        if (chooses_supernodes() && matrix_.stored() > most_entries) return false;
        auto plan = options_.matching == Toggle::on
                        ? std::nullopt
                        : plan_simplicial_ldl(matrix_, nullptr, chooses_supernodes());
        if (!plan) plan = plan_matched_ldl();
        if (!plan && options_.supernodes == Toggle::off)
            context_.note("supernodes are used: rows with a weak diagonal have no partners for 2 x 2 pivots");
        return take_plan(std::move(plan));
    }

    bool take_plan(std::optional<LdlPlan> plan) {
        if (!plan) return false;
        if (plan->is_matched) note_matching();
        analysis_.system = {}; // these factors have their own scales
        analysis_.ordering = OrderingMethod::amd;
        analysis_.simplicial_ldl = std::move(plan);
        return true;
    }

    std::optional<LdlPlan> plan_matched_ldl() {
        require_entries_in_every_row(matrix_, options_.schur, &interrupt_);
        match();
        if (!analysis_.system.is_matched()) return std::nullopt;
        MatchedRows const matched{analysis_.system.pairs(), analysis_.system.choice().row_scale};
        return plan_simplicial_ldl(matrix_, &matched, chooses_supernodes());
    }

    // Chooses scales and a matching, unless this has been done.
    void match() {
        if (std::exchange(is_matched_, true)) return;
        analysis_.values = hash_of_values(matrix_, workers());
        analysis_.system =
            ScaledSystem<T>(matrix_, analysis_.working_options(analysis_.form.kind, &interrupt_));
    }

    void scale_and_match() {
        match();
        note_matching();
        interrupt_.check();
    }

    void note_matching() {
        ScaledSystem<T> const& system = analysis_.system;
        if (system.is_permuted())
            context_.note(fmt::format(
                "rows permuted{} by a maximum-product matching{}", system.is_scaled() ? " and scaled" : "",
                options_.matching == Toggle::on ? "" : ": the diagonal has zero or weak entries"));
        else if (!system.pairs().empty())
            context_.note(
                fmt::format("{} pairs of rows {} by a maximum-product matching{}", system.pairs().size(),
                            has_given_order() ? "found" : "kept together for 2x2 pivots,",
                            has_given_order() ? ", but not kept together by the requested ordering" : ""));
        else if (system.is_scaled())
            context_.note("rows and columns scaled by powers of two");
    }

    // Notes options that were given, and that the method or the factorization does not have.
    void note_options_without_effect() {
        if (options_.method == SolveMethod::ilu) return note_options_of_column_blocks();
        static Options const usual;
        GivenOptions incomplete, pivots;
        incomplete.add("levels", options_.levels, usual.levels);
        incomplete.add("block-size", options_.block_size, usual.block_size);
        incomplete.add("coarsen", options_.coarsen, usual.coarsen);
        incomplete.add("runtime", options_.runtime, usual.runtime);
        note_without_effect(incomplete, "method direct");
        // llh that was not asked for may be replaced by ldlh, which has pivots.
        bool const has_pivots = options_.factorization == Factorization::automatic ||
                                analysis_.form.has_d() || analysis_.form.has_upper();
        // With `condition`, columns may be delayed in any case.
        bool const may_delay = options_.pivoting != Pivoting::static_pivots || options_.condition;
        if (!has_pivots) pivots.add("pivoting", options_.pivoting, usual.pivoting);
        if (!has_pivots || !may_delay)
            pivots.add("pivot-tolerance", options_.pivot_tolerance, usual.pivot_tolerance);
        note_without_effect(pivots, has_pivots ? "pivoting static" : to_string(options_.factorization));
    }

    // Incomplete factors have neither column blocks nor an elimination tree, and run in the order of lists by
    // default.
    void note_options_of_column_blocks() {
        static Options const usual;
        GivenOptions given;
        if (options_.schedule == SchedulePolicy::automatic) given.add("schedule", options_.schedule);
        given.add("split", options_.splitting, usual.splitting);
        given.add("subtrees-per-worker", options_.subtrees_per_worker, usual.subtrees_per_worker);
        given.add("max-block-width", options_.max_block_width, usual.max_block_width);
        given.add("min-block-width", options_.min_block_width, usual.min_block_width);
        if (options_.supernodes == Toggle::off) given.add("supernodes", options_.supernodes);
        given.add("pivoting", options_.pivoting, usual.pivoting);
        given.add("pivot-tolerance", options_.pivot_tolerance, usual.pivot_tolerance);
        note_without_effect(given, "method ilu");
    }

    void note_without_effect(GivenOptions const& given, std::string_view with) {
        auto const& texts = given.texts();
        if (!texts.empty())
            context_.note(fmt::format("{} {} no effect with {}", fmt::join(texts, ", "),
                                      texts.size() == 1 ? "has" : "have", with));
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

    // Whether the order of single rows is requested, so that pairs of rows are not kept together.
    [[nodiscard]] bool has_given_order() const {
        return options_.ordering == OrderingMethod::natural || options_.ordering == OrderingMethod::user;
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

    void order_and_factorize_symbolically() {
        auto const job = std::make_shared<StructureJob>();
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
        if (context_.earlier && !has_given_order() &&
            std::ssize(context_.earlier->tree.inverse) == matrix_.cols)
            job->earlier = context_.earlier;
        job->symbolic = symbolic_options(options_);
        job->symbolic.interrupt = &interrupt_;
        job->interrupt = context_.interrupt;
        run_step("ordering", trace::Kind::ordering, [job] { job->order_vertices(); });
        run_step("symbolic factorization", trace::Kind::symbolic, [job] { job->find_supernodes(); });
        if (job->is_badly_adapted()) order_again(job, OrderingMethod::dissection);
        if (job->chooses && !job->earlier) {
            if (dissection_pays(*job)) order_again(job, OrderingMethod::dissection);
            if (scotch_pays(*job)) order_again(job, OrderingMethod::scotch);
        }
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

    void order_again(std::shared_ptr<StructureJob> const& job, OrderingMethod method) {
        run_step("another ordering", trace::Kind::ordering, [job, method] { job->order_again(method); });
    }

    // Whether dissection, after minimum degree, may save more time of the factorization than it takes. It
    // rarely saves more than half. On small graphs that are not lattices it takes 1.4 to 5 times as long as
    // predicted. Graphs with long paths may also be grids in space, of which it saves more than half.
    bool dissection_pays(StructureJob const& job) {
        double const longer = job.has_long_paths ? 1 : 3;
        return job.ordering.method == OrderingMethod::amd &&
               0.5 * expected_seconds(job.structure) / machine().processes >
                   longer * predicted_dissection_seconds(job.compressed.graph);
    }

    // Whether SCOTCH is expected to save more time of the factorization than it takes. Its orderings need
    // about 6 % fewer operations, but not on lattices. All processes factorize, and one of them orders.
    bool scotch_pays(StructureJob& job) {
        double const saved_s = 0.06 * expected_seconds(job.structure) / machine().processes;
        return saved_s > predicted_scotch_seconds(job.compressed.graph) && !job.is_lattice();
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
    bool is_matched_ = false; // whether analysis_.system is chosen
    Analysis<T> analysis_;
};

} // namespace

template <class T>
Analysis<T> analyze(CscMatrix<T> const& matrix, Options const& options, AnalysisContext const& context) {
    return Analyzer<T>(matrix, options, context).run();
}

ESPALIER_INSTANTIATE_FUNCTION(analyze)

} // namespace espalier
