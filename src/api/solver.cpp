// The pipeline behind espalier::Solver: each step reads what the one before it left in the state.
#include "espalier/espalier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "api/checks.hpp"
#include "api/choose.hpp"
#include "api/singularity.hpp"
#include "api/working_system.hpp"
#include "core/timer.hpp"
#include "factor/factorize.hpp"
#include "matrix/adjacency.hpp"
#include "matrix/norms.hpp"
#include "ordering/ordering.hpp"
#include "refine/refine.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "solve/solve.hpp"
#include "symbolic/symbolic.hpp"
#include "symbolic/validate.hpp"

namespace espalier {

template <class T> struct Solver<T>::State {
    explicit State(Options given) : options(std::move(given)), topology(Topology::detect()) {
        refuse_unsupported(options);
        report.scalar = scalar_of<T>;
        report.threads = options.threads > 0 ? options.threads : topology.default_threads();
    }

    void analyze(CscMatrix<T> const& matrix);
    void factorize(CscMatrix<T> const& matrix);
    void factorize_as(FactorForm form, CscMatrix<T> const& working);
    std::vector<T> solve(std::span<T const> b, Index nrhs);
    RefineReport refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs);

    Options options;
    Report report;
    Topology topology;
    std::unique_ptr<WorkerTeam> team; // started by the first step that needs it

    // Of the analysis:
    bool analyzed = false;
    PatternFingerprint pattern;
    FactorForm form;
    WorkingSystem<T> system;
    BlockStructure structure;
    FactorPlan plan;

    // Of the factorization:
    bool factorized = false;
    std::optional<AssemblyMap> assembly;
    std::unique_ptr<Factor<T>> factor;
    CscMatrix<T> working_copy; // see make_working
    bool near_singular = false;

  private:
    void order_and_structure(CscMatrix<T> const& working);
    void plan_and_estimate(Offset working_entries);
    CscMatrix<T> const& make_working(CscMatrix<T> const& matrix);
    void look_for_singularity(CscMatrix<T> const& working);
    void apply_factors(std::span<T> block, Index columns);
    void apply_inverse(std::span<T> block, Index columns);
    void note(std::string text);
    WorkerTeam& workers();
};

template <class T> void Solver<T>::State::note(std::string text) {
    if (options.log) options.log(text);
    report.notes.push_back(std::move(text));
}

template <class T> WorkerTeam& Solver<T>::State::workers() {
    if (!team) team = std::make_unique<WorkerTeam>(topology, report.threads, options.bind_threads);
    return *team;
}

template <class T> void Solver<T>::State::analyze(CscMatrix<T> const& matrix) {
    Timer const timer;
    analyzed = factorized = false;
    factor.reset();
    assembly.reset();
    report.analysis = {};
    report.factor = {};
    report.notes.clear();
    require_square(matrix);
    matrix.validate();
    require_no_empty_row(matrix);

    FactorizationChoice const choice = choose_factorization(matrix, options.factorization);
    note(choice.reason);
    form.kind = report.factorization = choice.kind;
    system = WorkingSystem<T>(matrix, form.kind);
    if (system.is_permuted())
        note("rows permuted and scaled by a maximum-product matching: the diagonal has zero or weak entries");
    else if (!system.pairs().empty())
        note(fmt::format("{} pairs of rows kept together for 2x2 pivots, by a maximum-product matching",
                         system.pairs().size()));
    else if (system.is_scaled())
        note("rows and columns scaled by powers of two");
    {
        CscMatrix<T> const copy = system.is_identity() ? CscMatrix<T>() : system.apply(matrix);
        CscMatrix<T> const& working = system.is_identity() ? matrix : copy;
        order_and_structure(working);
        plan_and_estimate(working.stored());
    }
    pattern = PatternFingerprint(matrix);
    report.analysis.total_s = timer.seconds();
    require_memory(report.analysis.memory_bytes, options.max_memory);
    analyzed = true;
}

