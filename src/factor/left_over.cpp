#include "factor/left_over.hpp"

#include <algorithm>
#include <cstring>

namespace espalier {

namespace {

constexpr std::size_t index_bytes = sizeof(Index);

std::size_t padded_sum(std::size_t bytes) {
    return (bytes + index_bytes - 1) / index_bytes * index_bytes;
}

[[noreturn]] void reject_part() {
    throw Error(Status::internal, "the columns left over in a fan-in block are inconsistent");
}

// Writes numbers and coefficients to consecutive memory.
class PartWriter {
  public:
    explicit PartWriter(std::byte* at) : at_(at) {}
    template <class V> void write(std::span<V const> values) {
        std::memcpy(at_, values.data(), values.size_bytes());
        at_ += values.size_bytes();
    }
    void write(std::initializer_list<Index> values) { write(std::span<Index const>(values)); }
    template <class T> void write(MatrixView<T const> view) {
        if (view.rows == 0) return;
        for (Index j = 0; j < view.cols; ++j) write(std::span<T const>(view.column(j), view.rows));
    }

  private:
    std::byte* at_;
};

class PartReader {
  public:
    explicit PartReader(std::span<std::byte const> part) : rest_(part) {}
    template <class V> std::span<V const> read(Index count) {
        if (count < 0 || static_cast<std::size_t>(count) > rest_.size() / sizeof(V)) reject_part();
        std::span<V const> const values(reinterpret_cast<V const*>(rest_.data()), count);
        rest_ = rest_.subspan(values.size_bytes());
        return values;
    }
    template <class T> MatrixView<T const> read(Index rows, Index cols) {
        if (rows < 0 || cols < 0 || (cols > 0 && rows > std::ssize(rest_) / cols)) reject_part();
        return {read<T>(rows * cols).data(), rows, cols, std::max<Index>(1, rows)};
    }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

  private:
    std::span<std::byte const> rest_;
};

// Runs of the sum, as pairs (first row, height), become runs of the panel.
std::vector<RowRun> in_panel(std::span<Index const> runs, std::span<BlockRows const> rows) {
    std::vector<RowRun> placed;
    Index source = 0;
    auto at = rows.begin();
    for (std::size_t r = 0; r + 1 < runs.size(); r += 2)
        for (Index row = runs[r], end = row + runs[r + 1]; row < end;) {
            while (at != rows.end() && at->at + (at->end - at->begin) <= row) ++at;
            if (at == rows.end() || row < at->at) reject_part();
            Index const height = std::min(end, at->at + (at->end - at->begin)) - row;
            placed.push_back({source, at->begin + (row - at->at), height});
            source += height;
            row += height;
        }
    return placed;
}

template <class T> bool leaves_columns(Factor<T> const& factor, CblkId k) {
    DelayedPanel<T> const* const panel = factor.delayed(k);
    return panel && panel->left() > 0;
}

} // namespace

template <class T> std::span<RowRun const> rows_in_parent(BlockStructure const& structure, CblkId child,
                                                          UpdateWorkspace<T>& workspace) {
    BlokId const first_below = structure.cblk(child).first_blok + 1;
    find_row_runs(structure, facing_group(structure, child, first_below), {}, workspace);
    for (RowRun& run : workspace.runs) run.source_row -= structure.cblk(child).width();
    return workspace.runs;
}

template <class T> std::size_t left_over_bytes(Factor<T> const& factor, std::span<CblkId const> cblks,
                                               UpdateWorkspace<T>& workspace) {
    std::size_t numbers = 0, coefficients = 0;
    for (CblkId const k : cblks) {
        if (!leaves_columns(factor, k)) continue;
        auto const left = static_cast<std::size_t>(factor.delayed(k)->left());
        auto const rows = static_cast<std::size_t>(factor.cblk(k).rows_below());
        numbers += 3 + 2 * rows_in_parent(factor.structure(), k, workspace).size() + left;
        coefficients += left * (left + (factor.form().has_upper() ? 2 : 1) * rows);
    }
    return numbers == 0 ? 0 : (1 + numbers) * index_bytes + coefficients * sizeof(T);
}

template <class T> Block append_left_over(Factor<T> const& factor, std::span<CblkId const> cblks, Block&& sum,
                                          std::size_t bytes, UpdateWorkspace<T>& workspace) {
    std::size_t const before = padded_sum(sum.size());
    Block block = Block::allocate(before + bytes);
    std::memcpy(block.data(), sum.data(), sum.size());
    std::memset(block.data() + sum.size(), 0, before - sum.size());
    PartWriter writer(block.data() + before);
    writer.write({std::ranges::count_if(cblks, [&](CblkId k) { return leaves_columns(factor, k); })});
    for (CblkId const k : cblks) {
        if (!leaves_columns(factor, k)) continue;
        DelayedPanel<T> const& panel = *factor.delayed(k);
        auto const runs = rows_in_parent(factor.structure(), k, workspace);
        writer.write({panel.left(), factor.cblk(k).rows_below(), std::ssize(runs)});
        for (RowRun const& run : runs) writer.write({run.target_row, run.height});
        for (Index j = panel.pivots(); j < panel.columns(); ++j)
            writer.write({factor.unknown_of(panel.column_numbers()[j])});
    }
    for (CblkId const k : cblks) {
        if (!leaves_columns(factor, k)) continue;
        LeftOver<T> const columns = factor.delayed(k)->left_over();
        writer.write(columns.square);
        writer.write(columns.below);
        if (factor.form().has_upper()) writer.write(columns.upper);
    }
    return block;
}

std::span<std::byte const> after_sum(Block const& block, std::size_t sum_bytes) {
    std::size_t const before = padded_sum(sum_bytes);
    if (block.size() <= before) return {};
    return {block.data() + before, block.size() - before};
}

template <class T> ReceivedColumns<T>::ReceivedColumns(std::span<std::byte const> part,
                                                       std::span<BlockRows const> rows, bool has_upper)
    : size_(part.size()), memory_(std::make_unique_for_overwrite<std::byte[]>(part.size())) {
    std::memcpy(memory_.get(), part.data(), part.size());
    PartReader reader({memory_.get(), size_});
    struct Shape {
        Index left, rows;
    };
    std::vector<Shape> shapes;
    for (Index cblks = reader.read<Index>(1).front(); cblks > 0; --cblks) {
        auto const header = reader.read<Index>(3);
        auto const runs = reader.read<Index>(2 * header[2]);
        auto const unknowns = reader.read<Index>(header[0]);
        shapes.push_back({header[0], header[1]});
        sources_.push_back({in_panel(runs, rows), {}});
        unknowns_.insert(unknowns_.end(), unknowns.begin(), unknowns.end());
        Index height = 0;
        for (RowRun const& run : sources_.back().runs) height += run.height;
        if (height != header[1]) reject_part();
    }
    for (std::size_t s = 0; s < shapes.size(); ++s) {
        auto const [left, below] = shapes[s];
        sources_[s].columns.square = reader.read<T>(left, left);
        sources_[s].columns.below = reader.read<T>(below, left);
        if (has_upper) sources_[s].columns.upper = reader.read<T>(below, left);
    }
    if (!reader.at_end()) reject_part();
}

ESPALIER_INSTANTIATE_FUNCTION(rows_in_parent)
ESPALIER_INSTANTIATE_FUNCTION(left_over_bytes)
ESPALIER_INSTANTIATE_FUNCTION(append_left_over)
ESPALIER_INSTANTIATE_CLASS(ReceivedColumns)

} // namespace espalier
