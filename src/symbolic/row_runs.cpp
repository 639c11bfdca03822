#include "symbolic/row_runs.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace espalier {

namespace {

// Finds the maximal intervals of sets of integers. A bit set takes time linear in the size plus 1/64 of the
// span of the set; sparse sets are sorted instead.
class RunFinder {
  public:
    template <class Emit> void find(std::span<Vertex const> set, Emit const& emit) {
        auto const [low, high] = std::minmax_element(set.begin(), set.end());
        Vertex const begin = *low;
        Vertex const end = *high + 1;
        if (end - begin == static_cast<Vertex>(set.size()))
            emit(begin, end);
        else if ((end - begin) / 64 > std::ssize(set))
            by_sorting(set, emit);
        else
            by_bits(set, begin, end, emit);
    }

  private:
    template <class Emit> void by_sorting(std::span<Vertex const> set, Emit const& emit) {
        sorted_.assign(set.begin(), set.end());
        std::sort(sorted_.begin(), sorted_.end());
        for (Index k = 0; k < std::ssize(sorted_);) {
            Index const first = k;
            do ++k;
            while (k < std::ssize(sorted_) && sorted_[k] == sorted_[k - 1] + 1);
            emit(sorted_[first], sorted_[k - 1] + 1);
        }
    }

    template <class Emit>
    void by_bits(std::span<Vertex const> set, Vertex begin, Vertex end, Emit const& emit) {
        bits_.assign((end - begin) / 64 + 1, 0); // at least one zero bit after the last element
        for (Vertex e : set) bits_[(e - begin) / 64] |= std::uint64_t{1} << ((e - begin) % 64);
        Vertex at = 0;
        while (at < end - begin) {
            Vertex const stop = next(at, ~std::uint64_t{0}); // first position not in the set
            emit(begin + at, begin + stop);
            at = stop < end - begin ? next(stop, 0) : stop;
        }
    }

    // The first position >= at whose bit is set after xor with `flip`; it exists.
    [[nodiscard]] Vertex next(Vertex at, std::uint64_t flip) const {
        Vertex word = at / 64;
        std::uint64_t left = ((bits_[word] ^ flip) >> (at % 64)) << (at % 64);
        while (left == 0) left = bits_[++word] ^ flip;
        return word * 64 + std::countr_zero(left);
    }

    std::vector<std::uint64_t> bits_;
    std::vector<Vertex> sorted_;
};

// The first matrix row of each vertex, counted from the first column of its supernode.
std::vector<Index> rows_in_supernode(LowerPattern const& pattern, Supernodes const& supernodes) {
    std::vector<Index> first_row(supernodes.members.size());
    for (SupernodeId s = 0; s < supernodes.size(); ++s) {
        Index row = 0;
        for (Vertex v : supernodes.members_of(s)) {
            first_row[v] = row;
            row += pattern.weight[v];
        }
    }
    return first_row;
}

} // namespace

RowRuns row_runs(LowerPattern const& pattern, Supernodes const& supernodes, FacingSets const& sets) {
    struct OwnedRun {
        SupernodeId owner;
        FacingRun run;
    };
    auto const first_row = rows_in_supernode(pattern, supernodes);
    SupernodeId const num = supernodes.size();
    RowRuns result;
    result.ptr.assign(num + 1, 0);
    std::vector<OwnedRun> found; // by ascending facing supernode and row
    RunFinder finder;
    for (SupernodeId j = 0; j < num; ++j) {
        auto const members = supernodes.members_of(j);
        for (FacingSet const& set : sets.facing(j))
            finder.find(sets.of(set), [&](Vertex begin, Vertex end) {
                Vertex const last = members[end - 1];
                FacingRun const run{j, first_row[members[begin]], first_row[last] + pattern.weight[last]};
                found.push_back({set.owner, run});
                ++result.ptr[set.owner + 1];
            });
    }
    std::partial_sum(result.ptr.begin(), result.ptr.end(), result.ptr.begin());
    result.runs.resize(found.size());
    std::vector<Offset> next(result.ptr.begin(), result.ptr.end() - 1);
    for (OwnedRun const& f : found) result.runs[next[f.owner]++] = f.run;
    return result;
}

} // namespace espalier
