// `espalier machine --roofline`: the rates of the kernels of a factorization for several widths of blocks,
// compared with the roof of the machine [Williams, Waterman, Patterson 2009]: the rate of the best large
// product, or what memory allows for the operands, if that is less. Every call finds its operands in memory,
// as a task does whose panels have left the caches.
#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/scalar.hpp"
#include "core/timer.hpp"
#include "factor/kernel_timing.hpp"
#include "kernels/panel.hpp"
#include "kernels/triangular.hpp"
#include "parts.hpp"
#include "runtime/worker_team.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr Index widths[] = {16, 32, 48, 64, 96, 128, 192, 256};
constexpr Index rows = 1000;
constexpr std::size_t pool_bytes = 96'000'000; // more than most caches

// The best of several calls of a kernel.
struct Measured {
    double flops; // real operations of a call
    double bytes; // bytes that a call reads and writes
    double best_s;
    [[nodiscard]] double gflops() const { return flops / best_s / 1e9; }
};

// The best time of a kernel on blocks of `count` entries, each of which is used once. Together they do not
// fit into the caches. `prepare` receives every block before the first call.
template <class T> double best_seconds(Index count, auto const& prepare, auto const& kernel) {
    Index const blocks = std::max<Index>(5, static_cast<Index>(pool_bytes / sizeof(T)) / count);
    std::vector<T> pool(static_cast<std::size_t>(count * blocks), T(1) / static_cast<Real<T>>(1024));
    for (Index b = 0; b < blocks; ++b) prepare(pool.data() + b * count);
    double best = infinity;
    for (Index b = 0; b < std::min<Index>(blocks, 40); ++b) {
        Timer const timer;
        kernel(pool.data() + b * count);
        best = std::min(best, timer.seconds());
    }
    return best;
}

template <class T> double flops_of(double multiply_adds) {
    return 2 * flop_factor<T> * multiply_adds;
}

// Makes a block with small entries positive definite, and its triangles easy to invert.
template <class T> void set_diagonal(T* block, Index width) {
    for (Index j = 0; j < width; ++j) block[j * width + j] = T(2);
}

// C -= A B^T for a panel of the given width: A is rows x width, B is width x width.
template <class T> Measured measure_update(Index width, bool own) {
    Index const a = rows * width, b = width * width;
    double const best = best_seconds<T>(
        2 * a + b, [](T*) {},
        [&](T* block) {
            MatrixView<T const> const left{block, rows, width, rows}, right{block + a, width, width, width};
            MatrixView<T> const target{block + a + b, rows, width, rows};
            if (own)
                subtract_product<T>(Op::transpose, left, right, target);
            else
                gemm<T>(Op::none, Op::transpose, T(-1), left, right, T(1), target);
        });
    auto const m = static_cast<double>(rows), w = static_cast<double>(width);
    return {flops_of<T>(m * w * w), (3 * m * w + w * w) * sizeof(T), best};
}

// A diagonal block of Cholesky.
template <class T> Measured measure_diagonal(Index width) {
    double const best = best_seconds<T>(
        width * width, [&](T* block) { set_diagonal(block, width); },
        [&](T* block) { factor_cholesky<T>(true, {block, width, width, width}); });
    auto const w = static_cast<double>(width);
    return {flops_of<T>(w * w * w / 6), w * w * sizeof(T), best}; // one triangle, read and written
}

// The rows below it: B := B L^-H.
template <class T> Measured measure_solve(Index width) {
    Index const l = width * width;
    double const best = best_seconds<T>(
        l + rows * width, [&](T* block) { set_diagonal(block, width); },
        [&](T* block) {
            MatrixView<T const> const triangle{block, width, width, width};
            solve_right<T>(Op::adjoint, Diag::non_unit, triangle, {block + l, rows, width, rows});
        });
    auto const m = static_cast<double>(rows), w = static_cast<double>(width);
    return {flops_of<T>(m * w * w / 2), (2 * m * w + w * w / 2) * sizeof(T), best};
}

template <class T> RooflineOfScalar measure_scalar() {
    RooflineOfScalar result{scalar_of<T>, 0, {}};
    for (Index const width : widths) {
        std::vector<KernelRate> rates;
        auto const add = [&](char const* name, Measured const& measured) {
            rates.push_back({name, measured.gflops(), measured.flops / measured.bytes});
            result.best_gflops = std::max(result.best_gflops, measured.gflops());
        };
        add("update", measure_update<T>(width, true));
        add("gemm", measure_update<T>(width, false));
        add("solve", measure_solve<T>(width));
        add("diagonal", measure_diagonal<T>(width));
        result.widths.push_back({width, std::move(rates)});
    }
    constexpr Index large = 1000;
    std::vector<T> const a(large * large, T(1));
    std::vector<T> c(large * large);
    for (int turn = 0; turn < 4; ++turn) {
        MatrixView<T const> const view{a.data(), large, large, large};
        Timer const timer;
        gemm<T>(Op::none, Op::none, T(1), view, view, T(0), {c.data(), large, large, large});
        result.best_gflops = std::max(result.best_gflops, flops_of<T>(1e9) / timer.seconds() / 1e9);
    }
    return result;
}

double roof(Roofline const& roofline, RooflineOfScalar const& scalar, KernelRate const& rate) {
    return std::min(scalar.best_gflops, rate.flops_per_byte * roofline.bytes_per_s / 1e9);
}

} // namespace

Roofline measure_roofline() {
    SingleThreadedBlas const single;
    WorkerTeam team(Topology::detect(), 1);
    return {time_memory(team).one, {measure_scalar<double>(), measure_scalar<std::complex<double>>()}};
}

std::string roofline_text(Roofline const& roofline) {
    std::string text = fmt::format("roofline    GF/s of one core by the width of a panel with {} rows below, "
                                   "and % of the roof: the best product\n"
                                   "            or, if that is less, memory at {:.1f} GB/s\n",
                                   rows, roofline.bytes_per_s / 1e9);
    for (RooflineOfScalar const& scalar : roofline.scalars) {
        text +=
            fmt::format("  {}, best {:.1f}\n  {:>5}", to_string(scalar.scalar), scalar.best_gflops, "width");
        for (KernelRate const& rate : scalar.widths.front().second) text += fmt::format("{:>16}", rate.name);
        text += '\n';
        for (auto const& [width, rates] : scalar.widths) {
            text += fmt::format("  {:5}", width);
            for (KernelRate const& rate : rates)
                text += fmt::format("{:>9.1f} {:>4.0f} %", rate.gflops,
                                    100 * rate.gflops / roof(roofline, scalar, rate));
            text += '\n';
        }
    }
    return text;
}

Json roofline_json(Roofline const& roofline) {
    Json scalars = Json::object();
    for (RooflineOfScalar const& scalar : roofline.scalars) {
        Json by_width = Json::array();
        for (auto const& [width, rates] : scalar.widths) {
            Json row{{"width", width}, {"rows", rows}};
            for (KernelRate const& rate : rates)
                row[rate.name] = {{"gflops", rate.gflops}, {"roof_gflops", roof(roofline, scalar, rate)}};
            by_width.push_back(row);
        }
        scalars[std::string(to_string(scalar.scalar))] = {{"best_gflops", scalar.best_gflops},
                                                          {"widths", by_width}};
    }
    return {{"bytes_per_s", roofline.bytes_per_s}, {"scalars", scalars}};
}

} // namespace espalier::command
