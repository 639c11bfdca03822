// Calls of SCOTCH, which dissects regions and splits them by vertex separators. Each thread has a context
// with a private pseudo-random generator (SCOTCH 7), so calls on several threads are independent and the
// result of a call depends only on its seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ordering/region.hpp"

namespace espalier {

/// A parsed ordering strategy. Threads may share it.
class ScotchStrategy {
  public:
    /// Throws Error{usage} if SCOTCH rejects the string.
    explicit ScotchStrategy(std::string const& text);
    ScotchStrategy(ScotchStrategy const&) = delete;
    ScotchStrategy& operator=(ScotchStrategy const&) = delete;
    ~ScotchStrategy();

    struct Handle;
    [[nodiscard]] Handle& handle() const { return *handle_; }

  private:
    std::unique_ptr<Handle> handle_;
};

/// An execution context with `threads` threads of SCOTCH, including the caller, and a private generator.
class ScotchContext {
  public:
    ScotchContext(int threads, bool deterministic);
    ScotchContext(ScotchContext const&) = delete;
    ScotchContext& operator=(ScotchContext const&) = delete;
    ~ScotchContext();
    void reseed(std::uint64_t seed);

    struct Handle;
    [[nodiscard]] Handle& handle() { return *handle_; }

  private:
    std::unique_ptr<Handle> handle_;
};

/// A dissection of the interior of a region: blocks of consecutive positions, which are leaves or separators
/// of earlier blocks.
struct Blocks {
    std::vector<Index> position; ///< Position of each interior vertex.
    std::vector<Index> start;    ///< Block b has the positions [start[b], start[b + 1]).
    std::vector<bool> is_leaf;   ///< Whether each block is a leaf.
};

/// Dissects the interior of `region`. A strategy of the form n{sep=...,ole=s,ose=s} keeps the order inside
/// the blocks. This and the following function throw Error{unsupported} if the region does not fit the
/// integers of SCOTCH.
Blocks dissect(ScotchContext& context, ScotchStrategy const& strategy, Region const& region);

/// A partition of the interior of a region into part 0, part 1, and the separator as part 2.
struct Separation {
    std::vector<std::uint8_t> part; ///< Part of each interior vertex; empty if the region was not cut.
    std::array<Index, 3> weight{};  ///< Weight of each part.
    [[nodiscard]] bool cut() const { return !part.empty(); }
    /// Compares the weights of the separators; imbalance adds up to 10 % to the weight.
    [[nodiscard]] bool better_than(Separation const& other) const;
};

/// Cuts the interior of `region` once with a strategy of the form n{sep=/(levl<1)?...;,ole=s,ose=s}.
Separation separate(ScotchContext& context, ScotchStrategy const& strategy, Region const& region);

} // namespace espalier
