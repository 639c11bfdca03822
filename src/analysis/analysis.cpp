#include "analysis/analysis.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "factor/factorize.hpp"
#include "scaling/matching.hpp"
#include "symbolic/block_symbolic.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {

template <class T> FactorizationChoice Analysis<T>::choose_kind(CscMatrix<T> const& matrix) const {
    return options.method == SolveMethod::ilu ? choose_incomplete_factorization(matrix, options)
                                              : choose_factorization(matrix, options);
}

template <class T>
ScalingOptions Analysis<T>::working_options(Factorization kind, Interrupt* interrupt) const {
    // Single precision has a small range, so Cholesky factors are scaled, too.
    Toggle const scaling =
        options.mixed_precision && options.scaling == Toggle::automatic ? Toggle::on : options.scaling;
    // Pivoting inside of blocks makes up for a coarse matching. Incomplete factors do without it, and need up
    // to a third fewer iterations after a fine matching.
    int const matching_steps = options.method == SolveMethod::ilu ? 16 : 1;
    return {kind,          options.matching, matching_steps, scaling, options.allow_singular,
            options.schur, interrupt};
}

template <class T> void Analysis<T>::match(CscMatrix<T> const& matrix, int threads, Interrupt* interrupt) {
    if (values != 0) return;
    values = hash_of_values(matrix, threads);
    system = ScaledSystem<T>(matrix, working_options(form.kind, interrupt));
}

template <class T> void Analysis<T>::note_matching(AnalysisContext const& context) const {
    bool const is_given = has_given_order(options.ordering);
    if (system.is_permuted())
        context.note(fmt::format(
            "rows permuted{} by a maximum-product matching{}", system.is_scaled() ? " and scaled" : "",
            options.matching == Toggle::on ? "" : ": the diagonal has zero or weak entries"));
    else if (!system.pairs().empty())
        context.note(fmt::format("{} pairs of rows {} by a maximum-product matching{}", system.pairs().size(),
                                 is_given ? "found" : "kept together for 2x2 pivots,",
                                 is_given ? ", but not kept together by the requested ordering" : ""));
    else if (system.is_scaled())
        context.note("rows and columns scaled by powers of two");
}

template <class T> bool Analysis<T>::may_delay(Pivoting pivoting) const {
    bool const has_pivots =
        form.has_d() || form.has_upper() || options.factorization == Factorization::automatic;
    return pivoting != Pivoting::static_pivots && has_pivots;
}

template <class T> Scalar Analysis<T>::planned_scalar() const {
    return factors_narrow(options.mixed_precision) ? scalar_of<Narrow<T>> : scalar_of<T>;
}

template <class T> bool Analysis<T>::factors_narrow(bool mixed_precision) const {
    return mixed_precision && options.schur.empty() && sizeof(Narrow<T>) < sizeof(T);
}

template <class T> PanelFormat Analysis<T>::panel_format() const {
    bool const narrow = factors_narrow(options.mixed_precision);
    return {static_cast<std::uint32_t>(narrow ? sizeof(Narrow<T>) : sizeof(T)), form.has_upper()};
}

namespace {

// Whether the scales of some rows or columns relative to others differ by a factor of more than 16.
template <class T> bool have_other_ratios(ScaledSystem<T> const& a, ScaledSystem<T> const& b, Index n) {
    auto const differ = [n](auto const& ratio) {
        double least = infinity, most = 0;
        for (Index i = 0; i < n; ++i) {
            least = std::min(least, ratio(i));
            most = std::max(most, ratio(i));
        }
        return most > 16 * least;
    };
    return differ([&](Index i) { return a.row_scale(i) / b.row_scale(i); }) ||
           differ([&](Index i) { return a.column_scale(i) / b.column_scale(i); });
}

} // namespace

template <class T>
bool Analysis<T>::has_stale_scaling(CscMatrix<T> const& matrix, Interrupt* interrupt) const {
    if (hash_of_values(matrix) == values) return false;
    try {
        ScaledSystem<T> const fresh(matrix, working_options(form.kind, interrupt));
        return fresh.choice().row_place != system.choice().row_place || fresh.pairs() != system.pairs() ||
               have_other_ratios(fresh, system, matrix.cols);
    } catch (Error const& error) {
        if (error.status() == Status::singular) return false; // no matching is better
        throw;
    }
}

template <class T> ScheduleChoice Analysis<T>::choose_schedule(ScheduleSettings const& given,
                                                               CostModel const& model,
                                                               std::span<MachineModel const> machines,
                                                               Interrupt* interrupt) const {
    return espalier::choose_schedule(supernodal, model, machines, {given, panel_format()}, interrupt);
}

template <class T> BlockStructure Analysis<T>::split(ScheduleSettings const& settings, int workers) const {
    return split_structure(supernodal, piece_widths(supernodal.supernodes, settings, workers));
}

