#include "solver/analysis.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/progress.hpp"
#include "core/timer.hpp"
#include "factor/factorize.hpp"
#include "machine/calibrate.hpp"
#include "matrix/convert.hpp"
#include "matrix/adjacency.hpp"
#include "ordering/constrained.hpp"
#include "ordering/ordering.hpp"
#include "scaling/matching.hpp"
#include "solve/solve.hpp"
#include "solver/choose.hpp"
#include "symbolic/symbolic.hpp"
#include "symbolic/validate.hpp"

namespace espalier {

namespace {

// Ordering and symbolic factorization: owns all it reads, so that it may outlive the call that cancelled it.
struct StructureJob {
    Graph graph;
    std::vector<std::pair<Index, Index>> pairs;
    std::vector<Index> schur;
    OrderingOptions ordering;
    SymbolicOptions symbolic;
    std::shared_ptr<Interrupt> interrupt;

    CompressedGraph compressed;
    Ordering order;
    BlockStructure structure;
    double ordering_s = 0;
    double symbolic_s = 0;

    void order_vertices() {
        Timer const timer;
        bool const by_row =
            ordering.method == OrderingMethod::natural || ordering.method == OrderingMethod::user;
        if (schur.empty()) {
            compressed = by_row          ? uncompressed(std::move(graph))
                         : pairs.empty() ? compress(graph)
                                         : compress_with_pairs(graph, pairs);
            order = compute_ordering(compressed.graph, ordering);
        } else {
            ConstrainedGraph constrained =
                by_row ? uncompressed_with_last(graph, schur) : compress_with_last(graph, schur, pairs);
            order = order_with_last(constrained, ordering);
            symbolic.kept_vertices = static_cast<Index>(constrained.last.size());
            compressed = std::move(constrained.compressed);
        }
        graph = {};
        ordering_s = timer.seconds();
    }

