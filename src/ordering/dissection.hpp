// Nested dissection by several threads. Input: a graph; output: positions of its vertices. A pool of threads
// processes the tree of regions. The result for a region depends only on the region and its place in the
// tree, so the ordering does not depend on the number of threads.
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

/// One nested dissection.
class NestedDissection {
  public:
    /// `interrupt` is checked before each job; it may be null.
    NestedDissection(Graph const& graph, int threads, Interrupt* interrupt);
    /// Returns perm[old] = new. Call it once. Throws Error{cancelled} and the errors of SCOTCH.
    std::vector<Index> run();

  private:
    static constexpr int num_candidates = 2;

    struct Node {
        Region region;
        Index first_position = 0; ///< The interior gets positions [first_position, + num_interior).
        int level = 0;
        std::uint64_t seed = 1; ///< Depends on the path to the root.
        std::array<Separation, num_candidates> found;
        std::atomic<int> missing{num_candidates};
    };
    /// Computes one candidate separator of a node, or numbers the node if candidate is `leaf`.
    struct Job {
        std::shared_ptr<Node> node;
        int candidate = leaf;
    };
    static constexpr int leaf = -1;

    void add_components(Region root);
    void add(Region region, Index first_position, int level, std::uint64_t seed);
    void push(Job job);
    bool next(Job& job); ///< Waits for a job; returns false after the last job or an error.
    void finished();
    void work();
    void perform(Job const& job, ScotchContext& context);
    void split(Node& node, ScotchContext& context);
    void number(Node const& node, ScotchContext& context);

    int threads_;
    Interrupt* interrupt_; ///< May be null.
    Index grain_ = 0;      ///< Maximum number of vertices of a leaf.
    std::array<ScotchStrategy, num_candidates> separators_;
    ScotchStrategy all_cuts_;
    std::vector<Index> perm_; ///< Jobs write disjoint entries.

    std::mutex mutex_; ///< Guards jobs_ and running_.
    std::vector<Job> jobs_;
    int running_ = 0;
    std::condition_variable changed_;
    FirstError error_;
};

} // namespace espalier
