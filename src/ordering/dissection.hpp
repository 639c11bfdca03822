// Nested dissection by several threads: takes a graph, gives positions. The tree of regions is walked by a
// pool; what happens to a region depends on the region and on its place in the tree, never on who does it or
// when, so the order is the same for any number of threads.
//
//      region --> two candidate separators (two jobs) --> the better one --> two smaller regions
//      small region --> cut by SCOTCH down to leaves, the leaves by minimum degree (one job)
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "ordering/scotch_calls.hpp"

namespace espalier {

class NestedDissection {
  public:
    NestedDissection(Graph const& graph, int threads, Interrupt* interrupt);
    /// perm[old] = new. Once.
    std::vector<Index> run();

  private:
    static constexpr int num_candidates = 2;

    struct Node {
        Region region;
        Index first_position = 0; ///< The interior gets positions [first_position, + num_interior).
        int level = 0;
        std::uint64_t seed = 1; ///< From the path to the root.
        std::array<Separation, num_candidates> found;
        std::atomic<int> missing{num_candidates};
    };
    /// Try one separator on a node, or number it when candidate is `leaf`.
    struct Job {
        std::shared_ptr<Node> node;
        int candidate = leaf;
    };
    static constexpr int leaf = -1;

    void add_components(Region root);
    void add(Region region, Index first_position, int level, std::uint64_t seed);
    void push(Job job);
    bool next(Job& job); ///< Waits; false when all is done or something failed.
    void finished();
    void work();
    void perform(Job const& job, ScotchContext& context);
    void split(Node& node, ScotchContext& context);
    void number(Node const& node, ScotchContext& context);

    int threads_;
    Interrupt* interrupt_; ///< Looked at before each job; may be null.
    Index grain_ = 0;      ///< Regions up to this many vertices are leaves.
    std::array<ScotchStrategy, num_candidates> separators_;
    ScotchStrategy all_cuts_;
    std::vector<Index> perm_; ///< Jobs write disjoint entries.

    std::mutex mutex_; ///< Guards the next two.
    std::vector<Job> jobs_;
    int running_ = 0;
    std::condition_variable changed_;
    FirstError error_;
};

} // namespace espalier
