#include "factor/timing_structure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "symbolic/block_symbolic.hpp"

namespace espalier {

namespace {

constexpr Index max_width = 256;

// Fronts of one size.
struct Level {
    Index order;     ///< Columns of the front.
    int fronts;      ///< Their number; many small ones, so that these matter too.
    int sources;     ///< Cblks below each front.
    double coverage; ///< Share of the front in which a source has rows.
    int max_runs;    ///< Maximum runs of rows that face one cblk.
    bool even;       ///< Strides are near powers of two, so that columns collide in the cache.
};
constexpr Level levels[] = {{60, 80, 6, 0.5, 3, false},  {120, 40, 6, 0.5, 3, false},
                            {238, 12, 6, 0.5, 3, false}, {478, 3, 5, 0.7, 2, false},
                            {958, 2, 4, 0.8, 2, false},  {1024, 1, 0, 1.0, 1, true},
                            {1902, 1, 3, 1.0, 1, false}};

class Builder {
  public:
    // Scales the number of fronts of each size to the bytes of a coefficient, with at least one front.
    Builder(FactorForm form, std::size_t scalar_bytes, TimingLimits const& limits) {
        double const sides = form.has_upper() ? 2 : 1; // L and U
        double const bytes = static_cast<double>(scalar_bytes) * sides;
        double bytes_left = limits.bytes, flops_left = limits.flops;
        for (Level const& level : levels) {
            double const order = static_cast<double>(level.order), width = std::min(order / 6, 200.0);
            double const rows = level.coverage * order;
            int const fronts = std::max(1, static_cast<int>(level.fronts * sizeof(double) / bytes));
            bytes_left -= fronts * (order * order / 2 + level.sources * rows * width) * bytes;
            flops_left -= fronts * (order * order * order / 3 + level.sources * rows * rows * width) * sides;
            if ((bytes_left < 0 || flops_left < 0) && level.order > levels[0].order) break;
            for (int front = 0; front < fronts; ++front) add_front(level);
        }
    }

    BlockStructure finish() {
        structure_.first_kept_cblk = structure_.num_cblks();
        structure_.perm.resize(structure_.n);
        std::iota(structure_.perm.begin(), structure_.perm.end(), Index{0});
        structure_.inverse = structure_.perm;
        list_facing(structure_);
        return std::move(structure_);
    }

  private:
    [[nodiscard]] double uniform(double low, double high) { // does not depend on the standard library
        return low + (high - low) * static_cast<double>(engine_() - std::minstd_rand::min()) /
                         static_cast<double>(std::minstd_rand::max());
    }
    [[nodiscard]] Index uniform(Index low, Index high) {
        return static_cast<Index>(std::lround(uniform(static_cast<double>(low), static_cast<double>(high))));
    }

    void add_front(Level const& level) {
        std::vector<Index> widths;
        for (int s = 0; s < level.sources; ++s) {
            double const most = std::min(static_cast<double>(level.order) / 3, double{max_width});
            double const least = std::max(2.0, std::min(most / 4, double{max_width} / 2));
            widths.push_back(static_cast<Index>(least * std::pow(most / least, uniform(0.0, 1.0))));
        }
        Index const sources_cols = std::accumulate(widths.begin(), widths.end(), Index{0});
        front_begin_ = structure_.n + sources_cols;
        front_cblk_ = structure_.num_cblks() + static_cast<CblkId>(widths.size());
        cut_.assign(1, front_begin_);
        while (cut_.back() < front_begin_ + level.order) {
            Index const width =
                level.even ? max_width : std::min(max_width, uniform(level.order / 10, level.order / 3));
            cut_.push_back(std::min(cut_.back() + width, front_begin_ + level.order));
        }
        for (Index const width : widths) add_source(level, width);
        for (std::size_t j = 0; j + 1 < cut_.size(); ++j) {
            begin_cblk(cut_[j + 1] - cut_[j]);
            for (std::size_t i = j + 1; i + 1 < cut_.size(); ++i) add_blok(cut_[i], cut_[i + 1], i);
        }
    }

    void add_source(Level const& level, Index width) {
        begin_cblk(width);
        for (std::size_t j = 0; j + 1 < cut_.size(); ++j) {
            if (uniform(0.0, 1.0) > level.coverage + 0.2) continue;
            Index const runs = std::min(uniform(Index{1}, Index{level.max_runs}), cut_[j + 1] - cut_[j]);
            for (Index r = 0; r < runs; ++r) { // each in its own part of the columns
                Index const begin = cut_[j] + r * (cut_[j + 1] - cut_[j]) / runs;
                Index const room = cut_[j] + (r + 1) * (cut_[j + 1] - cut_[j]) / runs - begin;
                auto const part = uniform(level.coverage - 0.2, std::min(1.0, level.coverage + 0.2));
                Index const height =
                    std::clamp(static_cast<Index>(part * static_cast<double>(room)), Index{1}, room);
                Index const first = begin + uniform(Index{0}, room - height);
                add_blok(first, first + height, j);
            }
        }
    }

    void begin_cblk(Index width) {
        auto const id = structure_.num_cblks();
        Cblk cblk;
        cblk.first_col = structure_.n;
        cblk.end_col = structure_.n += width;
        cblk.first_blok = cblk.end_blok = structure_.num_bloks();
        cblk.first_descendant = id;
        structure_.cblks.push_back(cblk);
        structure_.cblk_of_col.insert(structure_.cblk_of_col.end(), width, id);
        push_blok({cblk.first_col, cblk.end_col, id, 0});
    }

    // Adds a blok to the last cblk that faces cblk j of the front.
    void add_blok(Index first_row, Index end_row, std::size_t j) {
        Cblk const& cblk = structure_.cblks.back();
        push_blok({first_row, end_row, front_cblk_ + static_cast<CblkId>(j), cblk.stride});
    }

    void push_blok(Blok const& blok) {
        Cblk& cblk = structure_.cblks.back();
        structure_.bloks.push_back(blok);
        structure_.owner_of_blok.push_back(structure_.num_cblks() - 1);
        cblk.end_blok = structure_.num_bloks();
        cblk.stride += blok.height();
    }

    BlockStructure structure_;
    std::minstd_rand engine_{1};
    // The current front:
    Index front_begin_ = 0;
    CblkId front_cblk_ = 0;
    std::vector<Index> cut_; // first columns of its cblks, and its end
};

} // namespace

BlockStructure make_timing_structure(FactorForm form, std::size_t scalar_bytes, TimingLimits const& limits) {
    return Builder(form, scalar_bytes, limits).finish();
}

} // namespace espalier