template <class T> ScheduleReport Analysis<T>::describe(ScheduleChoice const& made, int workers) const {
    ScheduleReport report;
    report.policy = made.settings.schedule;
    report.splitting = made.settings.splitting;
    report.split_rows = made.settings.split_rows;
    report.subtrees_per_worker = made.settings.subtrees_per_worker;
    auto const widths = piece_widths(supernodal.supernodes, made.settings, workers);
    auto const [least, most] = std::ranges::minmax_element(widths, {}, &PieceWidths::most);
    if (!widths.empty()) {
        report.narrowest_block = least->most;
        report.widest_block = most->most;
    }
    report.expected_s = made.seconds;
    report.default_s = made.default_seconds;
    report.tried = made.tried;
    report.choice_s = made.search_seconds;
    return report;
}

template <class T> std::shared_ptr<EarlierOrdering const> Analysis<T>::ordering_to_adapt() const {
    if (incomplete || is_simplicial()) return nullptr;
    auto const earlier = std::make_shared<EarlierOrdering>();
    Supernodes const& supernodes = supernodal.supernodes;
    earlier->tree.parent.assign(supernodes.parent.begin(), supernodes.parent.end());
    earlier->tree.inverse = supernodal.rows;
    earlier->tree.node_of_row.resize(supernodal.rows.size());
    auto row = supernodal.rows.begin();
    for (SupernodeId s = 0; s < supernodes.size(); ++s)
        for (Index k = 0; k < supernodes.width[s]; ++k) earlier->tree.node_of_row[*row++] = s;
    earlier->method = ordering;
    earlier->flops = flops_of_new_ordering;
    return earlier;
}

template <class T> void Analysis<T>::fill(AnalysisReport& report, Planned const& of) const {
    report.ordering_s = ordering_s;
    report.symbolic_s = symbolic_s;
    report.mapping_s = mapping_s;
    report.matched = system.is_matched() || (simplicial_ldl && simplicial_ldl->is_matched);
    report.scaled = system.is_scaled();
    report.structural_rank = system.structural_rank();
    report.cost_model = cost_model;
    if (incomplete) return;
    auto const fill_simplicial = [&](auto const& simplicial_plan, std::uint64_t bytes) {
        report.nnz_factor = report.nnz_stored = simplicial_plan.nnz_factor;
        report.flops = report.flops_stored = simplicial_plan.flops * flop_factor<T>;
        report.factor_bytes = static_cast<std::uint64_t>(simplicial_plan.nnz_factor) * sizeof(T);
        report.memory_bytes = bytes;
        report.memory_bytes_of_process.assign(1, static_cast<double>(bytes));
        report.predicted_factor_s = predicted_seconds(simplicial_plan) * flop_factor<T>;
    };
    if (simplicial_ldl) return fill_simplicial(*simplicial_ldl, simplicial_ldl->bytes(sizeof(T)));
    if (simplicial_lu) {
        report.structural_rank = simplicial_lu->form.structural_rank;
        report.diagonal_blocks = simplicial_lu->form.num_blocks();
        report.largest_diagonal_block = simplicial_lu->largest_block;
        return fill_simplicial(*simplicial_lu, simplicial_lu->bytes(sizeof(T), working_entries));
    }
    BlockStructure const& blocks = of.structure;
    double const sides = form.has_upper() ? 2 : 1;
    report.compressed_vertices = compressed_vertices;
    report.nnz_factor =
        form.has_upper() ? 2 * blocks.nnz_factor - blocks.first_kept_col() : blocks.nnz_factor;
    report.flops = blocks.flops * sides * flop_factor<T>;
    report.flops_stored = blocks.stored_flops * sides * flop_factor<T>;
    report.supernodes = blocks.num_supernodes;
    report.cblks = blocks.num_cblks();
    report.bloks = blocks.num_bloks();
    report.tree_height = blocks.tree_height;
    report.tree_depth = tree_depth(blocks);
    report.predicted_factor_s = of.plan.makespan;
    report.predicted_solve_s = of.plan.solve_seconds;
    report.factor_bytes = panel_bytes(blocks, form, panel_format().scalar_bytes);
    report.nnz_stored = 0;
    report.memory_bytes = 0;
    for (Cblk const& cblk : blocks.cblks) report.nnz_stored += panel_size(cblk, form);
    report.memory_bytes_of_process.clear();
    for (Index p = 0; p < std::ssize(of.needs); ++p) {
        std::uint64_t const bytes = memory_bytes(of, planned_scalar(), p);
        report.memory_bytes_of_process.push_back(static_cast<double>(bytes));
        report.memory_bytes = std::max(report.memory_bytes, bytes);
    }
}

#define ESPALIER_INSTANTIATE(T) template struct Analysis<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
