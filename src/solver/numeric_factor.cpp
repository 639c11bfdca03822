#include "solver/numeric_factor.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/pack.hpp"
#include "factor/placement.hpp"
#include "factor/schur.hpp"
#include "matrix/convert.hpp"
#include "matrix/norms.hpp"
#include "refine/singularity.hpp"
#include "runtime/first_touch.hpp"
#include "solve/solve_sparse.hpp"

namespace espalier {

namespace {
constexpr std::size_t smallest_budget = std::size_t{64} << 20; // bytes of received blocks
} // namespace

template <class T> DistributedRows NumericFactor<T>::prepare(Analysis<T>* analysis) {
    clear();
    analysis_ = analysis;
    if (context_.is_alone()) {
        structure_ = &analysis->structure;
        plan_ = &analysis->plan;
        return DistributedRows(structure_->n);
    }
    std::vector<std::int32_t> owners; // are needed for the assembly map
    ProcessPlans plans = context_.on_all([] { return ProcessPlans(); });
    context_.on_root([&] {
        owners = analysis->plans.process_of_cblk;
        plans = std::exchange(analysis->plans, {});
    });
    part_ = deal_plans(context_.comm(), std::move(plans));
    if (analysis) analysis->plans.process_of_cblk = std::move(owners);
    structure_ = &part_->structure;
    plan_ = &part_->plan;
    auto own = context_.on_all([&] { return structure_->unknowns; });
    return {context_.comm(), std::move(own)};
}

template <class T> void NumericFactor<T>::clear() {
    assembly_.reset();
    sources_.clear();
    full_.reset();
    narrow_.reset();
    structure_ = nullptr;
    plan_ = nullptr;
    part_.reset();
    analysis_ = nullptr;
    release_workspace();
}

template <class T> void NumericFactor<T>::set_assembly(CscMatrix<T> const& working) {
    AssemblyMap map = context_.on_all([&] {
        if (!analysis_) return AssemblyMap();
        return AssemblyMap(working, analysis_->structure, context_.interrupt(), context_.workers().size());
    });
    if (!context_.is_alone()) {
        std::span<std::int32_t const> process_of_cblk;
        if (analysis_) process_of_cblk = analysis_->plans.process_of_cblk;
        AssemblyPart part = deal_assembly(context_.comm(), map, process_of_cblk, *plan_);
        map = std::move(part.map);
        own_values_ = part.values;
        sources_ = std::move(part.sources);
    }
    assembly_ = std::move(map);
}

template <class T> std::vector<FactorResult>
NumericFactor<T>::factorize(CscMatrix<T> const& working, NumericSettings const& settings, bool narrow) {
    return narrow ? run<Low>(working, settings) : run<T>(working, settings);
}

template <class T> template <class F> std::vector<FactorResult>
NumericFactor<T>::run(CscMatrix<T> const& working, NumericSettings const& settings) {
    FactorizeOptions options;
    options.pivot_threshold = settings.pivot_threshold;
    if (settings.form.kind == Factorization::llh)
        options.least_diagonal = context_.on_root([&] { return least_diagonal(working); });
    options.delays = settings.delays;
    options.progress = settings.progress;
    options.interrupt = context_.interrupt();
    options.phases = context_.phases();
    options.topology = &context_.topology();
    if (!context_.is_alone()) require_available<F>(settings);
    options.messaging = context_.on_all([&] {
        allocate<F>(settings);
        return context_.messaging();
    });
    std::vector<T> dealt;
    std::span<T const> given = working.values;
    if (!context_.is_alone()) {
        deal_values(working, dealt);
        given = dealt;
    }
    std::vector<F> converted;
    std::span<F const> values;
    if constexpr (std::is_same_v<F, T>) {
        values = given;
    } else {
        context_.on_all([&] {
            converted.reserve(given.size());
            for (T const value : given) converted.push_back(static_cast<F>(value));
        });
        values = converted;
    }
    FactorResult result;
    result.stats =
        espalier::factorize<F>(values, *assembly_, *plan_, *slot<F>(), context_.workers(), options);
    pivots_ = result.stats.pivots;
    context_.on_all([&] {
        Topology const& topology = context_.topology();
        result.machine = topology.machine_name();
        for (Topology::Node const& node : topology.nodes()) result.nodes.push_back(node.os_index);
        result.placement =
            measure_placement(*slot<F>(), *plan_, result.stats.worker_of_task, context_.workers(), topology);
    });
    return collect(std::move(result));
}

// Each process alone may find enough memory for its factors although those of a computer together do not.
template <class T> template <class F>
void NumericFactor<T>::require_available(NumericSettings const& settings) {
    context_.require_available(context_.on_all([&] {
        Factor<F> const fresh(*structure_);
        Factor<F> const& factor = slot<F>() ? *slot<F>() : fresh;
        return factor.bytes_to_allocate(settings.form, plan_->owner_of_cblk, settings.allocation,
                                        context_.workers().size());
    }));
}

// The predicted memory counts one factor only.
template <class T> template <class F> void NumericFactor<T>::allocate(NumericSettings const& settings) {
    if constexpr (!std::is_same_v<F, T>)
        full_.reset();
    else if constexpr (!std::is_same_v<Low, T>)
        narrow_.reset();
    auto& factor = slot<F>();
    if (!factor) factor = std::make_unique<Factor<F>>(*structure_);
    factor->allocate(settings.form, plan_->owner_of_cblk, settings.allocation, context_.workers(),
                     context_.interrupt());
    if (context_.is_alone()) return;
    std::size_t largest = 0;
    PanelFormat const format{sizeof(F), settings.form.has_upper()};
    for (std::int32_t const b : plan_->incoming) {
        FanInBlock const& block = plan_->factor.fan_in.blocks[b];
        Index const width = structure_->cblk(block.target).width();
        largest =
            std::max(largest, static_cast<std::size_t>(format.bytes(block.rows, block.rows_below, width)));
    }
    context_.messaging()->exchange.receive_budget = std::max(smallest_budget, 2 * largest);
}

// Distributes the values of each process in the order of its assembly map.
template <class T> void NumericFactor<T>::deal_values(CscMatrix<T> const& working, std::vector<T>& own) {
    std::vector<std::vector<T>> of_process;
    std::vector<std::span<std::byte const>> from;
    context_.on_all([&] {
        own.resize(own_values_);
        for (std::vector<Offset> const& sources : sources_) {
            auto& chosen = of_process.emplace_back();
            chosen.reserve(sources.size());
            for (Offset const at : sources) chosen.push_back(working.values[at]);
            from.push_back(std::as_bytes(std::span(chosen)));
        }
    });
    scatter(context_.comm(), from, std::as_writable_bytes(std::span(own)), 0);
}

template <class T> std::vector<FactorResult> NumericFactor<T>::collect(FactorResult mine) {
    std::vector<FactorResult> results;
    std::vector<std::byte> bytes;
    context_.on_all([&] {
        if (context_.is_root()) return results.push_back(std::move(mine));
        Packer packer;
        packer(mine);
        bytes = packer.take();
    });
    if (context_.is_alone()) return results;
    auto const packed = gather(context_.comm(), bytes, 0);
    context_.on_root([&] {
        for (std::size_t p = 1; p < packed.size(); ++p) {
            Unpacker unpacker(packed[p]);
            unpacker(results.emplace_back());
        }
    });
    return results;
}

template <class T> template <class F>
MatrixView<F> NumericFactor<T>::view(std::span<F> block, Index columns) const {
    Index const rows = structure_->vector_rows();
    return {block.data(), rows, columns, std::max<Index>(1, rows)};
}

template <class T> SolveOptions NumericFactor<T>::solve_options(MatrixOp op) {
    return {op, context_.interrupt(), context_.on_all([&] { return context_.messaging(); }), &workspace_};
}

template <class T> void NumericFactor<T>::prepare_solve() {
    if (!context_.is_alone()) return;
    WorkerTeam& team = context_.workers();
    std::size_t const padding = 64 * (1 + static_cast<std::size_t>(team.size())); // of Sweep
    workspace_.grow(solve_workspace_bytes(*structure_, *plan_, is_narrow() ? sizeof(Low) : sizeof(T)) +
                    padding);
    std::span<std::byte> const all = workspace_.take_untouched();
    if (all.empty()) return;
    team.for_each_worker([&](WorkerId worker) { touch_part_of(all, worker, team.size()); });
}

template <class T> void NumericFactor<T>::solve(std::span<T> block, Index columns, MatrixOp op) {
    SolveOptions const options = solve_options(op);
    if (!is_narrow())
        return espalier::solve<T>(*full_, *plan_, view(block, columns), context_.workers(), options);
    Index const rows = structure_->vector_rows();
    std::vector<Low> low;
    std::vector<double> scale;
    context_.on_all([&] {
        low.resize(block.size());
        for (Index j = 0; j < columns; ++j)
            scale.push_back(infinity_norm<T>(std::span<T const>(block.subspan(j * rows, rows))));
    });
    max(context_.comm(), std::span(scale)); // the norms of whole columns
    for (double& s : scale) s = s > 0 && std::isfinite(s) ? std::exp2(std::floor(std::log2(s))) : 1;
    for (Index k = 0; k < std::ssize(block); ++k)
        low[k] = static_cast<Low>(block[k] / static_cast<Real<T>>(scale[k / rows]));
    espalier::solve<Low>(*narrow_, *plan_, view(std::span(low), columns), context_.workers(), options);
    for (Index k = 0; k < std::ssize(block); ++k)
        block[k] = static_cast<T>(low[k]) * static_cast<Real<T>>(scale[k / rows]);
}

template <class T> void NumericFactor<T>::solve_sparse(CscMatrix<T> const& b, MatrixView<T> x, MatrixOp op) {
    espalier::solve_sparse<T>(*full_, *plan_, b, x, context_.workers(), solve_options(op));
}

template <class T> void NumericFactor<T>::condense(std::span<T> block, Index columns, MatrixOp op) {
    espalier::condense<T>(*full_, *plan_, view(block, columns), context_.workers(), solve_options(op));
}

template <class T> void NumericFactor<T>::expand(std::span<T> block, Index columns, MatrixOp op) {
    espalier::expand<T>(*full_, *plan_, view(block, columns), context_.workers(), solve_options(op));
}

template <class T> DenseMatrix<T> NumericFactor<T>::schur_complement(std::span<Index const> unknowns) {
    return context_.on_all([&] {
        return context_.is_root() ? espalier::schur_complement<T>(*full_, unknowns) : DenseMatrix<T>();
    });
}

template <class T>
std::vector<T> NumericFactor<T>::schur_product(std::span<Index const> unknowns, std::span<T const> v) {
    return context_.on_all([&] {
        return context_.is_root() ? espalier::schur_product<T>(*full_, unknowns, v) : std::vector<T>();
    });
}

template <class T> SelectedInverse<T> NumericFactor<T>::selected_inverse() {
    return SelectedInverse<T>(*full_, *plan_, context_.workers(), context_.interrupt());
}

template <class T> bool NumericFactor<T>::can_update() const {
    return with_factor([](auto const& factor) { return can_update_low_rank(factor); });
}

template <class T> LowRankResult NumericFactor<T>::update(CscMatrix<T> const& w, int sign, double largest) {
    pivots_.reset();
    auto const change = [&](auto& factor, auto const& columns) {
        return update_low_rank(factor, columns, sign, largest, context_.workers(), context_.interrupt());
    };
    if constexpr (!std::is_same_v<Low, T>)
        if (narrow_) return change(*narrow_, convert<Low>(w));
    return change(*full_, w);
}

template <class T> Inertia NumericFactor<T>::inertia() {
    Inertia const own =
        context_.on_all([&] { return with_factor([](auto const& factor) { return pivot_signs(factor); }); });
    std::int64_t counts[] = {own.positive, own.negative, own.zero};
    sum(context_.comm(), std::span<std::int64_t>(counts));
    return {counts[0], counts[1], counts[2]};
}

template <class T> Determinant<T> NumericFactor<T>::determinant() {
    DeterminantProduct const own = context_.on_all(
        [&] { return with_factor([](auto const& factor) { return pivot_product(factor); }); });
    auto const parts = gather_joined<DeterminantProduct>(context_.comm(), std::span(&own, 1), 0);
    return context_.on_root([&] {
        DeterminantProduct whole;
        for (DeterminantProduct const& part : parts) whole.multiply(part);
        return whole.template result<T>();
    });
}

template <class T>
PivotRange NumericFactor<T>::relative_pivots(DistributedMatrix<T> const& working, double enough) const {
    return with_factor([&](auto const& factor) {
        bool const cholesky = !factor.form().has_d() && !factor.form().has_upper();
        auto const from = [&](std::span<double const> origin) { return pivot_range(factor, origin); };
        PivotRange const own = pivots_ ? *pivots_ : from({});
        return espalier::relative_pivots<T>(working, cholesky, enough, own, from);
    });
}

ESPALIER_INSTANTIATE_CLASS(NumericFactor)

} // namespace espalier