template <class T> void Solver<T>::State::order_and_structure(CscMatrix<T> const& working) {
    AnalysisReport& analysis = report.analysis;
    Timer timer;
    CompressedGraph compressed;
    Ordering ordering;
    {
        ProgressScope const progress(options.progress, "ordering", 0);
        Graph graph = adjacency_graph(working);
        bool const by_row =
            options.ordering == OrderingMethod::natural || options.ordering == OrderingMethod::user;
        if (by_row)
            compressed = uncompressed(std::move(graph));
        else
            compressed =
                system.pairs().empty() ? compress(graph) : compress_with_pairs(graph, system.pairs());
        OrderingOptions ordering_options;
        ordering_options.method = options.ordering;
        ordering_options.user_file = options.ordering_file;
        ordering_options.threads = report.threads;
        ordering = compute_ordering(compressed.graph, ordering_options);
    }
    analysis.compressed_vertices = compressed.graph.num_vertices;
    analysis.ordering_s = timer.seconds();

    timer.restart();
    ProgressScope const progress(options.progress, "symbolic factorization", 0);
    SymbolicOptions symbolic_options;
    symbolic_options.amalgamation_fill = options.amalgamation_fill;
    symbolic_options.max_width = options.max_block_width;
    symbolic_options.min_width =
        std::min(options.min_block_width, std::max<Index>(1, options.max_block_width / 2));
    structure = symbolic_factorization(compressed, ordering, symbolic_options);
    analysis.symbolic_s = timer.seconds();
}

template <class T> void Solver<T>::State::plan_and_estimate(Offset working_entries) {
    AnalysisReport& analysis = report.analysis;
    Timer const timer;
    double const sides = form.has_upper() ? 2 : 1;
    CostModel model;
    model.sides = sides;
    double const speed = (sizeof(Real<T>) == sizeof(float) ? 2.0 : 1.0) / flop_factor<T>;
    model.gemm_rate *= speed;
    model.panel_rate *= speed;
    plan = make_factor_plan(structure, model, report.threads);
    analysis.mapping_s = timer.seconds();

    analysis.nnz_factor = form.has_upper() ? 2 * structure.nnz_factor - structure.n : structure.nnz_factor;
    analysis.flops = structure.flops * sides * flop_factor<T>;
    analysis.flops_stored = structure.stored_flops * sides * flop_factor<T>;
    analysis.supernodes = structure.num_supernodes;
    analysis.cblks = structure.num_cblks();
    analysis.bloks = structure.num_bloks();
    analysis.tree_height = structure.tree_height;
    analysis.tree_depth = tree_depth(structure);
    analysis.predicted_factor_s = plan.factor_schedule.makespan;
    analysis.factor_bytes = panel_bytes(structure, form, sizeof(T));
    analysis.nnz_stored = 0;
    for (Cblk const& cblk : structure.cblks) analysis.nnz_stored += panel_size(cblk, form);
    // llh that auto chose may have to go on as ldlh, whose workspace is larger.
    bool const may_fall_back =
        form.kind == Factorization::llh && options.factorization == Factorization::automatic;
    FactorForm const largest{may_fall_back ? Factorization::ldlh : form.kind};
    auto const entries = static_cast<std::uint64_t>(working_entries);
    analysis.memory_bytes = analysis.factor_bytes + AssemblyMap::bytes_for(working_entries) +
                            workspace_bytes(structure, largest, sizeof(T), report.threads) +
                            solve_workspace_bytes(structure, plan, sizeof(T)) + structure_bytes(structure) +
                            (system.is_identity() ? 0 : entries * (sizeof(T) + sizeof(Index)));
}

