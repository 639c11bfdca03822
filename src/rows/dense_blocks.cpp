#include "rows/dense_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/run_threads.hpp"
#include "rows/block_sizes.hpp"

namespace espalier {

namespace {

constexpr double dense_enough = 0.8;
/// Sizes with a lower or a higher density in a sample are not examined in full.
constexpr double far_from_dense = 0.6, far_above_dense = 0.95;
/// Block columns of a sample. Few are enough to find that most matrices have no blocks of some size.
constexpr BlockRow first_sample = 1 << 9, sampled_columns = 1 << 12;

/// Finds the density of blocks of several sizes.
class BlockDensity {
  public:
    explicit BlockDensity(StoredPattern const& a) : a_(a) {}

    template <int B> [[nodiscard]] bool is_dense() {
        if (a_.rows % B != 0) return false;
        for (BlockRow const sampled : {first_sample, sampled_columns}) {
            auto const stride = static_cast<BlockRow>(a_.rows / B / sampled);
            if (stride <= 1) break;
            double const of_sample = density<B>(stride);
            if (of_sample < far_from_dense) return false;
            if (sampled == sampled_columns && of_sample >= far_above_dense) return true;
        }
        return density<B>(1) >= dense_enough;
    }

  private:
    /// The stored entries of every `stride`-th block column, divided by the size of their blocks. Diagonal
    /// blocks of a stored triangle lack their upper half, and the other blocks count twice.
    template <int B> double density(BlockRow stride) {
        auto const num_rows = static_cast<BlockRow>(a_.rows / B);
        Offset const weight = a_.symmetry == Symmetry::general ? 1 : 2;
        Offset entries = 0, blocks = 0;
        seen_.assign(num_rows, -1);
        for (BlockRow j = 0; j < num_rows; j += stride) {
            visit_block_column<B>(a_, j, seen_, j, [&](BlockRow i) { blocks += i == j ? 1 : weight; });
            for (Index column = Index(j) * B; column < Index(j + 1) * B; ++column)
                for (Offset const p : a_.entries_of(column)) entries += a_.row_ind[p] == column ? 1 : weight;
        }
        return static_cast<double>(entries) / (static_cast<double>(std::max<Offset>(blocks, 1)) * B * B);
    }

    StoredPattern const& a_;
    LargeVector<BlockRow> seen_; ///< Keeps its memory from one size to the next.
};

/// Whether block column j consists of whole blocks, whose rows ascend. Writes the block rows.
template <int B> bool read_whole_blocks(StoredPattern const& a, Index j, BlockRow* rows) {
    Index const* const first = a.row_ind.data() + a.col_ptr[j * B];
    Offset const length = a.col_ptr[j * B + 1] - a.col_ptr[j * B];
    for (Offset p = 0; p < length; p += B) {
        bool is_strip = first[p] % B == 0 && (p == 0 || first[p - 1] < first[p]);
        for (int i = 1; i < B; ++i) is_strip = is_strip && first[p + i] == first[p] + i;
        if (!is_strip) return false;
        *rows++ = static_cast<BlockRow>(first[p] / B);
    }
    for (int c = 1; c < B; ++c)
        if (!std::equal(first, first + length, a.row_ind.data() + a.col_ptr[j * B + c])) return false;
    return true;
}

} // namespace

int find_block_size(StoredPattern const& a) {
    if (a.rows != a.cols) return 1;
    BlockDensity density(a);
    for (int size = largest_block; size > 1; --size)
        if (with_block_size(size, [&]<int B>() { return density.is_dense<B>(); })) return size;
    return 1;
}

std::optional<BlockColumns> whole_blocks(StoredPattern const& a, int block_size, int threads) {
    if (block_size < 2 || a.symmetry != Symmetry::general || a.rows != a.cols || a.cols % block_size != 0 ||
        a.cols / block_size >= std::numeric_limits<BlockRow>::max())
        return std::nullopt;
    auto const length_of = [&](Index j) { return a.col_ptr[j + 1] - a.col_ptr[j]; };
    BlockColumns columns;
    columns.ptr.reserve(a.cols / block_size + 1);
    for (Index j = 0; j < a.cols; j += block_size) {
        Offset const length = length_of(j);
        bool is_whole = length % block_size == 0 && length <= std::numeric_limits<std::int32_t>::max();
        for (int c = 1; c < block_size; ++c) is_whole = is_whole && length_of(j + c) == length;
        if (!is_whole) return std::nullopt;
        columns.ptr.push_back(columns.ptr.back() + length / block_size);
    }
    columns.rows.resize(columns.ptr.back());
    std::atomic<bool> all_whole{true};
    threads = team_size(threads);
    Index const num_columns = a.cols / block_size;
    with_block_size(block_size, [&]<int B>() {
        run_threads(threads, [&](int t) {
            for (Index j = num_columns * t / threads; j < num_columns * (t + 1) / threads; ++j)
                if (!read_whole_blocks<B>(a, j, columns.rows.data() + columns.ptr[j])) {
                    all_whole = false;
                    return;
                }
        });
    });
    if (!all_whole) return std::nullopt;
    return columns;
}

} // namespace espalier
