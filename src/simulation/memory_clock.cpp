#include "simulation/memory_clock.hpp"

#include <algorithm>

namespace espalier {

MemoryClock::MemoryClock(BlockStructure const& structure, CostModel const& model, PanelFormat const& format,
                         Schedule const& schedule, Allocation allocation)
    : schedule_(schedule), format_(format), allocation_(allocation), nodes_(schedule.machine.num_nodes()),
      thread_bandwidth_(model.bandwidth), bandwidth_(nodes_, 0.0),
      demand_(nodes_ * schedule.machine.processes, 0.0), of_worker_(schedule.machine.num_workers()),
      touched_(schedule.machine.processes) {
    MachineModel const& machine = schedule.machine;
    for (int t = 0; t < machine.threads; ++t) bandwidth_[machine.node_of(t)] += thread_bandwidth_;
    // The memory of a node without threads is as fast as the others.
    double const most = *std::max_element(bandwidth_.begin(), bandwidth_.end());
    for (double& bandwidth : bandwidth_) {
        if (bandwidth == 0) bandwidth = most;
        if (machine.memory.node_bandwidth > 0) bandwidth = machine.memory.node_bandwidth;
    }
    for (int at = 0; at < nodes_; ++at) {
        double sum = 0;
        for (int data = 0; data < nodes_; ++data) {
            factors_.push_back(machine.memory_factor(at, data));
            sum += factors_.back();
        }
        factors_.push_back(sum / nodes_);
    }
    pieces_.reserve(schedule.tasks.tasks.size());
    for (FactorTask const& task : schedule.tasks.tasks) pieces_.push_back(pieces_of(structure, task));
}

MemoryClock::Pieces MemoryClock::pieces_of(BlockStructure const& structure, FactorTask const& task) const {
    Pieces pieces;
    if (task.kind == TaskKind::message) return pieces;
    auto const owner_of = [&](CblkId k) {
        WorkerId const owner = schedule_.owner_of_cblk[k];
        return schedule_.machine.process_of(owner) == task.process ? owner : any_worker;
    };
    Branch const& branch = schedule_.partition.branches[task.source];
    if (task.target == no_cblk) {
        pieces.target.owner = owner_of(branch.root);
        if (branch.first >= structure.first_kept_cblk) return pieces; // kept: no task works on it
        Index const width = structure.cblks[branch.root].width();
        if (task.kind == TaskKind::diagonal)
            pieces.target.bytes = format_.bytes(width, width);
        else if (task.kind == TaskKind::solve)
            pieces.target.bytes =
                format_.bytes(width + schedule_.groups.rows(structure, branch.root, task.group), width) -
                format_.bytes(width, width);
        else
            for (CblkId k = branch.first; k <= branch.root; ++k) {
                Cblk const& cblk = structure.cblks[k];
                pieces.target.bytes += format_.bytes(cblk.stride, cblk.width());
            }
        return pieces;
    }
    pieces.target.owner = owner_of(task.target);
    if (task.kind == TaskKind::fan_in) {
        pieces.source.bytes = pieces.target.bytes = task.bytes;
        return pieces;
    }
    pieces.source.owner = owner_of(branch.root);
    add_sources(structure, task, pieces);
    return pieces;
}

// The bytes that an update reads from its source panels and writes to its target.
void MemoryClock::add_sources(BlockStructure const& structure, FactorTask const& task, Pieces& pieces) const {
    double const coefficient = format_.scalar_bytes * (format_.has_upper ? 2.0 : 1.0);
    for (Offset f = task.first_facing; f < task.end_facing;) {
        BlokId const first = structure.facing[f];
        CblkId const k = structure.owner_of_blok[first];
        Cblk const& source = structure.cblks[k];
        UpdateShape const shape = update_shape(structure, source, first);
        auto const rows = static_cast<double>(
            task.group == whole_panel
                ? shape.rows
                : schedule_.groups.rows_within(structure, source, first, task.target, task.group));
        pieces.source.bytes += rows * static_cast<double>(shape.depth) * coefficient;
        pieces.target.bytes += rows * static_cast<double>(shape.cols) * coefficient;
        f += shape.bloks;
    }
}

int MemoryClock::node_of(Piece const& piece, WorkerId worker) const {
    if (piece.owner == any_worker) return schedule_.machine.node_of(worker);
    if (allocation_ == Allocation::global) return 0;
    return allocation_ == Allocation::interleave ? all_nodes : schedule_.machine.node_of(piece.owner);
}

double MemoryClock::factor(int at, int data) const {
    return factors_[at * (nodes_ + 1) + (data == all_nodes ? nodes_ : data)];
}

void MemoryClock::change_demand(int process, Demand const& demand, double sign) {
    double* const nodes = demand_.data() + process * nodes_;
    if (demand.node != all_nodes)
        nodes[demand.node] += sign * demand.rate;
    else
        for (int node = 0; node < nodes_; ++node) nodes[node] += sign * demand.rate / nodes_;
}

double MemoryClock::contention(int process, Demand const& demand) const {
    if (demand.rate <= 0) return 1;
    double const* const nodes = demand_.data() + process * nodes_;
    double worst = 0;
    for (int node = 0; node < nodes_; ++node)
        if (demand.node == node || demand.node == all_nodes)
            worst = std::max(worst, nodes[node] / bandwidth_[node]);
    constexpr double rounding = 1e-9; // of the sums, which tasks are added to and subtracted from
    return worst > 1 + rounding ? worst : 1;
}

double MemoryClock::begin(TaskId task, WorkerId worker, double) {
    Pieces const& pieces = pieces_[task];
    double const seconds = schedule_.tasks.graph.cost[task];
    double const bytes = pieces.source.bytes + pieces.target.bytes;
    if (bytes <= 0 || seconds <= 0) return seconds;
    int const process = schedule_.machine.process_of(worker);
    int const here = schedule_.machine.node_of(worker);
    int const from = node_of(pieces.source, worker), to = node_of(pieces.target, worker);

    TouchedBytes& touched = touched_[process];
    auto const local = [&](int node) { return node == all_nodes ? 1.0 / nodes_ : node == here ? 1.0 : 0.0; };
    touched.all += bytes;
    touched.local += pieces.source.bytes * local(from) + pieces.target.bytes * local(to);

    double const traffic = pieces.source.bytes + 2 * pieces.target.bytes;
    double const rate = std::min(traffic / seconds, thread_bandwidth_);
    auto& [read, written] = of_worker_[worker];
    read = {from, rate * pieces.source.bytes / traffic};
    written = {to, rate * 2 * pieces.target.bytes / traffic};
    change_demand(process, read, 1);
    change_demand(process, written, 1);
    double const distance =
        (pieces.source.bytes * factor(here, from) + pieces.target.bytes * factor(here, to)) / bytes;
    return seconds * std::max({distance, contention(process, read), contention(process, written)});
}

void MemoryClock::end(TaskId, WorkerId worker) {
    int const process = schedule_.machine.process_of(worker);
    for (Demand& demand : of_worker_[worker]) {
        change_demand(process, demand, -1);
        demand.rate = 0;
    }
}

} // namespace espalier
