#include "ordering/scotch_calls.hpp"

#include <cstdlib>
#include <mutex>
#include <numeric>

#include "espalier/types.hpp"

namespace espalier {

using Num = Region::Num;

namespace {

// SCOTCH initializes its global generator lazily, and clones are made from it.
std::mutex global_generator;

void expect_success(int code, char const* call) {
    if (code != 0) throw Error(Status::internal, std::string(call) + " of SCOTCH failed (out of memory?)");
}

// A graph of SCOTCH on arrays of ours, bound to a context.
class BoundGraph {
  public:
    // All of the region, or its interior alone.
    BoundGraph(ScotchContext& context, Region const& region, bool with_halo) {
        Num const vertices = with_halo ? region.num_vertices() : region.num_interior;
        Num const edges = with_halo ? region.ptr.back() : region.interior_edges();
        Num const* const ends = with_halo ? nullptr : region.interior_end.data();
        Num const* const weights = region.weight.empty() ? nullptr : region.weight.data();
        expect_success(SCOTCH_graphInit(&plain_), "SCOTCH_graphInit");
        expect_success(SCOTCH_graphInit(&bound_), "SCOTCH_graphInit");
        expect_success(SCOTCH_graphBuild(&plain_, 0, vertices, region.ptr.data(), ends, weights, nullptr, edges,
                                         region.adj.data(), nullptr),
                       "SCOTCH_graphBuild");
        expect_success(SCOTCH_contextBindGraph(context.get(), &plain_, &bound_), "SCOTCH_contextBindGraph");
    }
    BoundGraph(BoundGraph const&) = delete;
    BoundGraph& operator=(BoundGraph const&) = delete;
    ~BoundGraph() {
        SCOTCH_graphExit(&bound_);
        SCOTCH_graphExit(&plain_);
    }
    [[nodiscard]] SCOTCH_Graph* get() { return &bound_; }

  private:
    SCOTCH_Graph plain_;
    SCOTCH_Graph bound_;
};

} // namespace

ScotchStrategy::ScotchStrategy(std::string const& text) {
    expect_success(SCOTCH_stratInit(&strategy_), "SCOTCH_stratInit");
    if (SCOTCH_stratGraphOrder(&strategy_, text.c_str()) != 0) {
        SCOTCH_stratExit(&strategy_);
        throw Error(Status::usage, "SCOTCH does not accept the ordering strategy '" + text + "'");
    }
}

ScotchContext::ScotchContext(int threads, bool deterministic) {
    std::lock_guard const lock(global_generator);
    expect_success(SCOTCH_contextInit(&context_), "SCOTCH_contextInit");
    // Without an explicit spawn the first use would take every core.
    if (SCOTCH_contextRandomClone(&context_) != 0 ||
        SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, deterministic ? 1 : 0) != 0 ||
        SCOTCH_contextThreadSpawn(&context_, threads, nullptr) != 0) {
        SCOTCH_contextExit(&context_);
        throw Error(Status::internal, "SCOTCH cannot make a context with " + std::to_string(threads) + " threads");
    }
}

void ScotchContext::reseed(std::uint64_t seed) {
    SCOTCH_contextRandomSeed(&context_, static_cast<Num>(seed & 0x7fffffff));
    SCOTCH_contextRandomReset(&context_);
}

bool Separation::better_than(Separation const& other) const {
    if (!cut() || !other.cut()) return cut();
    if (weight[2] != other.weight[2]) return weight[2] < other.weight[2];
    return std::abs(weight[0] - weight[1]) < std::abs(other.weight[0] - other.weight[1]);
}

Separation separate(ScotchContext& context, ScotchStrategy const& strategy, Region const& region) {
    BoundGraph graph(context, region, false);
    auto const n = static_cast<std::size_t>(region.num_interior);
    std::vector<Num> position(n), range(n + 1), parent(n);
    Num blocks = 0;
    expect_success(SCOTCH_graphOrder(graph.get(), strategy.get(), position.data(), nullptr, &blocks, range.data(),
                                     parent.data()),
                   "SCOTCH_graphOrder");
    Separation result;
    if (blocks < 2 || blocks > 3) return result; // two blocks: the region fell apart without a separator
    result.part.resize(n);
    for (std::size_t v = 0; v < n; ++v) {
        int const part = position[v] < range[1] ? 0 : position[v] < range[2] ? 1 : 2;
        result.part[v] = static_cast<std::uint8_t>(part);
        result.weight[part] += region.weight_of(static_cast<Num>(v));
    }
    return result;
}

std::vector<Num> order_interior(ScotchContext& context, ScotchStrategy const& strategy, Region const& region) {
    std::vector<Num> position(region.origin.size());
    std::iota(position.begin(), position.end(), Num(0));
    if (region.ptr.back() > 0) {
        bool const halo = region.num_vertices() > region.num_interior;
        BoundGraph graph(context, region, halo);
        std::vector<Num> inside(static_cast<std::size_t>(region.num_interior));
        std::iota(inside.begin(), inside.end(), Num(0));
        expect_success(SCOTCH_graphOrderList(graph.get(), region.num_interior, inside.data(), strategy.get(),
                                             position.data(), nullptr, nullptr, nullptr, nullptr),
                       "SCOTCH_graphOrderList");
    }
    position.resize(static_cast<std::size_t>(region.num_interior));
    return position;
}

} // namespace espalier
