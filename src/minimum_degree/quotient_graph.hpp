// The quotient graph of minimum degree. Eliminated vertices are elements, whose lists are the cliques that
// their elimination causes. The others are variables. The list of a variable has the elements that it belongs
// to, followed by its other neighbors. Variables with equal lists are merged and eliminated together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "espalier/types.hpp"
#include "minimum_degree/minimum_degree.hpp"

namespace espalier {

/// Eliminates all variables of a graph. `Position` numbers the entries of all lists.
template <class Position> class QuotientGraph {
  public:
    /// Vertex v has this weight (empty: 1; the sum is below 2^30) and up to lengths[v] neighbors.
    QuotientGraph(std::span<std::int32_t const> weights, std::span<std::int32_t const> lengths);

    /// Receives a neighbor of v. Neighbors are added from both sides.
    void add(std::int32_t v, std::int32_t neighbor) {
        Node& node = nodes_[v];
        lists_[node.begin + node.length++] = neighbor;
    }
    /// Removes neighbors that were added several times.
    void drop_repeated();

    /// Eliminates all variables, and writes order[new] = old; or returns nothing once it expects more than
    /// `most_flops` operations.
    std::optional<EliminationCost> run(std::span<std::int32_t> order, double most_flops);

  private:
    static constexpr std::int32_t none = -1, is_element = -1, is_dead = -2;

    // Time is lost in waits for memory, so what a step needs of a vertex is in one place.
    struct Node {
        Position begin = 0;      ///< Start of its list in lists_.
        std::int32_t length = 0; ///< Number of entries in the list.
        /// How many entries, from the first, are elements; or is_element, is_dead.
        std::int32_t elements = 0;
        /// Approximate degree of a variable, or weight of the list of an element.
        std::int32_t degree = 0;
        std::int32_t mark = 1;        ///< 0 for a dead element; otherwise compared with mark_.
        std::int32_t next = none;     ///< The next vertex of equal degree, or in the same bucket.
        std::int32_t previous = none; ///< In a list of equal degree.

        Position& absorber() { return begin; }    ///< A dead vertex stores who absorbed it, or none.
        std::int32_t& hash() { return previous; } ///< A vertex in a hash bucket stores its hash.
    };

    void sort_by_degree();
    void insert(std::int32_t v, std::int32_t degree);
    void remove(Node const& node);
    std::int32_t choose_pivot();
    /// The operations that are expected for the variables that are left.
    [[nodiscard]] double flops_of_rest(double least_degree) const;
    void form_element(std::int32_t pivot);
    void make_room(Position entries);
    void weigh_outside();
    void update_degrees(std::int32_t pivot);
    void update_degree(std::int32_t pivot, std::int32_t v);
    void merge_indistinguishable();
    void merge_bucket(std::int32_t first);
    void finish_element(std::int32_t pivot);
    void absorb(Node& element, std::int32_t pivot);
    void raise_mark(std::int32_t by);
    void count_costs(double pivots, double below);
    void write_order(std::span<std::int32_t> order);

    std::vector<Node> nodes_;
    std::vector<std::int32_t> size_; ///< The weight of a variable; negative in the new element; 0 if merged.
    std::vector<std::int32_t> lists_;
    Position free_ = 0;                ///< lists_ is used up to here.
    std::vector<std::int32_t> head_;   ///< The first variable of each degree.
    std::vector<std::int32_t> bucket_; ///< The first variable of each remainder of the hashes.
    std::vector<std::int32_t> dense_;  ///< Vertices with many neighbors, which come last.
    std::int32_t dense_weight_ = 0;
    std::int32_t left_ = 0; ///< The weight of the variables that are left.
    std::int32_t least_degree_ = 0;
    std::int32_t mark_ = 2;
    std::int32_t largest_element_ = 0;

    // The new element.
    Position begin_ = 0, end_ = 0;
    std::int32_t weight_ = 0; ///< The weight of its variables.
    std::int32_t pivots_ = 0; ///< The weight of the variables that are eliminated with it.

    EliminationCost costs_;
};

} // namespace espalier
