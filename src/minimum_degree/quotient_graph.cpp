#include "minimum_degree/quotient_graph.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace espalier {

template <class Position> QuotientGraph<Position>::QuotientGraph(std::span<std::int32_t const> weights,
                                                                 std::span<std::int32_t const> lengths)
    : nodes_(lengths.size()), size_(weights.begin(), weights.end()) {
    if (weights.empty()) size_.assign(lengths.size(), 1);
    constexpr std::size_t most_buckets = 4096;
    Position entries = 0;
    for (std::size_t v = 0; v < nodes_.size(); ++v) {
        nodes_[v].begin = entries;
        entries += lengths[v];
        left_ += size_[v];
    }
    free_ = entries;
    // The lists together never get longer; a new element needs room for its own. With less room, lists are
    // moved together more often.
    lists_.resize(static_cast<std::size_t>(entries) + entries / 2 + nodes_.size());
    bucket_.assign(std::min(most_buckets, std::bit_ceil(nodes_.size() + 1)), none);
    head_.assign(static_cast<std::size_t>(left_) + 1, none);
}

template <class Position> void QuotientGraph<Position>::drop_repeated() {
    auto& seen_by = head_;
    for (std::int32_t v = 0; v < std::ssize(nodes_); ++v) {
        Node& node = nodes_[v];
        std::int32_t* const list = lists_.data() + node.begin;
        std::int32_t kept = 0;
        for (std::int32_t k = 0; k < node.length; ++k) {
            std::int32_t const w = list[k];
            list[kept] = w;
            kept += seen_by[w] != v ? 1 : 0;
            seen_by[w] = v;
        }
        node.length = kept;
    }
    std::ranges::fill(seen_by, none);
}

template <class Position> std::optional<EliminationCost>
QuotientGraph<Position>::run(std::span<std::int32_t> order, double most_flops) {
    sort_by_degree();
    while (left_ > 0) {
        std::int32_t const pivot = choose_pivot();
        if (costs_.flops + flops_of_rest(nodes_[pivot].degree) > most_flops) return std::nullopt;
        form_element(pivot);
        weigh_outside();
        update_degrees(pivot);
        merge_indistinguishable();
        finish_element(pivot);
    }
    if (dense_weight_ > 0) count_costs(dense_weight_, 0);
    if (costs_.flops > most_flops) return std::nullopt;
    write_order(order);
    return costs_;
}

// The least degree rarely falls before few variables are left, and it grows on meshes. So this is less than
// what meshes need, at first many times less. It is about 1.6 times what chains of dense blocks need, and up
// to three times what separate cliques need.
template <class Position> double QuotientGraph<Position>::flops_of_rest(double least_degree) const {
    double const others = std::max<double>(left_ - 1, 0), degree = std::min(least_degree, others);
    return 2 * degree * degree * (others - degree) + 2.0 / 3 * degree * degree * degree;
}

template <class Position> void QuotientGraph<Position>::sort_by_degree() {
    Index const limit = dense_degree(std::ssize(nodes_));
    for (std::int32_t v = 0; v < std::ssize(nodes_); ++v) {
        Node& node = nodes_[v];
        if (node.length <= limit) continue;
        dense_.push_back(v);
        dense_weight_ += size_[v];
        size_[v] = 0;
        node.elements = is_dead;
    }
    std::ranges::stable_sort(dense_, {}, [this](std::int32_t v) { return nodes_[v].length; });
    left_ -= dense_weight_;
    for (std::int32_t v = static_cast<std::int32_t>(std::ssize(nodes_)); v-- > 0;) {
        Node const& node = nodes_[v];
        if (size_[v] == 0) continue;
        std::int32_t degree = 0;
        for (std::int32_t k = 0; k < node.length; ++k) degree += size_[lists_[node.begin + k]];
        insert(v, degree);
    }
    least_degree_ = 0;
}

