// The two things asked of SCOTCH: split a region by a vertex separator, and number the vertices of a region.
// Each thread has a context of its own, with its own pseudo-random generator (SCOTCH 7), so calls from
// several threads do not meet and the outcome of a call depends on its seed alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ordering/region.hpp"

namespace espalier {

/// A parsed ordering strategy. Error{usage} when SCOTCH does not accept the string. Shared read-only.
class ScotchStrategy {
  public:
    explicit ScotchStrategy(std::string const& text);
    ScotchStrategy(ScotchStrategy const&) = delete;
    ScotchStrategy& operator=(ScotchStrategy const&) = delete;
    ~ScotchStrategy();

    struct Handle;
    [[nodiscard]] Handle& handle() const { return *handle_; }

  private:
    std::unique_ptr<Handle> handle_;
};

/// An execution context: `threads` threads of the library (1: the caller only) and a private generator.
class ScotchContext {
  public:
    ScotchContext(int threads, bool deterministic);
    ScotchContext(ScotchContext const&) = delete;
    ScotchContext& operator=(ScotchContext const&) = delete;
    ~ScotchContext();
    /// Everything random from here on follows from `seed`.
    void reseed(std::uint64_t seed);

    struct Handle;
    [[nodiscard]] Handle& handle() { return *handle_; }

  private:
    std::unique_ptr<Handle> handle_;
};

/// What a dissection makes of the interior of a region: blocks of consecutive positions, each a leaf or the
/// separator of blocks before it.
struct Blocks {
    std::vector<Index> position; ///< Of each interior vertex.
    std::vector<Index> start;    ///< Block b has the positions [start[b], start[b + 1]).
    std::vector<bool> is_leaf;
};

/// Dissect the interior of `region` by a strategy of the form n{sep=...,ole=s,ose=s}. Error{unsupported} here
/// and below when the region does not fit SCOTCH's integers.
Blocks dissect(ScotchContext& context, ScotchStrategy const& strategy, Region const& region);

/// The interior of a region cut in two: part 0, part 1 and the separator, part 2.
struct Separation {
    std::vector<std::uint8_t> part; ///< Of each interior vertex; empty when the region was not cut.
    std::array<Index, 3> weight{};  ///< Of each part.
    [[nodiscard]] bool cut() const { return !part.empty(); }
    /// By weight of the separator, a one-sided cut counted up to 10 % heavier.
    [[nodiscard]] bool better_than(Separation const& other) const;
};

/// Cut the interior of `region` once, by a strategy of the form n{sep=/(levl<1)?...;,ole=s,ose=s}.
Separation separate(ScotchContext& context, ScotchStrategy const& strategy, Region const& region);

/// Number the interior of `region` by any strategy, weights ignored: the position of each vertex.
std::vector<Index> order_interior(ScotchContext& context, ScotchStrategy const& strategy,
                                  Region const& region);

} // namespace espalier
