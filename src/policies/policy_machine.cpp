#include "policies/policy_machine.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace espalier {

namespace {

[[noreturn]] void reject_machine(std::string const& what) {
    throw Error(Status::internal, "scheduling policy: " + what);
}

void check(std::vector<int> const& node_of_worker, std::vector<double> const& distances) {
    if (node_of_worker.empty()) reject_machine("there are no workers");
    auto const least = std::min_element(node_of_worker.begin(), node_of_worker.end());
    if (*least < 0)
        reject_machine("worker " + std::to_string(least - node_of_worker.begin()) + " stands on node " +
                       std::to_string(*least));
    if (distances.empty()) return;
    std::size_t side = 0;
    while (side * side < distances.size()) ++side;
    auto const nodes =
        static_cast<std::size_t>(*std::max_element(node_of_worker.begin(), node_of_worker.end())) + 1;
    if (side * side != distances.size() || side < nodes)
        reject_machine("a table of " + std::to_string(distances.size()) + " distances does not fit " +
                       std::to_string(nodes) + " nodes");
    for (double const distance : distances)
        if (!(distance >= 0)) reject_machine("a distance between nodes is " + std::to_string(distance));
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

    std::size_t side = 0;
    while (side * side < distances.size()) ++side;
    neighbours_.reserve(old.size() * old.size());
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
            neighbours_.push_back({std::get<3>(order[i]), rank});
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
