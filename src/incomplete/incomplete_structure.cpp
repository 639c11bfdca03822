#include "incomplete/incomplete_structure.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/run_threads.hpp"
#include "incomplete/row_arrangement.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/written_pages.hpp"

namespace espalier {

namespace {

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
            interrupt_->check();
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

} // namespace

IncompleteStructure::IncompleteStructure(StoredPattern const& a, EntryType type,
                                         IncompleteOptions const& options, WorkerTeam& team,
                                         Interrupt* interrupt)
    : team_(team), type_(type), size_(a.rows), stored_(a.stored()),
      allocation_(options.runtime.schedule.allocation), nodes_(nodes_of(team)) {
    require_runtime(options.runtime.runtime);
    int const block_size = sizes_.block_size =
        options.block_size == 0 ? find_block_size(a) : options.block_size;
    whole_blocks_ = whole_blocks(a, block_size, team.size());
    pattern_ = block_pattern(a, block_size, options.positions, whole_blocks_ ? &*whole_blocks_ : nullptr,
                             options.levels == 0);
    check(interrupt);
    changes_only_pivots_ = options.levels == 0 && block_size == 1 && is_bipartite(pattern_);
    check(interrupt);
    pattern_ = fill_pattern(std::move(pattern_), options.levels, team.size(), interrupt, fill_limit(options));
    check(interrupt);
    Timer const ordering;
    distributes_ = options.runtime.runtime == TaskRuntime::espalier && nodes_.os_index.size() > 1 &&
                   options.runtime.schedule.schedule == SchedulePolicy::nas;
    std::vector<int> const node_of_worker = distributes_ ? nodes_.of_worker : std::vector<int>();
    order_ =
        options.coarse_string.empty()
            ? choose_execution_order(pattern_, team.size(), block_size, type.bytes, row_costs(options),
                                     node_of_worker, interrupt)
            : make_execution_order(pattern_, team.size(), options.coarse_string, node_of_worker, interrupt);
    check(interrupt);
    runs_.emplace(order_, team, options.runtime);
    sizes_.coarsen_s = ordering.seconds();
    storage_begin_ = timer_.seconds();
}

// A block of the factor has a number and values. The processes of a computer store the numbers at the same
// time, but some of them may have larger factors than others. Without Options::max_memory, the available
// memory is the limit.
FillLimit IncompleteStructure::fill_limit(IncompleteOptions const& options) const {
    std::uint64_t const of_factor = sizeof(BlockRow) + entries_of_block() * type_.bytes;
    std::uint64_t const of_search = sizeof(BlockRow) * options.sharing;
    std::uint64_t const of_block = std::max(of_factor, of_search);
    auto const limit = [&](std::uint64_t bytes, bool is_available) {
        return FillLimit{bytes, static_cast<Offset>(bytes / of_block), is_available};
    };
    if (options.max_memory > 0 || options.levels == 0) return limit(options.max_memory, false);
    constexpr double worth_checking = 1 << 26; // reading the limits of the system takes 100 us
    auto const rows = static_cast<double>(size_) / sizes_.block_size;
    if (rows * rows * static_cast<double>(of_block) < worth_checking) return {};
    return limit(available_memory_bytes(), true);
}

void IncompleteStructure::allocate_inverse() {
    inverse_ = Arena::of_kept_pages(order_.row_at.size() * entries_of_block() * type_.bytes, allocation_);
    if (allocation_ == Allocation::global) populate(inverse_.bytes());
}

RowCosts IncompleteStructure::row_costs(IncompleteOptions const& options) const {
    RowCosts costs;
    if (options.bandwidth > 0) costs.byte = 1 / options.bandwidth;
    return options.runtime.uses_lists() ? costs : costs.with_tasks();
}

void IncompleteStructure::map_entries(StoredPattern const& a, IncompleteOptions const& options,
                                      Interrupt* interrupt) {
    RowPattern pattern = std::exchange(pattern_, {});
    check(interrupt);
    auto const whole = std::exchange(whole_blocks_, std::nullopt);
    find_sizes(pattern, row_costs(options));
    bool const has_long_rows = pattern.num_blocks() >= (2 * long_row + 1) * pattern.num_rows;
    map_ = EntryMap::make(
        {a, type_.is_complex, sizes_.block_size, whole ? &*whole : nullptr, options.positions}, order_,
        std::move(pattern), options.levels == 0, changes_only_pivots_ || has_long_rows, team_.size());
    sizes_.bytes += map_.bytes() + order_.num_workers * bytes_of_current_row();
    check(interrupt);
    find_source_rows(options.positions);
}

void IncompleteStructure::find_sizes(RowPattern const& pattern, RowCosts const& costs) {
    for (BlockRow i = 0; i < pattern.num_rows && sizes_.block_size > 1; ++i)
        longest_row_ = std::max(longest_row_, static_cast<std::int32_t>(pattern.row(i).size()));
    sizes_.predicted = predict_sweeps(pattern, order_, sizes_.block_size, type_.bytes, costs);
    sizes_.coarse_string = order_.coarse_string;
    sizes_.num_rows = pattern.num_rows;
    sizes_.nnz_factor = pattern.num_blocks() * entries_of_block();
    sizes_.chunks = order_.num_chunks();
    sizes_.coarse_edges = order_.coarse_edges;
    sizes_.synchronizations = runs_->synchronizations();
    Offset const indices = pattern.num_blocks() + 8 * sizes_.num_rows;
    sizes_.bytes = static_cast<std::uint64_t>(sizes_.nnz_factor + interleaved * size_) * type_.bytes +
                   static_cast<std::uint64_t>(indices) * sizeof(BlockRow);
}

void IncompleteStructure::find_source_rows(std::span<Index const> positions) {
    if (positions.empty()) return;
    LargeVector<BlockRow> source(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) source[positions[i]] = static_cast<BlockRow>(i);
    source_row_.resize(positions.size());
    for (std::size_t p = 0; p < positions.size(); ++p) source_row_[p] = source[order_.row_at[p]];
}

std::vector<Index> IncompleteStructure::row_of() const {
    std::vector<Index> rows;
    rows.reserve(size_);
    for (BlockRow const row : source_rows())
        for (int k = 0; k < sizes_.block_size; ++k) rows.push_back(Index(row) * sizes_.block_size + k);
    return rows;
}

void IncompleteStructure::place_pages(std::size_t page_bytes,
                                      std::function<std::span<std::byte>(TaskId)> const& written) {
    WrittenPages const pages(
        order_.node_of_chunk, [&](TaskId chunk, WriteRegister const& writes) { writes(written(chunk)); },
        page_bytes);
    sizes_.affinity_bytes.resize(nodes_.os_index.size(), 0);
    for (std::size_t node = 0; node < pages.bytes_of_node().size(); ++node)
        sizes_.affinity_bytes[node] += pages.bytes_of_node()[node];
    if (team_.bound()) sizes_.moved_bytes += pages.move(nodes_.os_index);
}

std::span<std::byte> IncompleteStructure::inverse_of(TaskId chunk) const {
    std::size_t const bytes = entries_of_block() * type_.bytes;
    std::size_t const first = order_.chunk_ptr[chunk] * bytes, end = order_.chunk_ptr[chunk + 1] * bytes;
    return inverse_.bytes().subspan(first, end - first);
}

std::vector<std::uint64_t> IncompleteStructure::node_bytes(std::span<std::byte const> lower,
                                                           std::span<std::byte const> upper) const {
    if (memory_nodes().size() < 2) return {lower.size() + upper.size() + inverse_.size()};
    std::vector<std::uint64_t> sum;
    for (auto const part : {lower, upper, std::span<std::byte const>(inverse_.bytes())}) {
        auto const bytes = query_nodes(part).node_bytes;
        if (bytes.size() > sum.size()) sum.resize(bytes.size(), 0);
        for (std::size_t node = 0; node < bytes.size(); ++node) sum[node] += bytes[node];
    }
    return sum;
}

void IncompleteStructure::require_size(Index rows, Offset stored) const {
    if (rows == size_ && stored == stored_) return;
    throw Error(Status::usage, fmt::format("the matrix has {} rows and {} stored entries; the analyzed "
                                           "matrix had {} and {}",
                                           rows, stored, size_, stored_));
}

std::span<Arena> IncompleteStructure::current_rows() {
    current_rows_.reserve(order_.num_workers);
    while (std::ssize(current_rows_) < order_.num_workers) {
        Arena& row =
            current_rows_.emplace_back(Arena::of_kept_pages(bytes_of_current_row(), Allocation::local));
        std::ranges::fill(row.bytes(), std::byte(0));
    }
    return current_rows_;
}

std::optional<Index>
IncompleteStructure::factorize_rows(std::vector<std::unique_ptr<RowFactorizer>> const& rows, bool stops,
                                    Interrupt* interrupt) {
    StopRequest stop(interrupt);
    std::atomic<bool> has_broken_down = false; // whether any row needs a shift does not depend on their order
    RunOptions options;
    options.interrupt = interrupt;
    std::int64_t const first_task = number_tasks(order_.num_chunks());
    auto const factorize_chunk = [&](std::int32_t chunk, WorkerId w) {
        auto const scope = recorded(w, trace::Kind::factor, first_task + chunk);
        BlockRow const end = order_.chunk_ptr[chunk + 1];
        BlockRow first = order_.chunk_ptr[chunk], loaded = first;
        for (BlockRow next; first < end; first = next) {
            stop.check();
            if (stop.raised() || has_broken_down.load(std::memory_order_relaxed)) return;
            if (first == loaded) {
                loaded = std::min(end, first + rows_per_block);
                rows[w]->load_rows(first, loaded);
            }
            next = std::min(loaded, first + rows_at_once);
            rows[w]->factorize_rows(first, next);
            if (stops && rows[w]->needs_shift()) has_broken_down.store(true, std::memory_order_relaxed);
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
    if (has_broken_down) return {};
    Index replaced = 0;
    for (auto const& part : rows) replaced += part->replaced();
    return replaced;
}

std::span<std::byte> IncompleteStructure::workspace(Index columns) {
    std::size_t const bytes = size_ * columns * type_.bytes;
    if (work_.size() >= bytes) return work_.bytes();
    if (order_.node_of_chunk.empty() || allocation_ != Allocation::local) {
        work_ = Arena::of_kept_pages(bytes, allocation_);
    } else { // the entries of each worker's rows are on its node
        std::vector<NodeRange> ranges;
        for (WorkerId w = 0; w < order_.num_workers; ++w) {
            Index const rows =
                order_.chunk_ptr[order_.worker_ptr[w + 1]] - order_.chunk_ptr[order_.worker_ptr[w]];
            ranges.push_back(
                {rows * sizes_.block_size * columns * type_.bytes, nodes_.os_index[nodes_.of_worker[w]]});
        }
        work_ = Arena::on_nodes(ranges);
    }
    return work_.bytes();
}

} // namespace espalier
