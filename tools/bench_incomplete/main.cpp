// Times of incomplete factors, for tools/bench --incomplete:
//
//     bench_incomplete MATRIX ORDERING LEVELS THREADS REPEAT
//
// prints a line of JSON. Times are the fastest of REPEAT runs in milliseconds; "transposed_new_values_ms",
// for the first transposed application after a factorization, is measured once. Bytes of a sweep are its
// entries with one 32-bit index for each block, and two passes over the vector. The triad a = b + 3 c of
// STREAM (24 bytes for each element) runs on the same threads, with vectors that together are as large as L
// with its vector, on ordinary pages as STREAM has them ("triad_gbs") and on huge pages ("huge_triad_gbs"),
// and on ordinary pages with vectors of 256 MiB, which no cache keeps ("memory_gbs").
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "generators/generators.hpp"
#include "incomplete/fill_pattern.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "incomplete/row_order.hpp"
#include "runtime/large_vector.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {
namespace {

template <class Body> double fastest_ms(int repeat, Body const& body) {
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < repeat; ++k) {
        Timer const timer;
        body();
        best = std::min(best, timer.seconds());
    }
    return 1e3 * best;
}

OrderingMethod ordering_method(std::string const& name) {
    if (name == "natural") return OrderingMethod::natural;
    if (name == "dissection") return OrderingMethod::dissection;
    if (name == "rcm") return OrderingMethod::rcm;
    throw Error(Status::usage, "the ordering is natural, dissection or rcm");
}

/// Each worker touches its part of the vectors first. Memory of std::allocator is on ordinary pages, unless
/// the system gives huge pages to all programs.
template <class Allocator> double triad_ms(WorkerTeam& team, double bytes, int repeat) {
    auto const n = static_cast<Index>(bytes / 24);
    Index const distance =
        n + 200; // not a multiple of a page, or the vectors would compete for the same sets of the caches
    Allocator memory;
    double *const to = memory.allocate(3 * distance), *const from = to + distance,
                  *const factor = from + distance;
    auto const for_each_part = [&](auto const& body) {
        team.for_each_worker(
            [&, threads = Index(team.size())](WorkerId w) { body(n * w / threads, n * (w + 1) / threads); });
    };
    for_each_part([&](Index first, Index end) {
        std::fill(to + first, to + end, 0.0);
        std::fill(from + first, from + end, 1.0);
        std::fill(factor + first, factor + end, 2.0);
    });
    double const fastest = fastest_ms(repeat, [&] {
        for_each_part([&](Index first, Index end) {
            for (Index i = first; i < end; ++i) to[i] = from[i] + 3 * factor[i];
        });
    });
    memory.deallocate(to, 3 * distance);
    return fastest;
}

/// The forward sweep of a program without threads: rows in their order, in CSR with 32-bit indices, blocks
/// column-major.
class SerialSweep {
  public:
    SerialSweep(RowPattern const& pattern, int size)
        : pattern_(pattern), size_(size), values_(lower_blocks(pattern) * size * size, 1e-3),
          x_(Index(pattern.num_rows) * size, 1.0) {}

    void run() {
        double const* block = values_.data();
        for (BlockRow i = 0; i < pattern_.num_rows; ++i) {
            double* const target = x_.data() + Index(i) * size_;
            for (BlockRow const j : pattern_.lower(i)) {
                double const* const x = x_.data() + Index(j) * size_;
                for (int c = 0; c < size_; ++c)
                    for (int r = 0; r < size_; ++r) target[r] -= *block++ * x[c];
            }
        }
    }
    static Offset lower_blocks(RowPattern const& pattern) {
        Offset blocks = 0;
        for (BlockRow i = 0; i < pattern.num_rows; ++i) blocks += std::ssize(pattern.lower(i));
        return blocks;
    }

  private:
    RowPattern const& pattern_;
    int size_;
    std::vector<double> values_, x_;
};

/// Fastest times in milliseconds.
struct Builds {
    /// The constructor, which in natural order also finds the size of the blocks.
    double analysis = infinity;
    /// The part of it that makes the execution order and the storage of the rows.
    double set_up = infinity;
    double first = infinity; ///< The constructor and the first factorization.
    static constexpr double infinity = std::numeric_limits<double>::infinity();
};

Builds build(CscMatrix<double> const& a, IncompleteOptions options, WorkerTeam& team, int repeat) {
    Builds fastest;
    if (options.positions.empty()) options.block_size = 0; // the constructor finds it
    for (int k = 0; k < repeat; ++k) {
        Timer const timer;
        IncompleteFactor<double> factor(a, options, team);
        fastest.analysis = std::min(fastest.analysis, 1e3 * timer.seconds());
        factor.factorize(a);
        fastest.first = std::min(fastest.first, 1e3 * timer.seconds());
        fastest.set_up =
            std::min(fastest.set_up, 1e3 * (factor.sizes().coarsen_s + factor.sizes().storage_s));
    }
    return fastest;
}

