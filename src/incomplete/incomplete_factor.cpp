#include "incomplete/incomplete_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/run_threads.hpp"
#include "core/timer.hpp"
#include "incomplete/block_sizes.hpp"
#include "incomplete/row_factorization.hpp"
#include "incomplete/transposed_factor.hpp"
#include "runtime/written_pages.hpp"

namespace espalier {

namespace {

constexpr int interleaved = 4; ///< Maximum number of right-hand sides of a sweep.

/// The number of rows that a worker factorizes between two checks of the interrupt.
constexpr BlockRow rows_at_once = 256;

/// A request of the caller to stop a run whose tasks must not throw.
class StopRequest {
  public:
    explicit StopRequest(Interrupt* interrupt) : interrupt_(interrupt) {}

    /// Called on any thread between pieces of work.
    void check() noexcept {
        if (!interrupt_ || raised()) return;
        try {
            if (interrupt_->requested()) throw Error(Status::cancelled, "cancelled by the caller");
        } catch (...) { // also exceptions of the caller's function
            error_.capture();
            interrupt_->request();
        }
    }
    [[nodiscard]] bool raised() const noexcept { return error_.raised(); }
    /// Called after the run.
    void rethrow() { error_.rethrow(); }

  private:
    Interrupt* interrupt_;
    FirstError error_;
};

template <class T> Real<T> relative_threshold(PivotDemand const& pivots) {
    if (!(pivots.threshold >= 0))
        throw Error(Status::usage,
                    fmt::format("the pivot threshold is {}; expected at least 0", pivots.threshold));
    return pivots.threshold > 0 ? static_cast<Real<T>>(pivots.threshold) : std::sqrt(epsilon<T>);
}

/// Copies the conjugates of the entries. Does nothing for real ones.
template <class T> void conjugate([[maybe_unused]] T const* from, [[maybe_unused]] T* to, Index count) {
    if constexpr (is_complex<T>) std::transform(from, from + count, to, [](T value) { return conj(value); });
}

} // namespace

template <class T> class IncompleteFactor<T>::Storage {
  public:
    Storage(CscMatrix<T> const& a, IncompleteOptions const& options, WorkerTeam& team, Interrupt* interrupt)
        : team_(team), symmetry_(a.symmetry), size_(a.rows), stored_(a.stored()) {
        require_runtime(options.runtime.runtime);
        Timer const timer;
        int const block_size = options.block_size == 0 ? find_block_size(a) : options.block_size;
        sizes_.block_size = block_size;
        auto pattern = block_pattern(a, block_size, options.positions);
        check(interrupt);
        pattern = fill_pattern(std::move(pattern), options.levels, team.size(), interrupt);
        check(interrupt);
        RowCosts costs;
        if (options.bandwidth > 0) costs.byte = 1 / options.bandwidth;
        if (!options.runtime.uses_lists()) costs = costs.with_tasks();
        Timer const ordering;
        allocation_ = options.runtime.schedule.allocation;
        nodes_ = nodes_of(team);
        bool const distributes = options.runtime.runtime == TaskRuntime::espalier && nodes_.os_index.size() > 1 &&
                                 options.runtime.schedule.schedule == SchedulePolicy::nas;
        std::vector<int> const node_of_worker = distributes ? nodes_.of_worker : std::vector<int>();
        order_ = options.coarse_string.empty()
                     ? choose_execution_order(pattern, team.size(), block_size, sizeof(T), costs, node_of_worker)
                     : make_execution_order(pattern, team.size(), options.coarse_string, node_of_worker);
        check(interrupt);
        runs_.emplace(order_, team, options.runtime);
        sizes_.coarsen_s = ordering.seconds();
        lower_ = RowStorage<T>(pattern, order_, SweepDirection::forward, block_size, allocation_, team);
        upper_ = RowStorage<T>(pattern, order_, SweepDirection::backward, block_size, allocation_, team);
        inverse_ = Arena(order_.row_at.size() * entries_of_block() * sizeof(T), allocation_);
        if (allocation_ == Allocation::global) populate(inverse_.bytes());
        if (distributes && allocation_ == Allocation::local) place_pages(team.bound());
        check(interrupt);
        map_ = EntryMap::make(a, is_complex<T>, block_size, options.positions, order_, pattern.num_blocks(),
                              options.levels == 0, team.size());
        check(interrupt);
        find_source_rows(options.positions);
        for (BlockRow i = 0; i < pattern.num_rows; ++i)
            longest_row_ = std::max(longest_row_, static_cast<std::int32_t>(pattern.row(i).size()));
        sizes_.predicted = predict_sweeps(pattern, order_, block_size, sizeof(T), costs);
        sizes_.coarse_string = order_.coarse_string;
        sizes_.num_rows = pattern.num_rows;
        sizes_.nnz_factor = pattern.num_blocks() * entries_of_block();
        sizes_.chunks = order_.num_chunks();
        sizes_.coarse_edges = order_.coarse_edges;
        sizes_.synchronizations = runs_->synchronizations();
        Offset const indices = pattern.num_blocks() + 8 * sizes_.num_rows;
        sizes_.bytes = static_cast<std::uint64_t>(sizes_.nnz_factor + interleaved * size_) * sizeof(T) +
                       static_cast<std::uint64_t>(indices) * sizeof(BlockRow) + map_.bytes() +
                       order_.num_workers * bytes_of_current_row<T>(pattern.num_rows, block_size);
        if (a.symmetry == Symmetry::general)
            sizes_.transposed_bytes = TransposedFactor<T>::bytes(pattern.num_blocks(), pattern.num_rows, block_size);
        sizes_.symbolic_s = timer.seconds() - sizes_.coarsen_s;
    }

    [[nodiscard]] IncompleteSizes const& sizes() const { return sizes_; }

    [[nodiscard]] std::vector<std::uint64_t> node_bytes() const {
        if (memory_nodes().size() < 2) return {lower_.bytes().size() + upper_.bytes().size() + inverse_.size()};
        std::vector<std::uint64_t> sum;
        for (auto const part : {lower_.bytes(), upper_.bytes(), std::span<std::byte const>(inverse_.bytes())}) {
            auto const bytes = query_nodes(part).node_bytes;
            if (bytes.size() > sum.size()) sum.resize(bytes.size(), 0);
            for (std::size_t node = 0; node < bytes.size(); ++node) sum[node] += bytes[node];
        }
        return sum;
    }

    Index factorize(CscMatrix<T> const& a, PivotDemand const& pivots, Interrupt* interrupt) {
        PivotRule<T> const rule{relative_threshold<T>(pivots), pivots.positive};
        if (a.rows != size_ || a.stored() != stored_)
            throw Error(Status::usage,
                        fmt::format("the matrix has {} rows and {} stored entries; the incomplete "
                                    "factorization was prepared for {} and {}",
                                    a.rows, a.stored(), size_, stored_));
        return factorize_rows(a.values.data(), rule, interrupt);
    }

    void solve(T const* b, T* x, Index nrhs, MatrixOp op) {
        MatrixOp const same = symmetry_ == Symmetry::symmetric   ? MatrixOp::transpose
                              : symmetry_ == Symmetry::hermitian ? MatrixOp::adjoint
                                                                 : MatrixOp::none;
        if (op == MatrixOp::none || op == same) return sweep_columns(factors(), b, x, nrhs);
        bool const is_adjoint = op == MatrixOp::adjoint;
        // op(L U) = conj(L U) if the matrix is symmetric or Hermitian, and conj((L U)^T) = (L U)^H.
        bool const conjugates = is_complex<T> && (same != MatrixOp::none || is_adjoint);
        if (conjugates) conjugate(b, x, nrhs * size_);
        T const* const from = conjugates ? x : b;
        if (same != MatrixOp::none || (!is_complex<T> && symmetry_ != Symmetry::general))
            sweep_columns(factors(), from, x, nrhs);
        else
            sweep_columns(transposed_factors(), from, x, nrhs);
        if (conjugates) conjugate(x, x, nrhs * size_);
    }

    void solve_in_order(T* x, TriangularPart part) {
        sweep(chunk_sweeps<1>(), part, factors(), {x, nullptr, nullptr});
    }

    [[nodiscard]] std::vector<Index> row_of() const {
        std::vector<Index> rows;
        rows.reserve(size_);
        for (BlockRow const row : source_row_)
            for (int k = 0; k < sizes_.block_size; ++k) rows.push_back(Index(row) * sizes_.block_size + k);
        return rows;
    }

  private:
    [[nodiscard]] Index entries_of_block() const { return Index(sizes_.block_size) * sizes_.block_size; }

    /// A dry run of the factorization. Chunks write rows of L and U and inverse diagonal blocks, whose pages
    /// move to the node of the chunk.
    void place_pages(bool moves) {
        populate(inverse_.bytes());
        auto const place = [&](std::size_t page_bytes, auto const& written) {
            WrittenPages const pages(
                order_.node_of_chunk,
                [&](TaskId chunk, WriteRegister const& writes) { writes(std::as_writable_bytes(written(chunk))); },
                page_bytes);
            sizes_.affinity_bytes.resize(nodes_.os_index.size(), 0);
            for (std::size_t node = 0; node < pages.bytes_of_node().size(); ++node)
                sizes_.affinity_bytes[node] += pages.bytes_of_node()[node];
            if (moves) sizes_.moved_bytes += pages.move(nodes_.os_index);
        };
        Index const entries = entries_of_block();
        place(lower_.page_bytes(), [&](TaskId chunk) { return lower_.values_of(chunk, entries); });
        place(upper_.page_bytes(), [&](TaskId chunk) { return upper_.values_of(chunk, entries); });
        place(inverse_.page_bytes(), [&](TaskId chunk) {
            Index const first = order_.chunk_ptr[chunk], end = order_.chunk_ptr[chunk + 1];
            return inverse_.template as<T>().subspan(first * entries, (end - first) * entries);
        });
    }

    void find_source_rows(std::span<Index const> positions) {
        source_row_ = order_.row_at;
        if (positions.empty()) return;
        std::vector<BlockRow> source(positions.size());
        for (std::size_t i = 0; i < positions.size(); ++i) source[positions[i]] = static_cast<BlockRow>(i);
        for (BlockRow& row : source_row_) row = source[row];
    }

    Index factorize_rows(T const* values, PivotRule<T> const& rule, Interrupt* interrupt) {
        if (transposed_) transposed_->mark_old();
        FactorArrays<T> const arrays{map_, values, lower_, upper_, inverse_.as<T>().data(), rule};
        std::vector<std::unique_ptr<RowFactorizer>> rows;
        rows.reserve(order_.num_workers);
        current_rows_.reserve(order_.num_workers);
        while (std::ssize(current_rows_) < order_.num_workers)
            current_rows_.emplace_back(bytes_of_current_row<T>(order_.num_rows(), sizes_.block_size), Allocation::local);
        for (WorkerId w = 0; w < order_.num_workers; ++w)
            rows.push_back(with_block_size(sizes_.block_size, [&]<int B>() -> std::unique_ptr<RowFactorizer> {
                return std::make_unique<RowFactorization<T, B>>(arrays, current_rows_[w], longest_row_);
            }));
        StopRequest stop(interrupt);
        RunOptions options;
        if (interrupt) {
            options.cancel = &interrupt->flag();
            options.should_cancel = [&] { return interrupt->requested(); };
        }
        std::int64_t const first_task = number_tasks(order_.num_chunks());
        auto const factorize_chunk = [&](std::int32_t chunk, WorkerId w) {
            auto const scope = recorded(w, trace::Kind::factor, first_task + chunk);
            BlockRow const end = order_.chunk_ptr[chunk + 1];
            for (BlockRow first = order_.chunk_ptr[chunk], next; first < end; first = next) {
                stop.check();
                if (stop.raised()) return;
                next = std::min(end, first + rows_at_once);
                rows[w]->factorize_rows(first, next);
            }
        };
        try {
            runs_->run(TriangularPart::lower, factorize_chunk, factorize_chunk, options);
        } catch (...) {
            stop.rethrow(); // the cause of the cancellation
            throw;
        }
        stop.rethrow();
        check(interrupt);
        Index replaced = 0;
        for (auto const& part : rows) replaced += part->replaced();
        return replaced;
    }

    /// Interleaved vectors. Unless they are null, the rows of a chunk are read from b before its first sweep, and written
    /// to x after its last one.
    struct SweepVectors {
        T* work;
        T const* b;
        T* x;
    };
    /// The factors of L U, or those of (L U)^T = U^T L^T: the rows of a lower and of an upper triangular matrix. One of them
    /// has diagonal blocks, whose inverses are given.
    struct Factors {
        RowStorage<T> const& lower;
        RowStorage<T> const& upper;
        T const* inverse;
        bool lower_has_diagonal;
    };
    [[nodiscard]] Factors factors() const { return {lower_, upper_, inverse_.template as<T>().data(), false}; }

    /// Copies the factors on the first call after a factorization.
    Factors transposed_factors() {
        if (!transposed_) transposed_.emplace(order_, lower_, upper_, sizes_.block_size, allocation_, team_);
        transposed_->update(inverse_.as<T>().data());
        return {transposed_->lower(), transposed_->upper(), transposed_->inverse(), true};
    }

    void sweep_columns(Factors const& factors, T const* b, T* x, Index nrhs) {
        Index r = 0;
        for (; r + interleaved <= nrhs; r += interleaved)
            sweep(chunk_sweeps<interleaved>(), TriangularPart::both, factors,
                  {workspace(interleaved), b + r * size_, x + r * size_});
        for (; r < nrhs; ++r)
            sweep(chunk_sweeps<1>(), TriangularPart::both, factors, {workspace(1), b + r * size_, x + r * size_});
    }

    using ChunkSweep = void (Storage::*)(SweepDirection direction, Factors const& factors, std::int32_t chunk,
                                         SweepVectors const& vectors) const;
    /// The sweeps over a chunk on R interleaved vectors, by a factor without and with diagonal blocks. Only these depend on
    /// the size of the blocks.
    struct ChunkSweeps {
        ChunkSweep without_diagonal, with_diagonal;
    };
    template <int R> [[nodiscard]] ChunkSweeps chunk_sweeps() const {
        return with_block_size(sizes_.block_size, []<int B>() {
            return ChunkSweeps{&Storage::template sweep_chunk<B, R, false>, &Storage::template sweep_chunk<B, R, true>};
        });
    }

    void sweep(ChunkSweeps const& sweeps, TriangularPart part, Factors const& factors, SweepVectors const& vectors) {
        std::int64_t const first_task = number_tasks(2 * order_.num_chunks());
        ChunkSweep const forward = factors.lower_has_diagonal ? sweeps.with_diagonal : sweeps.without_diagonal;
        ChunkSweep const backward = factors.lower_has_diagonal ? sweeps.without_diagonal : sweeps.with_diagonal;
        runs_->run(
            part,
            [&](std::int32_t chunk, WorkerId w) {
                auto const scope = recorded(w, trace::Kind::forward, first_task + chunk);
                (this->*forward)(SweepDirection::forward, factors, chunk, vectors);
            },
            [&](std::int32_t chunk, WorkerId w) {
                auto const scope = recorded(w, trace::Kind::backward, first_task + order_.num_chunks() + chunk);
                (this->*backward)(SweepDirection::backward, factors, chunk, vectors);
            });
    }

    template <int B, int R, bool Diagonal>
    void sweep_chunk(SweepDirection direction, Factors const& factors, std::int32_t chunk,
                     SweepVectors const& vectors) const {
        T* const work = vectors.work;
        bool const is_forward = direction == SweepDirection::forward;
        if (T const* const b = vectors.b; b && is_forward)
            visit_entries<B, R>(chunk, work, [b](T& entry, Index at) { entry = b[at]; });
        RowStorage<T> const& rows = is_forward ? factors.lower : factors.upper;
        auto cursor = cursor_at(rows, chunk);
        Index const step = is_forward ? 1 : -1;
        Index first = is_forward ? order_.chunk_ptr[chunk] : order_.chunk_ptr[chunk + 1] - 1;
        for (SweepRun const run : rows.runs_of(chunk)) {
            SweepKernel<T, B, R, Diagonal>::run_any(work, factors.inverse, first, step, run, cursor);
            first += step * run.num_rows;
        }
        if (T* const x = vectors.x; x && !is_forward)
            visit_entries<B, R>(chunk, work, [x](T const& entry, Index at) { x[at] = entry; });
    }

    /// Calls visit(entry, its place in the vectors of the caller) for the entries of the rows of a chunk.
    template <int B, int R, class Visit>
    void visit_entries(std::int32_t chunk, T* work, Visit const& visit) const {
        for (Index p = order_.chunk_ptr[chunk]; p < order_.chunk_ptr[chunk + 1]; ++p)
            for (int k = 0; k < B; ++k)
                for (int r = 0; r < R; ++r)
                    visit(work[(p * B + k) * R + r], Index(source_row_[p]) * B + k + r * size_);
    }

    SweepCursor<T> cursor_at(RowStorage<T> const& rows, std::int32_t chunk) const {
        Offset const begin = rows.begin_of_chunk(chunk);
        return {rows.columns() + begin, rows.values() + begin * entries_of_block()};
    }

    /// Returns memory for `columns` vectors.
    T* workspace(Index columns) {
        std::size_t const bytes = size_ * columns * sizeof(T);
        if (work_.size() >= bytes) return work_.as<T>().data();
        if (order_.node_of_chunk.empty() || allocation_ != Allocation::local) {
            work_ = Arena(bytes, allocation_);
        } else { // the entries of each worker's rows are on its node
            std::vector<NodeRange> ranges;
            for (WorkerId w = 0; w < order_.num_workers; ++w) {
                Index const rows = order_.chunk_ptr[order_.worker_ptr[w + 1]] - order_.chunk_ptr[order_.worker_ptr[w]];
                ranges.push_back({rows * sizes_.block_size * columns * sizeof(T),
                                  nodes_.os_index[nodes_.of_worker[w]]});
            }
            work_ = Arena::on_nodes(ranges);
        }
        return work_.as<T>().data();
    }

    /// The number of the first of a run's tasks in the trace, if one is recorded.
    [[nodiscard]] std::int64_t number_tasks(std::int64_t count) const {
        return team_.recorder() ? team_.recorder()->reserve_tasks(count) : 0;
    }
    [[nodiscard]] trace::Scope recorded(WorkerId w, trace::Kind kind, std::int64_t task) const {
        return {team_.track(w), kind, {task, -1, -1}};
    }

    WorkerTeam& team_;
    Symmetry symmetry_;
    Index size_;
    Offset stored_;
    IncompleteSizes sizes_;
    Allocation allocation_ = Allocation::local;
    TeamNodes nodes_;
    ExecutionOrder order_;
    std::optional<ChunkRuns> runs_;
    RowStorage<T> lower_, upper_;
    Arena inverse_;
    std::optional<TransposedFactor<T>> transposed_; ///< Made when it is first needed.
    EntryMap map_;
    LargeVector<BlockRow> source_row_; ///< By position, in the numbers of the caller.
    std::int32_t longest_row_ = 1;
    std::vector<Arena> current_rows_; ///< By worker.
    Arena work_;
};

template <class T>
IncompleteFactor<T>::IncompleteFactor(CscMatrix<T> const& a, IncompleteOptions const& options,
                                      WorkerTeam& team, Interrupt* interrupt)
    : storage_(std::make_unique<Storage>(a, options, team, interrupt)) {}
template <class T> IncompleteFactor<T>::~IncompleteFactor() = default;
template <class T> IncompleteFactor<T>::IncompleteFactor(IncompleteFactor&&) noexcept = default;

template <class T> std::vector<std::uint64_t> IncompleteFactor<T>::node_bytes() const {
    return storage_->node_bytes();
}
template <class T> IncompleteSizes const& IncompleteFactor<T>::sizes() const {
    return storage_->sizes();
}
template <class T> Index IncompleteFactor<T>::factorize(CscMatrix<T> const& a, PivotDemand const& pivots, Interrupt* interrupt) {
    return storage_->factorize(a, pivots, interrupt);
}
template <class T> void IncompleteFactor<T>::solve(T const* b, T* x, Index nrhs, MatrixOp op) const {
    storage_->solve(b, x, nrhs, op);
}
template <class T> std::vector<Index> IncompleteFactor<T>::row_of() const {
    return storage_->row_of();
}
template <class T> void IncompleteFactor<T>::solve_in_order(T* x, TriangularPart part) const {
    storage_->solve_in_order(x, part);
}

#define ESPALIER_INSTANTIATE(T) template class IncompleteFactor<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