    void build_structure() {
        Timer const timer;
        structure = symbolic_factorization(compressed, order, symbolic);
        symbolic_s = timer.seconds();
    }
};

SymbolicOptions symbolic_options(Options const& options) {
    SymbolicOptions symbolic;
    symbolic.amalgamation_fill = options.amalgamation_fill;
    symbolic.max_width = options.max_block_width;
    symbolic.min_width = std::min(options.min_block_width, std::max<Index>(1, options.max_block_width / 2));
    return symbolic;
}

void require_schur_unknowns(std::vector<Index> const& schur, Index n) {
    std::vector<bool> seen(n, false);
    for (Index const i : schur) {
        if (i < 0 || i >= n)
            throw Error(Status::usage,
                        fmt::format("unknown {} of the Schur complement is not between 0 and {}", i, n - 1));
        if (seen[i])
            throw Error(Status::usage, fmt::format("unknown {} is twice in the Schur complement", i));
        seen[i] = true;
    }
}

// Error{singular} that names an empty row or column, and the structural rank.
template <class T> void require_entries_in_every_row(CscMatrix<T> const& matrix, Interrupt* interrupt) {
    try {
        require_no_empty_row(matrix);
    } catch (Error const& error) {
        Index const rank = maximum_product_matching(matrix, interrupt).structural_rank;
        throw Error(error.status(),
                    fmt::format("{}; its structural rank is {} of {}", error.what(), rank, matrix.cols));
    }
}

template <class T> void report_structure(Analysis<T> const& analysis, bool narrow, AnalysisReport& report) {
    BlockStructure const& structure = analysis.structure;
    FactorForm const form = analysis.form;
    double const sides = form.has_upper() ? 2 : 1;
    report.nnz_factor =
        form.has_upper() ? 2 * structure.nnz_factor - structure.first_kept_col() : structure.nnz_factor;
    report.flops = structure.flops * sides * flop_factor<T>;
    report.flops_stored = structure.stored_flops * sides * flop_factor<T>;
    report.supernodes = structure.num_supernodes;
    report.cblks = structure.num_cblks();
    report.bloks = structure.num_bloks();
    report.tree_height = structure.tree_height;
    report.tree_depth = tree_depth(structure);
    report.predicted_factor_s = analysis.plan.makespan;
    report.factor_bytes = panel_bytes(structure, form, narrow ? sizeof(Narrow<T>) : sizeof(T));
    report.nnz_stored = 0;
    for (Cblk const& cblk : structure.cblks) report.nnz_stored += panel_size(cblk, form);
    Scalar const factor_scalar = narrow ? scalar_of<Narrow<T>> : scalar_of<T>;
    report.memory_bytes = analysis.memory_bytes(factor_scalar);
    report.memory_bytes_of_process.clear();
    for (std::size_t p = 0; p < analysis.plan.memory_of_process.size(); ++p)
        report.memory_bytes_of_process.push_back(
            static_cast<double>(analysis.memory_bytes(factor_scalar, p)));
}

} // namespace

template <class T>
ScalingOptions Analysis<T>::working_options(Factorization kind, Interrupt* interrupt) const {
    // Single precision has a small range, also for Cholesky.
    Toggle const scaling =
        options.mixed_precision && options.scaling == Toggle::automatic ? Toggle::on : options.scaling;
    return {kind, options.matching, scaling, options.allow_singular, options.schur, interrupt};
}

template <class T> std::uint64_t Analysis<T>::memory_bytes(Scalar factor_scalar) const {
    std::uint64_t most = 0;
    for (std::size_t p = 0; p < plan.memory_of_process.size(); ++p)
        most = std::max(most, memory_bytes(factor_scalar, p));
    return most;
}

template <class T> std::uint64_t Analysis<T>::memory_bytes(Scalar factor_scalar, std::size_t process) const {
    bool const narrow = factor_scalar != scalar_of<T>;
    bool const alone = plan.memory_of_process.size() == 1;
    std::size_t const bytes = narrow ? sizeof(Narrow<T>) : sizeof(T);
    // llh that auto chose may have to go on as ldlh: with a larger workspace, on a scaled copy.
    bool const may_fall_back =
        form.kind == Factorization::llh && options.factorization == Factorization::automatic;
    FactorForm const largest{may_fall_back ? Factorization::ldlh : form.kind};
    auto const entries = static_cast<std::uint64_t>(working_entries);
    // Panels and fan-in blocks of the plan were counted in one of the two scalars.
    double const ratio = static_cast<double>(bytes) / panel_format().scalar_bytes;
    std::uint64_t const panels = alone ? panel_bytes(structure, form, bytes)
                                       : static_cast<std::uint64_t>(plan.memory_of_process[process] * ratio);
    // What the message-passing library takes for buffers of its own when blocks begin to move; measured.
    std::uint64_t const library = alone ? 0 : std::uint64_t{8} << 20;
    std::uint64_t const everywhere = panels + library +
                                     workspace_bytes(structure, largest, bytes, plan.machine.threads) +
                                     needs[process].solve_entries * bytes + needs[process].structure_bytes;
    // Its part of the map and of the values; process 0 knows where the values of the others are.
    std::uint64_t const part = entries / plan.memory_of_process.size();
    std::uint64_t const assembly =
        alone ? AssemblyMap::bytes_for(working_entries) : part * (AssemblyMap::bytes_for(1) + bytes);
    if (process > 0) return everywhere + assembly;
    return everywhere + assembly + (alone ? 0 : entries * (sizeof(Offset) + bytes)) +
           (system.is_identity() && !may_fall_back ? 0 : entries * (sizeof(T) + sizeof(Index))) +
           (narrow ? entries * (sizeof(Narrow<T>) + sizeof(Index)) : 0);
}

template <class T> FactorizationChoice choose_for(CscMatrix<T> const& matrix, Options const& options) {
    FactorizationChoice choice = choose_factorization(matrix, options.factorization);
    if (options.factorization != Factorization::automatic) return choice;
    bool const symmetric = choice.kind != Factorization::lu;
    // What is left out need not be definite for the interior to be.
    if (symmetric && choice.kind != Factorization::llh && !options.schur.empty() &&
        (matrix.symmetry == Symmetry::hermitian || !is_complex<T>))
        choice = choose_factorization(interior_block(matrix, options.schur), options.factorization);
    if (choice.kind == Factorization::llh && options.allow_singular)
        choice = {
            is_complex<T> ? Factorization::ldlh : Factorization::ldlt,
            fmt::format("auto chose {}: symmetric and perhaps singular", is_complex<T> ? "ldlh" : "ldlt")};
    return choice;
}

template <class T> PanelFormat Analysis<T>::panel_format() const {
    bool const narrow = options.mixed_precision && options.schur.empty();
    return {static_cast<std::uint32_t>(narrow ? sizeof(Narrow<T>) : sizeof(T)), form.has_upper()};
}

template <class T> Analysis<T> analyze_system(CscMatrix<T> const& matrix, Options const& options,
                                              AnalysisContext const& context, Report& report) {
    auto const& interrupt = context.interrupt;
    auto const& note = context.note;
    int const workers = context.machine.threads;
    require_square(matrix);
    matrix.validate();
    require_schur_unknowns(options.schur, matrix.cols);
    if (!options.allow_singular) require_entries_in_every_row(matrix, interrupt.get());
    interrupt->check();

    Analysis<T> analysis;
    analysis.options = options;
    analysis.pattern = PatternFingerprint(matrix);
    FactorizationChoice const choice = choose_for(matrix, options);
    note(choice.reason);
    analysis.form.kind = report.factorization = choice.kind;
    analysis.system = ScaledSystem<T>(matrix, analysis.working_options(choice.kind, interrupt.get()));
    auto const& system = analysis.system;
    report.analysis.matched = system.is_matched();
    report.analysis.scaled = system.is_scaled();
    report.analysis.structural_rank = system.structural_rank();
    if (system.is_permuted())
        note(fmt::format("rows permuted{} by a maximum-product matching{}",
                         system.is_scaled() ? " and scaled" : "",
                         options.matching == Toggle::on ? "" : ": the diagonal has zero or weak entries"));
    else if (!system.pairs().empty())
        note(fmt::format("{} pairs of rows kept together for 2x2 pivots, by a maximum-product matching",
                         system.pairs().size()));
    else if (system.is_scaled())
        note("rows and columns scaled by powers of two");
    interrupt->check();

    auto const job = std::make_shared<StructureJob>();
    {
        CscMatrix<T> const copy = system.is_identity() ? CscMatrix<T>() : system.apply(matrix);
        CscMatrix<T> const& working = system.is_identity() ? matrix : copy;
        analysis.working_entries = working.stored();
        job->graph = adjacency_graph(working);
    }
    job->pairs = system.pairs();
    job->schur = options.schur;
    job->ordering.method = options.ordering;
    job->ordering.user_file = options.ordering_file;
    job->ordering.user_positions = options.ordering_positions;
    job->ordering.threads = workers;
    job->ordering.interrupt = interrupt.get();
    job->symbolic = symbolic_options(options);
    job->symbolic.interrupt = interrupt.get();
    job->interrupt = interrupt;
    auto const phases = [&context] { return context.recorder ? &context.recorder->phases() : nullptr; };
    auto const run = [&](std::string_view phase, trace::Kind kind, void (StructureJob::*step)()) {
        ProgressScope const progress(options.progress, phase, 0);
        trace::Scope const recorded(phases(), kind);
        if (options.cancel)
            context.background.run([job, step] { ((*job).*step)(); }, *interrupt);
        else
            ((*job).*step)();
    };
    run("ordering", trace::Kind::ordering, &StructureJob::order_vertices);
    run("symbolic factorization", trace::Kind::symbolic, &StructureJob::build_structure);
    analysis.structure = std::move(job->structure);
    report.analysis.compressed_vertices = job->compressed.graph.num_vertices;
    report.analysis.ordering_s = job->ordering_s;
    report.analysis.symbolic_s = job->symbolic_s;

    bool const narrow = options.mixed_precision && options.schur.empty() && sizeof(Narrow<T>) < sizeof(T);
    auto const [costs, source, network] =
        cost_model_for(narrow ? scalar_of<Narrow<T>> : scalar_of<T>, analysis.form.kind, workers,
                       options.calibration, interrupt.get(), options.progress);
    analysis.costs = costs;
    analysis.network = network;
    if (!options.topology.empty()) analysis.costs.threads_per_core = 1; // they are planned for elsewhere
    report.analysis.cost_model = source;
    trace::Scope const recorded(phases(), trace::Kind::mapping);
    Timer const timer;
    MachineModel machine = context.machine;
    machine.network = network;
    ProcessPlans plans =
        make_process_plans(analysis.structure, analysis.costs, machine, {options, analysis.panel_format()});
    static_cast<SharedPlan&>(analysis.plan) = plans.shared;
    for (std::size_t p = 0; p < plans.of_process.size(); ++p) {
        BlockStructure const& own = machine.processes == 1 ? analysis.structure : plans.structures[p];
        analysis.needs.push_back({structure_bytes(own), solve_workspace_bytes(own, plans.of_process[p], 1)});
    }
    if (machine.processes == 1)
        static_cast<LocalPlan&>(analysis.plan) = std::move(plans.of_process.front());
    else
        analysis.plans = std::move(plans);
    report.analysis.mapping_s = timer.seconds();
    report_structure(analysis, narrow, report.analysis);
    return analysis;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template struct Analysis<T>;                                                                             \
    template FactorizationChoice choose_for<T>(CscMatrix<T> const&, Options const&);                         \
    template Analysis<T> analyze_system<T>(CscMatrix<T> const&, Options const&, AnalysisContext const&,      \
                                           Report&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