void run(std::string const& matrix, std::string const& ordering, Index levels, int threads, int repeat) {
    auto const named = generate_matrix(matrix);
    auto const* const a = std::get_if<CscMatrix<double>>(&named.matrix);
    if (a == nullptr) throw Error(Status::usage, "a real matrix in double precision is needed");
    OrderingOptions how;
    how.method = ordering_method(ordering);
    WorkerTeam team(Topology::detect(), threads);
    Timer const ordering_timer;
    auto order = order_rows(*a, 0, how);
    double const ordering_ms = 1e3 * ordering_timer.seconds();
    IncompleteOptions incomplete{
        .levels = levels, .block_size = order.block_size, .positions = order.positions};
    Builds const builds = build(*a, incomplete, team, std::max(5, repeat / 10));
    IncompleteFactor<double> factor(*a, incomplete, team);
    auto const& sizes = factor.sizes();

    auto const pattern = fill_pattern(block_pattern(*a, order.block_size, order.positions), levels, threads);
    double const b = order.block_size, rows = static_cast<double>(pattern.num_rows);
    double const lower_bytes =
        static_cast<double>(SerialSweep::lower_blocks(pattern)) * (8 * b * b + 4) + 16 * b * rows;
    double const upper_blocks =
        static_cast<double>(pattern.num_blocks() - SerialSweep::lower_blocks(pattern)) - rows;
    double const upper_bytes =
        upper_blocks * (8 * b * b + 4) + (8 * b * b + 16 * b) * rows; // with the inverse diagonal
    SerialSweep serial(pattern, order.block_size);
    double const triad = triad_ms<std::allocator<double>>(team, lower_bytes, repeat);
    double const huge_triad = triad_ms<LargeAllocator<double>>(team, lower_bytes, repeat);
    constexpr double large = 3.0 * (256 << 20);
    double const memory = triad_ms<std::allocator<double>>(team, large, std::max(3, repeat / 5));
    double const serial_ms = fastest_ms(repeat, [&] { serial.run(); });
    double const factor_ms = fastest_ms(std::max(3, repeat / 5), [&] { factor.factorize(*a); });
    std::vector<double> x(a->rows, 1.0), rhs(a->rows, 1.0);
    double const lower = fastest_ms(repeat, [&] { factor.solve_in_order(x.data(), TriangularPart::lower); });
    std::ranges::fill(x, 1.0);
    double const upper = fastest_ms(repeat, [&] { factor.solve_in_order(x.data(), TriangularPart::upper); });
    double const application = fastest_ms(repeat, [&] { factor.solve(rhs.data(), x.data()); });
    double const transposed =
        fastest_ms(repeat, [&] { factor.solve(rhs.data(), x.data(), 1, MatrixOp::transpose); });
    factor.factorize(*a);
    double const new_values =
        fastest_ms(1, [&] { factor.solve(rhs.data(), x.data(), 1, MatrixOp::transpose); });
    auto const rate = [](double bytes, double ms) { return bytes / ms / 1e6; };
    fmt::print(
        R"({{"matrix": "{}", "ordering": "{}", "levels": {}, "threads": {}, "coarsen": "{}", "chunks": {}, )"
        R"("synchronizations": {}, "ordering_ms": {:.1f}, "analysis_ms": {:.1f}, "set_up_ms": {:.1f}, "first_build_ms": {:.1f}, )"
        R"("factor_ms": {:.2f}, "serial_lower_ms": {:.3f}, "lower_ms": {:.3f}, "upper_ms": {:.3f}, )"
        R"("application_ms": {:.3f}, "transposed_ms": {:.3f}, "transposed_new_values_ms": {:.3f}, )"
        R"("memory_gbs": {:.1f}, "triad_gbs": {:.1f}, "huge_triad_gbs": {:.1f}, "lower_gbs": {:.1f}, "upper_gbs": {:.1f}}})"
        "\n",
        matrix, ordering, levels, threads, sizes.coarse_string, sizes.chunks, sizes.synchronizations,
        ordering_ms, builds.analysis, builds.set_up, builds.first, factor_ms, serial_ms, lower, upper,
        application, transposed, new_values, rate(large, memory), rate(lower_bytes, triad),
        rate(lower_bytes, huge_triad), rate(lower_bytes, lower), rate(upper_bytes, upper));
}

} // namespace
} // namespace espalier

int main(int argc, char** argv) try {
    if (argc != 6)
        throw espalier::Error(espalier::Status::usage,
                              "bench_incomplete MATRIX ORDERING LEVELS THREADS REPEAT");
    espalier::run(argv[1], argv[2], std::stol(argv[3]), std::stoi(argv[4]), std::stoi(argv[5]));
    return 0;
} catch (std::exception const& failure) {
    fmt::print(stderr, "bench_incomplete: {}\n", failure.what());
    return 1;
}