template <class Position> void QuotientGraph<Position>::insert(std::int32_t v, std::int32_t degree) {
    Node& node = nodes_[v];
    std::int32_t& head = head_[degree];
    if (head != none) nodes_[head].previous = v;
    node.next = head;
    node.previous = none;
    node.degree = degree;
    head = v;
}

template <class Position> void QuotientGraph<Position>::remove(Node const& node) {
    if (node.next != none) nodes_[node.next].previous = node.previous;
    if (node.previous != none)
        nodes_[node.previous].next = node.next;
    else
        head_[node.degree] = node.next;
}

template <class Position> std::int32_t QuotientGraph<Position>::choose_pivot() {
    while (head_[least_degree_] == none) ++least_degree_;
    std::int32_t const pivot = head_[least_degree_];
    remove(nodes_[pivot]);
    return pivot;
}

// The neighbors of the pivot: its own variables and those of its elements, which it absorbs.
template <class Position> void QuotientGraph<Position>::form_element(std::int32_t pivot) {
    Node& node = nodes_[pivot];
    pivots_ = size_[pivot];
    left_ -= pivots_;
    size_[pivot] = -pivots_;
    weight_ = 0;
    bool const is_in_place = node.elements == 0;
    if (!is_in_place) {
        Position most = node.length;
        for (std::int32_t k = 0; k < node.elements; ++k) most += nodes_[lists_[node.begin + k]].length;
        make_room(std::min(most, static_cast<Position>(nodes_.size())));
    }
    begin_ = end_ = is_in_place ? node.begin : free_;
    Position end = end_;
    auto const take = [&, lists = lists_.data(), sizes = size_.data()](Position first, std::int32_t length) {
        for (Position p = first, last = first + length; p < last; ++p) {
            std::int32_t const v = lists[p];
            std::int32_t const size = sizes[v];
            if (size <= 0) continue; // dead, or taken before
            weight_ += size;
            sizes[v] = -size;
            lists[end++] = v;
            remove(nodes_[v]);
        }
    };
    for (std::int32_t k = 0; k < node.elements; ++k) {
        Node& element = nodes_[lists_[node.begin + k]];
        take(element.begin, element.length);
        absorb(element, pivot);
    }
    take(node.begin + node.elements, node.length - node.elements);
    end_ = end;
    node.begin = begin_;
    node.length = static_cast<std::int32_t>(end_ - begin_);
    node.elements = is_element;
}

template <class Position> void QuotientGraph<Position>::absorb(Node& element, std::int32_t pivot) {
    element.absorber() = pivot;
    element.elements = is_dead;
    element.mark = 0;
}

// Moves all lists together if there is no room for `entries` more behind them. While they move, the first
// entry of a list is in Node::begin, and in its place the vertex.
template <class Position> void QuotientGraph<Position>::make_room(Position entries) {
    if (free_ + entries <= std::ssize(lists_)) return;
    for (std::int32_t v = 0; v < std::ssize(nodes_); ++v) {
        Node& node = nodes_[v];
        if (node.elements == is_dead || node.length == 0) continue;
        std::int32_t& first = lists_[node.begin];
        node.begin = first;
        first = -2 - v;
    }
    Position to = 0;
    for (Position from = 0; from < free_;) {
        std::int32_t const entry = lists_[from++];
        if (entry > -2) continue; // belongs to a dead list
        Node& node = nodes_[-2 - entry];
        lists_[to] = static_cast<std::int32_t>(node.begin);
        node.begin = to++;
        for (std::int32_t k = 1; k < node.length; ++k) lists_[to++] = lists_[from++];
    }
    free_ = to;
}

