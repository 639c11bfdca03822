#include "ordering/scotch_calls.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include <stdio.h> // scotch.h uses FILE without this header

#include <fmt/format.h>
#include <scotch.h>

#include "core/error.hpp"
#include "ordering/methods.hpp"

namespace espalier {

struct ScotchStrategy::Handle {
    SCOTCH_Strat value;
};
struct ScotchContext::Handle {
    SCOTCH_Context value;
};

namespace {

using Num = SCOTCH_Num;

// Guards the global generator of SCOTCH, which is initialized when it is first cloned.
std::mutex global_generator;

void expect_success(int code, char const* call) {
    if (code != 0)
        throw Error(Status::internal, fmt::format("{} of SCOTCH failed, possibly for lack of memory", call));
}

// The interior of a region as a SCOTCH graph bound to a context.
class BoundGraph {
  public:
    BoundGraph(ScotchContext& context, Region const& region) {
        auto const edges =
            checked_cast<Num>(region.interior_edges(), "number of adjacency entries to order with SCOTCH");
        constexpr auto limit = static_cast<Index>(std::numeric_limits<Num>::max() / 4);
        if (region.num_interior > limit) // SCOTCH also computes twice the sum of all weights
            throw Error(Status::unsupported,
                        fmt::format("the graph has {} vertices; SCOTCH can order at most {}",
                                    region.num_interior, limit));
        ptr_.reserve(region.num_interior + 1);
        adj_.reserve(edges);
        for (Index v = 0; v < region.num_interior; ++v) {
            for (Index const w : region.interior_neighbors(v)) adj_.push_back(static_cast<Num>(w));
            ptr_.push_back(static_cast<Num>(adj_.size()));
        }
        for (Index const w : region.weight) weight_.push_back(checked_cast<Num>(w, "weight of a vertex"));

        expect_success(SCOTCH_graphInit(&plain_), "SCOTCH_graphInit");
        expect_success(SCOTCH_graphInit(&bound_), "SCOTCH_graphInit");
        expect_success(SCOTCH_graphBuild(&plain_, 0, static_cast<Num>(region.num_interior), ptr_.data(),
                                         nullptr, weight_.empty() ? nullptr : weight_.data(), nullptr, edges,
                                         adj_.data(), nullptr),
                       "SCOTCH_graphBuild");
        expect_success(SCOTCH_contextBindGraph(&context.handle().value, &plain_, &bound_),
                       "SCOTCH_contextBindGraph");
    }
    BoundGraph(BoundGraph const&) = delete;
    BoundGraph& operator=(BoundGraph const&) = delete;
    ~BoundGraph() {
        SCOTCH_graphExit(&bound_);
        SCOTCH_graphExit(&plain_);
    }
    [[nodiscard]] SCOTCH_Graph* get() { return &bound_; }

  private:
    std::vector<Num> ptr_{0};
    std::vector<Num> adj_;
    std::vector<Num> weight_;
    SCOTCH_Graph plain_;
    SCOTCH_Graph bound_;
};

} // namespace

ScotchStrategy::ScotchStrategy(std::string const& text) : handle_(std::make_unique<Handle>()) {
    expect_success(SCOTCH_stratInit(&handle_->value), "SCOTCH_stratInit");
    if (SCOTCH_stratGraphOrder(&handle_->value, text.c_str()) != 0) {
        SCOTCH_stratExit(&handle_->value);
        throw Error(Status::usage, fmt::format("SCOTCH rejects the ordering strategy '{}'", text));
    }
}

ScotchStrategy::~ScotchStrategy() {
    SCOTCH_stratExit(&handle_->value);
}

ScotchContext::ScotchContext(int threads, bool deterministic) : handle_(std::make_unique<Handle>()) {
    std::lock_guard const lock(global_generator);
    SCOTCH_Context* const context = &handle_->value;
    expect_success(SCOTCH_contextInit(context), "SCOTCH_contextInit");
    // Without an explicit spawn the first use would start a thread for every core.
    if (SCOTCH_contextRandomClone(context) != 0 ||
        SCOTCH_contextOptionSetNum(context, SCOTCH_OPTIONNUMDETERMINISTIC, deterministic ? 1 : 0) != 0 ||
        SCOTCH_contextThreadSpawn(context, threads, nullptr) != 0) {
        SCOTCH_contextExit(context);
        throw Error(Status::internal, fmt::format("SCOTCH cannot create a context with {} threads", threads));
    }
}

ScotchContext::~ScotchContext() {
    SCOTCH_contextExit(&handle_->value);
}

void ScotchContext::reseed(std::uint64_t seed) {
    SCOTCH_contextRandomSeed(&handle_->value, static_cast<Num>(seed & 0x7fffffff));
    SCOTCH_contextRandomReset(&handle_->value);
}

bool Separation::better_than(Separation const& other) const {
    if (!cut() || !other.cut()) return cut() && !other.cut();
    auto const price = [](std::array<Index, 3> const& w) {
        auto const [small, large] = std::minmax(w[0], w[1]);
        double const imbalance = static_cast<double>(large - small) / static_cast<double>(large + small);
        return static_cast<double>(w[2]) * (1 + 0.1 * imbalance);
    };
    return price(weight) < price(other.weight);
}

Blocks dissect(ScotchContext& context, ScotchStrategy const& strategy, Region const& region) {
    Index const n = region.num_interior;
    std::vector<Num> position(n), range(n + 1), parent(n);
    Num count = 1;
    range[1] = static_cast<Num>(n);
    parent[0] = -1;
    if (region.interior_edges() > 0) {
        BoundGraph graph(context, region);
        expect_success(SCOTCH_graphOrder(graph.get(), &strategy.handle().value, position.data(), nullptr,
                                         &count, range.data(), parent.data()),
                       "SCOTCH_graphOrder");
    } else
        std::iota(position.begin(), position.end(), Num(0));
    Blocks blocks;
    blocks.position.assign(position.begin(), position.end());
    blocks.start.assign(range.begin(), range.begin() + count + 1);
    blocks.is_leaf.assign(count, true);
    for (Num b = 0; b < count; ++b)
        if (parent[b] >= 0) blocks.is_leaf[parent[b]] = false;
    return blocks;
}

Separation separate(ScotchContext& context, ScotchStrategy const& strategy, Region const& region) {
    auto const blocks = dissect(context, strategy, region);
    Separation result;
    if (blocks.start.size() < 3) return result;
    result.part.resize(blocks.position.size());
    for (Index v = 0; v < region.num_interior; ++v) { // two blocks are disconnected and have no separator
        Index const p = blocks.position[v];
        std::uint8_t const part = p < blocks.start[1] ? 0 : p < blocks.start[2] ? 1 : 2;
        result.part[v] = part;
        result.weight[part] += region.weight_of(v);
    }
    return result;
}

// SCOTCH splits its random generator among its threads, so a deterministic ordering needs a single thread.
// The weights are dropped, because halo minimum degree and minimum fill of SCOTCH 7.0.3 read and write out of
// bounds on some weighted graphs.
std::vector<Index> order_by_scotch_strategy(Graph const& graph, std::string const& strategy, int threads,
                                            bool deterministic) {
    ScotchStrategy const parsed(strategy);
    ScotchContext context(deterministic ? 1 : std::max(1, threads), deterministic);
    context.reseed(1);
    Region region = whole_region(graph);
    region.weight.clear();
    return dissect(context, parsed, region).position;
}

} // namespace espalier
