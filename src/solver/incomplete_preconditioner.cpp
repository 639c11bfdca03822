#include "solver/incomplete_preconditioner.hpp"

#include <algorithm>

#include "core/timer.hpp"
#include "distributed/deal.hpp"

namespace espalier {

template <class T> DistributedRows IncompletePreconditioner<T>::prepare(CscMatrix<T> const& working,
                                                                        IncompleteOptions const& options) {
    clear();
    if (!context_.is_alone()) return prepare_together(working, options);
    IncompleteOptions local = options;
    local.runtime.node_distances = context_.topology().distances();
    factor_.emplace(working, local, context_.workers(), context_.interrupt());
    runtime_ = local.runtime.runtime;
    context_.interrupt()->check();
    return DistributedRows(working.cols);
}

template <class T> DistributedRows
IncompletePreconditioner<T>::prepare_together(CscMatrix<T> const& working, IncompleteOptions const& options) {
    Communicator const& comm = context_.comm();
    IncompleteOptions local;
    local.levels = context_.on_root([&] { return options.levels; });
    local.block_size = context_.on_root([&] { return options.block_size; });
    local.coarse_string = context_.on_root([&] { return options.coarse_string; });
    local.bandwidth = context_.on_root([&] { return options.bandwidth; });
    local.max_memory = context_.on_root([&] { return options.max_memory; });
    local.sharing = context_.on_root([&] { return context_.processes_of_a_computer(); });
    runtime_ = local.runtime.runtime = context_.on_root([&] { return options.runtime.runtime; });
    local.runtime.schedule = context_.on_root([&] { return options.runtime.schedule; });
    std::vector<std::vector<Index>> parts;
    context_.on_root(
        [&] { parts = contiguous_parts(working, comm.size(), local.block_size, options.positions); });
    auto const bytes = deal_out(comm, [&](Packer& packer, int r) { packer(parts[r]); });
    std::vector<Index> own;
    context_.on_all([&] { Unpacker{bytes}(own); });
    DistributedRows rows(comm, std::move(own));
    block_.emplace(rows, context_.is_root() ? &working : nullptr, local.block_size, options.positions);
    context_.on_all([&] {
        local.runtime.node_distances = context_.topology().distances();
        local.positions = ranks_of(block_->labels());
        factor_.emplace(block_->matrix(), local, context_.workers(), context_.interrupt());
        context_.interrupt()->check();
    });
    return rows;
}

template <class T> void IncompletePreconditioner<T>::clear() {
    factor_.reset();
    block_.reset();
    factor_s_ = solve_s_ = 0;
    pivots_ = {};
    vectors_solved_ = 0;
    node_bytes_.clear();
    is_transposed_ = false;
    transposed_bytes_.clear();
}

template <class T> IncompletePivots IncompletePreconditioner<T>::factorize(CscMatrix<T> const& working,
                                                                           PivotDemand const& pivots) {
    Timer const timer;
    positive_ = pivots.positive;
    if (block_) block_->set_values(context_.is_root() ? &working : nullptr);
    IncompletePivots const own = context_.on_all([&] {
        return factor_->factorize(block_ ? block_->matrix() : working, pivots, context_.interrupt());
    });
    node_bytes_ = context_.on_all([&] { return factor_->node_bytes(); });
    double largest[] = {own.shift, static_cast<double>(own.restarts)};
    max(context_.comm(), std::span<double>(largest));
    pivots_ = {sum(context_.comm(), own.replaced), largest[0], static_cast<int>(largest[1])};
    factor_s_ = timer.seconds();
    solve_s_ = 0;
    vectors_solved_ = 0;
    return pivots_;
}

template <class T> void IncompletePreconditioner<T>::solve(std::span<T> block, Index columns, MatrixOp op) {
    Timer const timer;
    is_transposed_ = is_transposed_ || op != MatrixOp::none;
    if (block_) {
        solve_together(block, columns, op);
    } else {
        context_.interrupt()->check();
        factor_->solve(block.data(), block.data(), columns, op);
    }
    solve_s_ += timer.seconds();
    vectors_solved_ += columns;
}

template <class T>
void IncompletePreconditioner<T>::solve_together(std::span<T> block, Index columns, MatrixOp op) {
    using Overlap = typename OverlappingBlock<T>::Overlap;
    std::vector<T> work = context_.on_all([&] { return std::vector<T>(block_->matrix().rows * columns); });
    bool const is_transposed = op != MatrixOp::none;
    block_->extend(block, work, columns, positive_ || !is_transposed ? Overlap::exchanged : Overlap::ignored);
    context_.on_all([&] {
        context_.interrupt()->check();
        factor_->solve(work.data(), work.data(), columns, op);
    });
    block_->restrict_to_owners(work, block, columns,
                               positive_ || is_transposed ? Overlap::exchanged : Overlap::ignored);
}

template <class T> void IncompletePreconditioner<T>::fill(IncompleteReport& report) const {
    IncompleteSizes const& sizes = factor_->sizes();
    std::int64_t sums[] = {sizes.nnz_factor,
                           sizes.num_rows,
                           sizes.chunks,
                           sizes.coarse_edges,
                           sizes.synchronizations,
                           static_cast<std::int64_t>(sizes.moved_bytes),
                           static_cast<std::int64_t>(sizes.transposed_bytes)};
    sum(context_.comm(), std::span<std::int64_t>(sums));
    double times[] = {sizes.symbolic_s, sizes.coarsen_s, factor_s_,
                      vectors_solved_ > 0 ? solve_s_ / static_cast<double>(vectors_solved_) : 0};
    max(context_.comm(), std::span<double>(times));
    report.block_size = sizes.block_size;
    report.nnz_factor = sums[0];
    report.symbolic_s = times[0];
    report.factor_s = times[2];
    report.solve_s = times[3];
    report.coarsen_s = times[1];
    report.tasks_fine = sums[1];
    report.tasks_coarse = sums[2];
    report.edges_coarse = sums[3];
    report.synchronizations = sums[4];
    report.moved_bytes = static_cast<std::uint64_t>(sums[5]);
    report.transposed_bytes = static_cast<std::uint64_t>(sums[6]);
    context_.on_all([&] {
        report.coarsen = sizes.coarse_string;
        report.runtime = spellings<TaskRuntime>[static_cast<std::size_t>(runtime_)];
        report.node_bytes.assign(node_bytes_.begin(), node_bytes_.end());
        report.affinity_bytes.assign(sizes.affinity_bytes.begin(), sizes.affinity_bytes.end());
    });
    report.pivots_shifted = pivots_.replaced;
    report.shift = pivots_.shift;
    report.restarts = pivots_.restarts;
}

template <class T> void IncompletePreconditioner<T>::fill(AnalysisReport& report) {
    IncompleteSizes const& sizes = factor_->sizes();
    Communicator const& comm = context_.comm();
    double largest[] = {sizes.symbolic_s, sizes.coarsen_s, sizes.predicted.factor_s, sizes.predicted.solve_s};
    max(comm, std::span<double>(largest));
    CscMatrix<T> const* const own = block_ ? &block_->matrix() : nullptr;
    std::uint64_t const copied = own ? own->values.size() * (sizeof(T) + sizeof(Index)) : 0;
    auto const bytes = all_gather(comm, static_cast<std::int64_t>(sizes.bytes + copied));
    transposed_bytes_ = all_gather(comm, static_cast<std::int64_t>(sizes.transposed_bytes));
    report.symbolic_s = largest[0];
    report.mapping_s = largest[1];
    report.nnz_factor = report.nnz_stored = sum(comm, std::int64_t{sizes.nnz_factor});
    report.factor_bytes = static_cast<std::uint64_t>(report.nnz_factor) * sizeof(T);
    context_.on_all([&] { report.memory_bytes_of_process.assign(bytes.begin(), bytes.end()); });
    report.memory_bytes = static_cast<std::uint64_t>(std::ranges::max(bytes));
    report.predicted_factor_s = largest[2];
    report.predicted_solve_s = largest[3];
}

ESPALIER_INSTANTIATE_CLASS(IncompletePreconditioner)

} // namespace espalier
