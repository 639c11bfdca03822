#include "policies/policy_machine.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace espalier {

namespace {

template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args const&...> what, Args const&... args) {
    throw Error(Status::internal, fmt::format("scheduling policy: {}", fmt::format(what, args...)));
}

// The order of a square table; Error{internal} if it is not square or has too few rows.
int order_of(std::vector<double> const& distances, int least) {
    int order = 0;
    while (order * order < std::ssize(distances)) ++order;
    if (order * order != std::ssize(distances) || order < least)
        reject("a table of {} distances does not fit {} nodes", distances.size(), least);
    return order;
}

void check(std::vector<int> const& node_of_worker, std::vector<double> const& distances) {
    if (node_of_worker.empty()) reject("there are no workers");
    auto const [least, most] = std::minmax_element(node_of_worker.begin(), node_of_worker.end());
    if (*least < 0) reject("worker {} is on node {}", least - node_of_worker.begin(), *least);
    if (!distances.empty()) order_of(distances, *most + 1);
    for (double const distance : distances)
        if (!(distance >= 0)) reject("a distance between nodes is {}", distance);
}

} // namespace

PolicyMachine::PolicyMachine(std::vector<int> const& node_of_worker, std::vector<double> const& distances) {
    check(node_of_worker, distances);
    std::vector<int> old = node_of_worker; // by new number
    std::sort(old.begin(), old.end());
    old.erase(std::unique(old.begin(), old.end()), old.end());
    int const nodes = static_cast<int>(old.size());

    workers_ptr_.assign(old.size() + 1, 0);
    for (int const node : node_of_worker) {
        int const number = static_cast<int>(std::lower_bound(old.begin(), old.end(), node) - old.begin());
        node_of_worker_.push_back(number);
        place_.push_back(workers_ptr_[number + 1]++);
    }
    for (int node = 0; node < nodes; ++node) workers_ptr_[node + 1] += workers_ptr_[node];
    workers_.resize(node_of_worker.size());
    for (WorkerId w = 0; w < num_workers(); ++w) workers_[workers_ptr_[node_of(w)] + place_[w]] = w;

    int const side = order_of(distances, 0);
    neighbors_.reserve(old.size() * old.size());
    rank_.resize(old.size() * old.size());
    std::vector<std::tuple<bool, double, int, int>> order; // away, distance, number from here, node
    for (int here = 0; here < nodes; ++here) {
        order.clear();
        for (int node = 0; node < nodes; ++node) {
            double const distance = side == 0 ? 0 : distances[old[here] * side + old[node]];
            order.emplace_back(node != here, distance, (node - here + nodes) % nodes, node);
        }
        std::sort(order.begin(), order.end());
        int rank = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i == 1 || (i > 1 && std::get<1>(order[i]) != std::get<1>(order[i - 1]))) ++rank;
            neighbors_.push_back({std::get<3>(order[i]), rank});
            rank_[here * nodes + std::get<3>(order[i])] = rank;
        }
    }
}

bool PolicyMachine::any_on(WorkerRange range, int node) const {
    auto const workers = workers_of(node);
    auto const first = std::lower_bound(workers.begin(), workers.end(), range.first);
    return first != workers.end() && *first < range.end;
}

} // namespace espalier
