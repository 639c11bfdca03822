// Times of incomplete factors, for tools/bench --incomplete:
//
//     bench_incomplete MATRIX ORDERING LEVELS THREADS REPEAT
//
// prints a line of JSON. Times are the fastest of REPEAT runs in milliseconds, one after the other;
// "transposed_new_values_ms", for the first transposed application after a factorization, is measured once.
//
// Bandwidths: bytes of a sweep are its entries with one 32-bit index for each block, and two passes over the
// vector. The triad a = b + 3 c of STREAM (24 bytes for each element) runs on the same threads, with vectors
// that together are as large as L with its vector, on ordinary pages as STREAM has them ("triad_gbs") and on
// huge pages
// ("huge_triad_gbs"). Both triads and both sweeps run in turn, so that none of them finds its data in a
// cache, and changes of the machine's speed affect all. "lower_of_triad" and its like are medians of the
// ratios of two such bandwidths. "memory_gbs" is the triad on ordinary pages with vectors of 256 MiB.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "generators/generators.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "rows/fill_pattern.hpp"
#include "rows/row_order.hpp"
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

/// The triad a = b + 3 c on the workers of a team. Each worker touches its part of the vectors first. Memory
/// of std::allocator is on ordinary pages, unless the system gives huge pages to all programs.
template <class Allocator> class Triad {
  public:
    Triad(WorkerTeam& team, double bytes)
        : team_(team), n_(static_cast<Index>(bytes / 24)), distance_(n_ + 200),
          to_(Allocator().allocate(3 * distance_)) {
        for_each_part([&](Index first, Index end) {
            std::fill(to_ + first, to_ + end, 0.0);
            std::fill(from() + first, from() + end, 1.0);
            std::fill(factor() + first, factor() + end, 2.0);
        });
    }
    Triad(Triad const&) = delete;
    ~Triad() { Allocator().deallocate(to_, 3 * distance_); }

    void run() {
        for_each_part([&](Index first, Index end) {
            for (Index i = first; i < end; ++i) to_[i] = from()[i] + 3 * factor()[i];
        });
    }

  private:
    [[nodiscard]] double const* from() const { return to_ + distance_; }
    [[nodiscard]] double* from() { return to_ + distance_; }
    [[nodiscard]] double* factor() { return to_ + 2 * distance_; }
    template <class Body> void for_each_part(Body const& body) {
        team_.for_each_worker([&, threads = Index(team_.size())](WorkerId w) {
            body(n_ * w / threads, n_ * (w + 1) / threads);
        });
    }

    WorkerTeam& team_;
    Index n_;
    Index distance_; // not a multiple of a page, or the vectors would compete for the same sets of the caches
    double* to_;
};

/// The times of several bodies that run in turn, so that changes of the machine's speed affect all of them.
class InTurn {
  public:
    template <class... Bodies> InTurn(int repeat, Bodies const&... bodies) : times_(sizeof...(bodies)) {
        for (int r = 0; r < repeat; ++r) {
            std::size_t k = 0;
            (times_[k++].push_back(fastest_ms(1, bodies)), ...);
        }
    }
    [[nodiscard]] double fastest(std::size_t body) const { return *std::ranges::min_element(times_[body]); }
    /// The median of the ratios of the times of two bodies.
    [[nodiscard]] double ratio(std::size_t above, std::size_t below) const {
        std::vector<double> ratios(times_[above].size());
        std::ranges::transform(times_[above], times_[below], ratios.begin(), std::divides<>());
        std::ranges::nth_element(ratios, ratios.begin() + std::ssize(ratios) / 2);
        return ratios[ratios.size() / 2];
    }

  private:
    std::vector<std::vector<double>> times_; ///< By body.
};

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
    double const serial_ms = fastest_ms(repeat, [&] { serial.run(); });
    double const factor_ms = fastest_ms(std::max(3, repeat / 5), [&] { factor.factorize(*a); });
    std::vector<double> x(a->rows, 1.0), y(x), rhs(x);
    enum : std::size_t { triad, huge_triad, lower, upper };
    InTurn const sweeps = [&] {
        Triad<std::allocator<double>> ordinary(team, lower_bytes);
        Triad<LargeAllocator<double>> huge(team, lower_bytes);
        return InTurn(
            repeat, [&] { ordinary.run(); }, [&] { huge.run(); },
            [&] { factor.solve_in_order(x.data(), TriangularPart::lower); },
            [&] { factor.solve_in_order(y.data(), TriangularPart::upper); });
    }();
    constexpr double large = 3.0 * (256 << 20);
    Triad<std::allocator<double>> memory_triad(team, large);
    double const memory = fastest_ms(std::max(3, repeat / 5), [&] { memory_triad.run(); });
    std::ranges::fill(x, 1.0);
    std::ranges::fill(y, 1.0);
    double const lower_ms =
        fastest_ms(repeat, [&] { factor.solve_in_order(x.data(), TriangularPart::lower); });
    double const upper_ms =
        fastest_ms(repeat, [&] { factor.solve_in_order(y.data(), TriangularPart::upper); });
    double const application = fastest_ms(repeat, [&] { factor.solve(rhs.data(), x.data()); });
    double const transposed =
        fastest_ms(repeat, [&] { factor.solve(rhs.data(), x.data(), 1, MatrixOp::transpose); });
    factor.factorize(*a);
    double const new_values =
        fastest_ms(1, [&] { factor.solve(rhs.data(), x.data(), 1, MatrixOp::transpose); });
    auto const rate = [](double bytes, double ms) { return bytes / ms / 1e6; };
    fmt::print(
        R"({{"matrix": "{}", "ordering": "{}", "levels": {}, "threads": {}, "coarsen": "{}", "chunks": {}, )"
        R"("synchronizations": {}, "ordering_ms": {:.1f}, "analysis_ms": {:.1f}, )"
        R"("set_up_ms": {:.1f}, "first_build_ms": {:.1f}, )"
        R"("factor_ms": {:.2f}, "serial_lower_ms": {:.3f}, "lower_ms": {:.3f}, "upper_ms": {:.3f}, )"
        R"("application_ms": {:.3f}, "transposed_ms": {:.3f}, "transposed_new_values_ms": {:.3f}, )"
        R"("memory_gbs": {:.1f}, "triad_gbs": {:.1f}, "huge_triad_gbs": {:.1f}, )"
        R"("lower_gbs": {:.1f}, "upper_gbs": {:.1f}, "lower_of_triad": {:.3f}, "upper_of_triad": {:.3f}, )"
        R"("lower_of_huge_triad": {:.3f}, "upper_of_huge_triad": {:.3f}}})"
        "\n",
        matrix, ordering, levels, threads, sizes.coarse_string, sizes.chunks, sizes.synchronizations,
        ordering_ms, builds.analysis, builds.set_up, builds.first, factor_ms, serial_ms, lower_ms, upper_ms,
        application, transposed, new_values, rate(large, memory), rate(lower_bytes, sweeps.fastest(triad)),
        rate(lower_bytes, sweeps.fastest(huge_triad)), rate(lower_bytes, sweeps.fastest(lower)),
        rate(upper_bytes, sweeps.fastest(upper)), sweeps.ratio(triad, lower),
        sweeps.ratio(triad, upper) * upper_bytes / lower_bytes, sweeps.ratio(huge_triad, lower),
        sweeps.ratio(huge_triad, upper) * upper_bytes / lower_bytes);
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
