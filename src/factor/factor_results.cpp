#include "factor/factor_results.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace espalier {

namespace {

// Sums the bytes for each NUMA node of each computer, in the order of the first processes of the computers.
// Bytes on nodes without cores of the process are summed together.
std::vector<double> node_bytes(std::vector<FactorResult> const& of_process) {
    if (of_process.size() == 1) return of_process.front().placement.node_bytes;
    std::map<std::string, int> number_of_machine;
    std::map<std::pair<int, int>, double> of_node;
    double elsewhere = 0;
    for (FactorResult const& one : of_process) {
        int const fresh = static_cast<int>(number_of_machine.size());
        int const machine = number_of_machine.try_emplace(one.machine, fresh).first->second;
        std::vector<double> const& bytes = one.placement.node_bytes;
        for (std::size_t n = 0; n < bytes.size(); ++n)
            if (n < one.nodes.size())
                of_node[{machine, one.nodes[n]}] += bytes[n];
            else
                elsewhere += bytes[n];
    }
    std::vector<double> all;
    for (auto const& [node, bytes] : of_node) all.push_back(bytes);
    if (elsewhere > 0) all.push_back(elsewhere);
    return all;
}

void add_placement(std::vector<FactorResult> const& of_process, FactorReport& report) {
    report.node_bytes = node_bytes(of_process);
    report.local_share_of_process.clear();
    report.local_share_of_worker.clear();
    double touched = 0, local = 0;
    for (FactorResult const& one : of_process) {
        Placement const& placement = one.placement;
        report.local_share_of_process.push_back(placement.local_share);
        report.local_share_of_worker.insert(report.local_share_of_worker.end(),
                                            placement.local_share_of_worker.begin(),
                                            placement.local_share_of_worker.end());
        if (placement.local_share < 0) continue;
        touched += placement.touched_bytes;
        local += placement.touched_bytes * placement.local_share;
    }
    report.local_share = touched > 0 ? std::min(1.0, local / touched) : -1;
}

} // namespace

void add_up(std::vector<FactorResult> const& of_process, int threads, FactorReport& report) {
    double time_s = 0;
    for (FactorResult const& one : of_process) time_s = std::max(time_s, one.stats.time_s);
    report.time_s += time_s;
    report.pivots_replaced = report.pivots_delayed = report.negative_pivots = report.steals =
        report.messages = report.tasks_divided = 0;
    report.message_bytes = report.moved_bytes = report.delayed_bytes = 0;
    report.busy_s = report.waiting_s = report.communication_s = 0;
    report.steals_by_distance.clear();
    for (auto* const list :
         {&report.busy_s_of_process, &report.waiting_s_of_process, &report.communication_s_of_process,
          &report.messages_of_process, &report.message_bytes_of_process})
        list->clear();
    for (FactorResult const& result : of_process) {
        FactorizeStats const& one = result.stats;
        report.pivots_replaced += one.pivots_replaced;
        report.pivots_delayed += one.pivots_delayed;
        report.delayed_bytes += one.delayed_bytes;
        report.negative_pivots += one.negative_pivots;
        report.steals += one.steals;
        report.tasks_divided += one.tasks_divided;
        report.moved_bytes += one.moved_bytes;
        auto& distances = report.steals_by_distance;
        distances.resize(std::max(distances.size(), one.steals_by_distance.size()), 0);
        for (std::size_t d = 0; d < one.steals_by_distance.size(); ++d)
            distances[d] += static_cast<double>(one.steals_by_distance[d]);
        report.messages += one.exchange.messages_sent;
        report.message_bytes += static_cast<std::uint64_t>(one.exchange.bytes_sent);
        double const waiting_s = std::max(0.0, threads * time_s - one.busy_s);
        report.busy_s += one.busy_s;
        report.waiting_s += waiting_s;
        report.communication_s += one.exchange.seconds_in_mpi;
        report.busy_s_of_process.push_back(one.busy_s);
        report.waiting_s_of_process.push_back(waiting_s);
        report.communication_s_of_process.push_back(one.exchange.seconds_in_mpi);
        report.messages_of_process.push_back(static_cast<double>(one.exchange.messages_sent));
        report.message_bytes_of_process.push_back(static_cast<double>(one.exchange.bytes_sent));
    }
    add_placement(of_process, report);
}

} // namespace espalier