template <class T> void Solver<T>::State::factorize(CscMatrix<T> const& matrix) {
    if (!analyzed) analyze(matrix);
    Timer const timer;
    require_square(matrix);
    if (!(PatternFingerprint(matrix) == pattern))
        throw Error(
            Status::usage,
            "the matrix to factorize has another pattern than the one that was analyzed; call analyze again");
    matrix.validate();
    require_no_zero_row(matrix);
    require_memory(report.analysis.memory_bytes, options.max_memory);
    factorized = false;
    report.factor = {};
    // New values may be real where they were complex, or lose a positive diagonal; lu stays lu.
    form.kind = choose_factorization(matrix, options.factorization).kind;
    CscMatrix<T> const* working = &make_working(matrix);
    if (!assembly) assembly.emplace(*working, structure);
    try {
        factorize_as(form, *working);
    } catch (Error const& error) {
        bool const may_fall_back = error.status() == Status::not_positive_definite &&
                                   options.factorization == Factorization::automatic;
        if (!may_fall_back) throw;
        note(fmt::format("{}; going on with ldlh", error.what()));
        form.kind = Factorization::ldlh;
        system = WorkingSystem<T>(matrix, form.kind); // pivoting wants scales, Cholesky did not
        working = &make_working(matrix);
        factorize_as(form, *working);
        report.factor.fell_back = true;
    }
    // What is not numeric factorization is assembly: checks of the values, the map, memory, the entries.
    report.factor.assembly_s = timer.seconds() - report.factor.time_s;
    report.factorization = form.kind;
    report.peak_memory_bytes = peak_rss_bytes();
    factorized = true;
    look_for_singularity(*working);
}

// The system to factorize: the caller's matrix, or a copy that is kept for refinement.
template <class T> CscMatrix<T> const& Solver<T>::State::make_working(CscMatrix<T> const& matrix) {
    working_copy = system.is_identity() ? CscMatrix<T>() : system.apply(matrix);
    return system.is_identity() ? matrix : working_copy;
}

// Costs four solves, and only where a pivot is suspiciously small.
template <class T> void Solver<T>::State::look_for_singularity(CscMatrix<T> const& working) {
    FactorReport& out = report.factor;
    near_singular = false;
    double const suspicious = 0.01 * std::sqrt(static_cast<double>(epsilon<T>));
    if (out.pivots_replaced == 0 && smallest_relative_pivot(working, *factor) > suspicious) return;
    SingleThreadedBlas const blas;
    double const distance = distance_to_singularity<T>(
        working, [this](std::span<T> block, Index columns) { apply_factors(block, columns); });
    out.condition_estimate = 1 / std::max(distance, static_cast<double>(epsilon<T>)); // rounding hides more
    near_singular = distance <= singular_distance<T>();
    out.numerically_singular = near_singular && out.pivots_replaced > 0;
    if (near_singular)
        note(fmt::format(
            "the matrix is singular to working precision (componentwise condition number {:.0e} or more)",
            out.condition_estimate));
}

template <class T> void Solver<T>::State::apply_factors(std::span<T> block, Index columns) {
    espalier::solve<T>(*factor, plan, {block.data(), structure.n, columns, std::max<Index>(1, structure.n)},
                       workers());
}

template <class T> void Solver<T>::State::apply_inverse(std::span<T> block, Index columns) {
    system.to_working(block, columns);
    apply_factors(block, columns);
    system.from_working(block, columns);
}

template <class T> void Solver<T>::State::factorize_as(FactorForm as, CscMatrix<T> const& working) {
    if (!factor) factor = std::make_unique<Factor<T>>(structure);
    SingleThreadedBlas const blas;
    factor->allocate(as, plan.owner_of_cblk, options.allocation, workers());
    double const relative =
        options.pivot_threshold >= 0 ? options.pivot_threshold : std::sqrt(static_cast<double>(epsilon<T>));
    FactorizeOptions run;
    run.pivot_threshold = relative * max_abs(working);
    run.progress = options.progress;
    FactorizeStats const stats = espalier::factorize(working, *assembly, plan, *factor, workers(), run);
    FactorReport& out = report.factor;
    out.time_s = stats.time_s;
    out.gflops = stats.time_s > 0 ? report.analysis.flops / stats.time_s / 1e9 : 0;
    out.pivots_replaced = stats.pivots_replaced;
    out.negative_pivots = stats.negative_pivots;
    out.tasks = plan.factor.graph.num_tasks();
    if (out.pivots_replaced > 0)
        note(fmt::format("{} pivot{} smaller than {:.1e} {} replaced", out.pivots_replaced,
                         out.pivots_replaced == 1 ? "" : "s", run.pivot_threshold,
                         out.pivots_replaced == 1 ? "was" : "were"));
}

