// The speed of dgemm and the NUMA factors of `espalier machine`: the kernels that are timed, and the tables
// as text and as JSON.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "parts.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr Index order = factor_block_order;
constexpr std::size_t entries = std::size_t{order} * order;

// y += a x for vectors with as many entries as a block.
void daxpy(std::byte* block) {
    double const* const x = reinterpret_cast<double const*>(block);
    double* const y = reinterpret_cast<double*>(block) + entries;
    for (std::size_t i = 0; i < entries; ++i) y[i] += 0.5 * x[i];
}

// C += A B
void dgemm(std::byte* block) {
    auto* const a = reinterpret_cast<double*>(block);
    gemm<double>(Op::none, Op::none, 1.0, {a, order, order, order}, {a + entries, order, order, order}, 1.0,
                 {a + 2 * entries, order, order, order});
}

} // namespace

DgemmRate measure_dgemm(Index order, double seconds) {
    auto const entries = static_cast<std::size_t>(order) * static_cast<std::size_t>(order);
    std::vector<double> const a(entries, 0.5);
    std::vector<double> const b(entries, 0.25);
    std::vector<double> c(entries);
    set_blas_threads(1);
    DgemmRate rate{order};
    Timer whole;
    for (int run = 0; run < 4 || whole.seconds() < seconds; ++run) {
        Timer timer;
        gemm<double>(Op::none, Op::none, 1.0, {a.data(), order, order, order},
                     {b.data(), order, order, order}, 0.0, {c.data(), order, order, order});
        if (run > 0) rate.best_s = std::min(rate.best_s, timer.seconds()); // the first warms up
    }
    return rate;
}

NumaFactors blas_numa_factors(Topology const& topology) {
    std::array<BlockKernel, 2> const kernels{
        {{"daxpy", 2 * entries * sizeof(double), daxpy}, {"dgemm", 3 * entries * sizeof(double), dgemm}}};
    return measure_numa_factors(topology, kernels);
}

std::string factor_text(double factor) {
    return fmt::format("{:.{}f}", factor, factor < 9.995 ? 2 : 1);
}

std::string numa_factors_text(NumaFactors const& factors) {
    std::string text = fmt::format("NUMA factors {}; ", factors.which_cores);
    if (factors.region_bytes > 0)
        text += fmt::format("each walks through {}; ", format_bytes(factors.region_bytes));
    text += "1 is the fastest core alone\n";
    auto const nodes = static_cast<std::size_t>(factors.nodes);
    std::size_t const alone_width = std::max<std::size_t>(7 * nodes, 19);
    for (KernelFactors const& kernel : factors.kernels) {
        text += fmt::format("  {} on {}x{} blocks, 1 = {:.3g} us\n", kernel.kernel, order, order,
                            kernel.unit_s * 1e6);
        text +=
            fmt::format("  {:9}{:>{}}   all cores at once, data\n", "", "alone, data on node", alone_width);
        std::string heads;
        for (std::size_t node = 0; node < nodes; ++node) heads += fmt::format("{:7}", node);
        text += fmt::format("  {:9}{:>{}}{:>9}{:>11}{:>10}\n", "", heads, alone_width, "local", "on node 0",
                            "farthest");
        for (std::size_t i = 0; i < factors.cores.size(); ++i) {
            std::string alone;
            for (std::size_t node = 0; node < nodes; ++node)
                alone += fmt::format("{:>7}", factor_text(kernel.alone[i * nodes + node]));
            text += fmt::format("  core {:<4}{:>{}}{:>9}{:>11}{:>10}\n", factors.cores[i], alone, alone_width,
                                factor_text(kernel.local[i]), factor_text(kernel.one_node[i]),
                                factor_text(kernel.worst[i]));
        }
    }
    for (std::string const& remark : factors.remarks) text += "  note: " + remark + "\n";
    return text;
}

Json numa_factors_json(NumaFactors const& factors) {
    auto const nodes = static_cast<std::ptrdiff_t>(factors.nodes);
    Json kernels = Json::array();
    for (KernelFactors const& kernel : factors.kernels) {
        Json alone = Json::array(); // a row for each core
        for (auto row = kernel.alone.begin(); row != kernel.alone.end(); row += nodes)
            alone.push_back(std::vector<double>(row, row + nodes));
        kernels.push_back(
            {{"kernel", kernel.kernel},
             {"block_order", order},
             {"unit_s", kernel.unit_s},
             {"alone", alone},
             {"all_cores",
              {{"local", kernel.local}, {"one_node", kernel.one_node}, {"worst", kernel.worst}}}});
    }
    return {{"cores", factors.cores},
            {"which_cores", factors.which_cores},
            {"region_bytes", factors.region_bytes},
            {"kernels", kernels},
            {"notes", factors.remarks}};
}

} // namespace espalier::command
