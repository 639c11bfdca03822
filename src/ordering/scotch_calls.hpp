// SCOTCH's C handles as C++ objects, and the two things asked of the library: split a region by a vertex
// separator, and number the vertices of a region. SCOTCH 7: each thread has a context of its own, with its own
// pseudo-random generator, so calls from several threads do not meet and a call depends on its seed alone.
#pragma once

#include <cstdint>
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
    ~ScotchStrategy() { SCOTCH_stratExit(&strategy_); }
    [[nodiscard]] SCOTCH_Strat* get() const { return &strategy_; }

  private:
    mutable SCOTCH_Strat strategy_; // the C interface takes no const
};

/// An execution context: `threads` threads of the library (1: the caller only) and a private generator.
class ScotchContext {
  public:
    ScotchContext(int threads, bool deterministic);
    ScotchContext(ScotchContext const&) = delete;
    ScotchContext& operator=(ScotchContext const&) = delete;
    ~ScotchContext() { SCOTCH_contextExit(&context_); }
    /// Everything random from here on follows from `seed`.
    void reseed(std::uint64_t seed);
    [[nodiscard]] SCOTCH_Context* get() { return &context_; }

  private:
    SCOTCH_Context context_;
};

/// The interior of a region cut in two: part 0, part 1 and the separator, part 2.
struct Separation {
    std::vector<std::uint8_t> part; ///< Of each interior vertex; empty when the region was not cut.
    Offset weight[3] = {0, 0, 0};
    [[nodiscard]] bool cut() const { return !part.empty(); }
    /// Smaller separator first, then the better balance.
    [[nodiscard]] bool better_than(Separation const& other) const;
};

/// Cut the interior of `region` by a strategy of the form n{sep=/(levl<1)?...;,ole=s,ose=s}.
Separation separate(ScotchContext& context, ScotchStrategy const& strategy, Region const& region);

/// Number the interior of `region`: the position of each vertex, 0 .. num_interior.
std::vector<Region::Num> order_interior(ScotchContext& context, ScotchStrategy const& strategy, Region const& region);

} // namespace espalier