template <class T> std::vector<T> Solver<T>::State::solve(std::span<T const> b, Index nrhs) {
    if (!factorized) throw Error(Status::usage, "solve was called before factorize");
    require_block(b.size(), structure.n, nrhs, "the right-hand side");
    Timer const timer;
    SingleThreadedBlas const blas;
    std::vector<T> x(b.begin(), b.end());
    apply_inverse(x, nrhs);
    report.solve_s = timer.seconds();
    report.nrhs = nrhs;
    return x;
}

template <class T> RefineReport Solver<T>::State::refine(CscMatrix<T> const& matrix, std::span<T const> b,
                                                         std::span<T> x, Index nrhs) {
    if (!factorized) throw Error(Status::usage, "refine was called before factorize");
    if (matrix.cols != structure.n)
        throw Error(Status::usage, "refine was given a matrix of another order than the factorized one");
    require_block(b.size(), structure.n, nrhs, "the right-hand side");
    require_block(x.size(), structure.n, nrhs, "the solution");
    SingleThreadedBlas const blas;
    RefineOptions run;
    run.method = options.refine;
    run.max_iterations = options.max_refine_iterations;
    run.tolerance = options.tolerance;
    run.progress = options.progress;
    ApplyInverse<T> const inverse = [this](std::span<T> block, Index columns) {
        apply_factors(block, columns);
    };
    if (system.is_identity()) {
        report.refine = espalier::refine<T>(matrix, b, x, nrhs, inverse, run);
    } else {
        // In the scaled system, where no equation drowns in the rounding of another; then judged in the
        // caller's.
        Timer const timer;
        std::vector<T> working_b(b.begin(), b.end());
        system.to_working(working_b, nrhs);
        system.solution_to_working(x, nrhs);
        report.refine = espalier::refine<T>(working_copy, working_b, x, nrhs, inverse, run);
        system.from_working(x, nrhs);
        report.refine.backward_error = normwise_backward_error<T>(matrix, x, b, nrhs);
        report.refine.componentwise_error = componentwise_backward_error<T>(matrix, x, b, nrhs);
        double const tolerance = options.tolerance > 0 ? options.tolerance : default_tolerance<T>();
        report.refine.converged = report.refine.converged && report.refine.backward_error <= tolerance;
        report.refine.time_s = timer.seconds();
    }
    // A tiny pivot that was not replaced is harmless until the solution shows it.
    double const growth = max_abs(matrix) * infinity_norm<T>(std::span<T const>(x)) / infinity_norm<T>(b);
    if (near_singular && growth * static_cast<double>(epsilon<T>) > 1e-4)
        report.factor.numerically_singular = true;
    report.peak_memory_bytes = peak_rss_bytes();
    return report.refine;
}

template <class T> Solver<T>::Solver(Options options) : state_(std::make_unique<State>(std::move(options))) {}
template <class T> Solver<T>::~Solver() = default;
template <class T> Solver<T>::Solver(Solver&&) noexcept = default;
template <class T> Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;
template <class T> void Solver<T>::analyze(CscMatrix<T> const& matrix) {
    state_->analyze(matrix);
}
template <class T> void Solver<T>::factorize(CscMatrix<T> const& matrix) {
    state_->factorize(matrix);
}
template <class T> std::vector<T> Solver<T>::solve(std::span<T const> b, Index nrhs) {
    return state_->solve(b, nrhs);
}
template <class T>
RefineReport Solver<T>::refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs) {
    return state_->refine(matrix, b, x, nrhs);
}
template <class T> Report const& Solver<T>::report() const {
    return state_->report;
}

#define ESPALIER_INSTANTIATE(T) template class Solver<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