// For each other element, mark - mark_ is the weight of its variables outside the new element. This loop
// and those of update_degree() have no branches that depend on the vertices, because no processor can predict
// them.
template <class Position> void QuotientGraph<Position>::weigh_outside() {
    Node* const nodes = nodes_.data();
    std::int32_t const* const lists = lists_.data();
    std::int32_t const mark = mark_;
    for (Position p = begin_, end = end_; p < end; ++p) {
        Node const& variable = nodes[lists[p]];
        std::int32_t const size = -size_[lists[p]];
        std::int32_t const* const list = lists + variable.begin;
        for (std::int32_t k = 0, elements = variable.elements; k < elements; ++k) {
            Node& element = nodes[list[k]];
            std::int32_t const before = element.mark;
            std::int32_t const whole = before >= mark ? before : element.degree + mark;
            element.mark = before == 0 ? 0 : whole - size;
        }
    }
}

template <class Position> void QuotientGraph<Position>::update_degrees(std::int32_t pivot) {
    for (Position p = begin_; p < end_; ++p) update_degree(pivot, lists_[p]);
    nodes_[pivot].degree = weight_;
    largest_element_ = std::max(largest_element_, weight_);
    raise_mark(largest_element_);
}

// The degree without the new element. An element that has no variables outside of the new one is absorbed,
// and a variable without other neighbors is eliminated together with the pivot.
template <class Position> void QuotientGraph<Position>::update_degree(std::int32_t pivot, std::int32_t v) {
    Node* const nodes = nodes_.data();
    std::int32_t* const sizes = size_.data();
    Node& node = nodes[v];
    std::int32_t* const list = lists_.data() + node.begin;
    std::int32_t const mark = mark_, length = node.length, all_elements = node.elements;
    std::int64_t degree = 0;
    std::uint32_t hash = 0;
    std::int32_t kept = 0;
    for (std::int32_t k = 0; k < all_elements; ++k) {
        std::int32_t const e = list[k];
        Node& element = nodes[e];
        if (element.mark == mark) absorb(element, pivot);
        std::int32_t const is_kept = element.mark != 0 ? 1 : 0;
        degree += (element.mark - mark) & -is_kept;
        hash += static_cast<std::uint32_t>(e & -is_kept);
        list[kept] = e;
        kept += is_kept;
    }
    std::int32_t const elements = kept;
    for (std::int32_t k = all_elements; k < length; ++k) {
        std::int32_t const w = list[k], size = sizes[w], is_kept = size > 0 ? 1 : 0;
        degree += size & -is_kept;
        hash += static_cast<std::uint32_t>(w & -is_kept);
        list[kept] = w;
        kept += is_kept;
    }
    if (kept == 0) {
        pivots_ -= sizes[v];
        weight_ += sizes[v];
        left_ += sizes[v];
        sizes[v] = 0;
        node.absorber() = pivot;
        node.elements = is_dead;
        return;
    }
    // The pivot, which takes the place of itself or of an element that it absorbed, comes first.
    list[kept] = list[elements];
    list[elements] = list[0];
    list[0] = pivot;
    node.elements = elements + 1;
    node.length = kept + 1;
    node.degree = static_cast<std::int32_t>(std::min<std::int64_t>(node.degree, degree));
    std::int32_t& first = bucket_[hash & (bucket_.size() - 1)];
    node.next = first;
    node.hash() = static_cast<std::int32_t>(hash);
    first = v;
}

template <class Position> void QuotientGraph<Position>::merge_indistinguishable() {
    for (Position p = begin_; p < end_; ++p) {
        if (size_[lists_[p]] == 0) continue;
        Node& node = nodes_[lists_[p]];
        std::int32_t& bucket = bucket_[static_cast<std::uint32_t>(node.hash()) & (bucket_.size() - 1)];
        std::int32_t const first = bucket;
        bucket = none;
        if (first != none) merge_bucket(first);
    }
}

