// The NUMA factors that simulations assume for a machine, which need not be this one: the tables of `espalier
// machine`, with kernel times from the model in simulation/node_memory.hpp.
#include <algorithm>
#include <array>
#include <functional>

#include "machine/machine_file.hpp"
#include "parts.hpp"
#include "simulation/node_memory.hpp"

namespace espalier::command {

namespace {

// A call on one block: its seconds where nothing slows it down, and the bytes that it reads and writes.
struct KernelCall {
    char const* name;
    double seconds = 0, read = 0, written = 0;
};

std::array<KernelCall, 2> kernel_calls(CostModel const& costs) {
    double const block = static_cast<double>(factor_block_order * factor_block_order) * sizeof(double);
    UpdateShape product;
    product.rows = product.cols = product.depth = product.stride = factor_block_order;
    product.with_group = false;
    // A written block is read, too.
    return {{{"daxpy", 3 * block / costs.bandwidth, block, block},
             {"dgemm", costs.update(product), 2 * block, block}}};
}

class FactorPrediction {
  public:
    FactorPrediction(MachineModel const& machine, CostModel const& costs)
        : machine_(machine), bandwidth_(costs.bandwidth) {
        result_.nodes = machine.num_nodes();
        result_.which_cores = "by the model, for the first core of each node";
        for (int core = 0; core < machine.threads; ++core)
            if (core == 0 || machine.node_of(core) != machine.node_of(core - 1))
                result_.cores.push_back(core);
        for (KernelCall const& call : kernel_calls(costs)) add(call);
    }

    [[nodiscard]] NumaFactors const& result() const { return result_; }

  private:
    void add(KernelCall const& call) {
        KernelFactors factors{call.name, call.seconds, {}, {}, {}, {}};
        for (int const core : result_.cores)
            for (int data = 0; data < result_.nodes; ++data) {
                NodeMemory memory(machine_, bandwidth_);
                factors.alone.push_back(begin(memory, call, core, data));
            }
        factors.local = crowd(call, [&](int core) { return machine_.node_of(core); });
        factors.one_node = crowd(call, [](int) { return 0; });
        factors.worst = crowd(call, [&](int core) { return farthest(machine_.node_of(core)); });
        double const least = *std::min_element(factors.alone.begin(), factors.alone.end());
        for (auto* const times : {&factors.alone, &factors.local, &factors.one_node, &factors.worst})
            for (double& time : *times) time /= least;
        factors.unit_s = least;
        result_.kernels.push_back(std::move(factors));
    }

    // A second call of each core, while the others are at work.
    [[nodiscard]] std::vector<double> crowd(KernelCall const& call,
                                            std::function<int(int)> const& node_of_data) const {
        NodeMemory memory(machine_, bandwidth_);
        for (int core = 0; core < machine_.threads; ++core) begin(memory, call, core, node_of_data(core));
        std::vector<double> times;
        for (int const core : result_.cores) {
            memory.end(core);
            times.push_back(begin(memory, call, core, node_of_data(core)));
        }
        return times;
    }

    static double begin(NodeMemory& memory, KernelCall const& call, int core, int node) {
        NodeMemory::Access const accesses[] = {{call.read, node, false}, {call.written, node, true}};
        return memory.begin(core, call.seconds, accesses);
    }

    [[nodiscard]] int farthest(int node) const {
        return farthest_node(result_.nodes, node, [&](int other) {
            return machine_.node_distances.empty() ? machine_.stream_factor(node, other)
                                                   : machine_.node_distance(node, other);
        });
    }

    MachineModel const& machine_;
    double bandwidth_;
    NumaFactors result_;
};

} // namespace

NumaFactors predicted_numa_factors(SimulatedMachine const& machine) {
    MachineModel const model = machine.model(1, 0);
    CostModel const costs = machine.costs(default_cost_model(Scalar::d, KernelKind::cholesky), Scalar::d);
    return FactorPrediction(model, costs).result();
}

} // namespace espalier::command