// Merges the variables with equal lists. The first entry is the pivot in all lists.
template <class Position> void QuotientGraph<Position>::merge_bucket(std::int32_t first) {
    for (std::int32_t i = first; i != none && nodes_[i].next != none; i = nodes_[i].next) {
        Node& kept = nodes_[i];
        for (Position p = kept.begin + 1; p < kept.begin + kept.length; ++p) nodes_[lists_[p]].mark = mark_;
        std::int32_t before = i;
        for (std::int32_t j = kept.next; j != none; j = nodes_[before].next) {
            Node& other = nodes_[j];
            bool is_same =
                other.hash() == kept.hash() && other.length == kept.length && other.elements == kept.elements;
            for (Position p = other.begin + 1; is_same && p < other.begin + other.length; ++p)
                is_same = nodes_[lists_[p]].mark == mark_;
            if (!is_same) {
                before = j;
                continue;
            }
            size_[i] += size_[j];
            size_[j] = 0;
            other.absorber() = i;
            other.elements = is_dead;
            nodes_[before].next = other.next;
        }
        raise_mark(1);
    }
}

// Removes eliminated and merged variables from the list of the new element, and sets the degrees of the
// others.
template <class Position> void QuotientGraph<Position>::finish_element(std::int32_t pivot) {
    Position const first = begin_;
    Position end = first;
    for (Position p = first; p < end_; ++p) {
        std::int32_t const v = lists_[p];
        std::int32_t const size = -size_[v];
        if (size == 0) continue;
        size_[v] = size;
        std::int32_t const degree = std::min(nodes_[v].degree + weight_ - size, left_ - size);
        insert(v, degree);
        least_degree_ = std::min(least_degree_, degree);
        lists_[end++] = v;
    }
    Node& element = nodes_[pivot];
    size_[pivot] = pivots_;
    element.length = static_cast<std::int32_t>(end - first);
    if (end == first) absorb(element, none);
    if (first == free_) free_ = end;
    count_costs(pivots_, static_cast<double>(weight_) + dense_weight_);
}

template <class Position> void QuotientGraph<Position>::raise_mark(std::int32_t by) {
    constexpr std::int32_t most =
        std::numeric_limits<std::int32_t>::max() / 2; // the other half is for degrees
    mark_ += by;
    if (mark_ < most) return;
    for (Node& node : nodes_)
        if (node.mark != 0) node.mark = 1;
    mark_ = 2;
}

template <class Position> void QuotientGraph<Position>::count_costs(double pivots, double below) {
    double const lower = pivots * below + pivots * (pivots - 1) / 2;
    double const products =
        pivots * below * below + below * (pivots - 1) * pivots + (pivots - 1) * pivots * (2 * pivots - 1) / 6;
    costs_.nnz_lower += static_cast<Offset>(lower);
    costs_.flops += lower + 2 * products;
}

// A postorder of the tree in which each vertex is below the one that absorbed it. Merged variables come right
// before it.
template <class Position> void QuotientGraph<Position>::write_order(std::span<std::int32_t> order) {
    auto const n = static_cast<std::int32_t>(std::ssize(nodes_));
    auto& child = head_; // the first one of each vertex
    child.resize(std::max<std::size_t>(child.size(), n));
    std::ranges::fill(child, none);
    for (std::int32_t const v : dense_) nodes_[v].absorber() = none;
    for (bool const is_pivot : {false, true})
        for (std::int32_t v = n; v-- > 0;) {
            Node& node = nodes_[v];
            if ((size_[v] > 0) != is_pivot || node.absorber() == none) continue;
            node.next = child[node.absorber()];
            child[node.absorber()] = v;
        }
    std::size_t count = 0;
    auto& path = lists_;
    path.resize(std::max<std::size_t>(path.size(), n));
    for (std::int32_t root = 0; root < n; ++root) {
        if (nodes_[root].absorber() != none || size_[root] == 0) continue;
        std::int32_t depth = 0;
        path[0] = root;
        while (depth >= 0) {
            std::int32_t const v = path[depth], next = child[v];
            if (next == none) {
                order[count++] = v;
                --depth;
            } else {
                child[v] = nodes_[next].next;
                path[++depth] = next;
            }
        }
    }
    for (std::int32_t const v : dense_) order[count++] = v;
}

template class QuotientGraph<std::int32_t>;
template class QuotientGraph<std::int64_t>;

} // namespace espalier
