#include "systems.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/random.hpp"
#include "io/read.hpp"
#include "matrix/entries.hpp"

namespace espalier::small_systems {

namespace {

// Entries in any order, which are added up.
class Entries {
  public:
    explicit Entries(Index n) : columns_(n) {}

    void add(Index i, Index j, double value) { columns_[j].emplace_back(i, value); }
    // A conductance between two nodes.
    void connect(Index i, Index j, double conductance) {
        if (i == j) return;
        add(i, i, conductance);
        add(j, j, conductance);
        add(i, j, -conductance);
        add(j, i, -conductance);
    }

    CscMatrix<double> matrix(Symmetry symmetry = Symmetry::general) {
        CscMatrix<double> a;
        a.rows = a.cols = std::ssize(columns_);
        a.symmetry = symmetry;
        for (auto& column : columns_) {
            std::ranges::stable_sort(column, {}, &std::pair<Index, double>::first);
            for (auto const& [i, value] : column)
                if (std::ssize(a.row_ind) > a.col_ptr.back() && a.row_ind.back() == i) {
                    a.values.back() += value;
                } else {
                    a.row_ind.push_back(i);
                    a.values.push_back(value);
                }
            a.col_ptr.push_back(std::ssize(a.row_ind));
        }
        return a;
    }

  private:
    std::vector<std::vector<std::pair<Index, double>>> columns_;
};

// Cells of nodes with near neighbors and, ever more rarely, far ones; a power net for every third node;
// clocks; transistors, whose currents depend on the voltage of a third node; and voltage sources, whose
// diagonal is zero.
CscMatrix<double> circuit(Index n) {
    SplitMix64 random(17);
    Index const sources = n / 100 + 1, nodes = n - sources;
    Entries entries(n);
    for (Index k = 0; k < nodes; ++k) {
        entries.add(k, k, 1e-3);
        double const log_distance = random.uniform(0, 1);
        double const reach = 0.8 * std::pow(log_distance, 20);
        auto const near = static_cast<Index>(4 * std::pow(static_cast<double>(nodes) / 4, reach));
        entries.connect(k, (k + 1 + random.below(near)) % nodes, random.uniform(0.1, 1));
        entries.connect(k, std::min(nodes - 1, k + 1 + random.below(3)), random.uniform(0.1, 1));
        if (k % 3 == 0) entries.connect(k, k % 2, random.uniform(1, 10));
        if (k % 500 == 2) entries.connect(k, 2 + k % 4, random.uniform(0.1, 1));
        if (k % 4 == 0) { // the current from drain to source follows the gate
            Index const gate = std::max<Index>(0, k - 1 - random.below(20)),
                        source = std::min(nodes - 1, k + 1);
            double const slope = random.uniform(0.1, 2);
            entries.add(k, gate, slope);
            entries.add(source, gate, -slope);
        }
    }
    for (Index s = 0; s < sources; ++s) {
        Index const at = s * nodes / sources;
        entries.add(at, nodes + s, 1);
        entries.add(nodes + s, at, 1);
    }
    return entries.matrix();
}

// Two layers of wires with gaps, one along each direction, and vias at a part of the crossings.
CscMatrix<double> resistors(Index n) {
    SplitMix64 random(18);
    auto const side = static_cast<Index>(std::sqrt(static_cast<double>(n) / 2));
    Entries entries(2 * side * side);
    for (Index y = 0; y < side; ++y)
        for (Index x = 0; x < side; ++x) {
            Index const lower = 2 * (y * side + x), upper = lower + 1;
            if (x + 1 < side && random.below(20) > 0) entries.connect(lower, lower + 2, random.uniform(1, 2));
            if (y + 1 < side && random.below(20) > 0)
                entries.connect(upper, upper + 2 * side, random.uniform(1, 2));
            if (random.below(7) == 0) entries.connect(lower, upper, random.uniform(5, 10));
            entries.add(lower, lower, 1e-3);
            entries.add(upper, upper, 1e-3);
        }
    return entries.matrix();
}

// A distribution network: feeders with branches and a few tie lines, three phases at a bus, and converters
// with their own states, which depend on their bus alone.
CscMatrix<double> microgrid(Index n) {
    SplitMix64 random(19);
    Index const buses = n / 4;
    Entries entries(4 * buses);
    auto const unknown = [](Index bus, Index phase) { return 4 * bus + phase; };
    for (Index bus = 0; bus < buses; ++bus) {
        Index const feeder = bus == 0 ? 0 : std::max<Index>(0, bus - 1 - random.below(6));
        Index const tie = random.below(50) == 0 ? random.below(buses) : feeder;
        for (Index phase = 0; phase < 3; ++phase) {
            Index const own = unknown(bus, phase);
            entries.add(own, own, random.uniform(0.5, 1));
            entries.connect(own, unknown(feeder, phase), random.uniform(5, 10));
            entries.connect(own, unknown(tie, phase), random.uniform(5, 10));
            entries.add(own, unknown(bus, (phase + 1) % 3), random.uniform(-0.1, 0.1));
        }
        Index const state = unknown(bus, 3);
        entries.add(state, state, random.uniform(1, 2));
        entries.add(state, unknown(bus, 0), random.uniform(0.1, 1));
        if (random.below(4) == 0) entries.add(unknown(bus, 0), state, random.uniform(0.1, 0.3));
    }
    return entries.matrix();
}

// A chemical plant, as in the matrices bayer of the SuiteSparse collection: columns of 40 trays with five
// components and a temperature. The components of a tray depend on those of the next trays, and all of them
// on the temperature; feeds come from trays of other columns. The equations have very different scales.
CscMatrix<double> plant(Index n) {
    SplitMix64 random(22);
    constexpr Index unknowns = 6, temperature = 5, trays_of_column = 40;
    Index const trays = std::max<Index>(1, n / unknowns);
    Entries entries(trays * unknowns);
    for (Index tray = 0; tray < trays; ++tray) {
        bool const is_first = tray % trays_of_column == 0;
        bool const is_last = (tray + 1) % trays_of_column == 0 || tray + 1 == trays;
        Index const feed = random.below(12) == 0 ? random.below(trays) : tray;
        for (Index c = 0; c < unknowns; ++c) {
            Index const row = tray * unknowns + c;
            double const scale = std::pow(10, random.uniform(-4, 4));
            auto const add = [&](Index of_tray, Index of, double value) {
                entries.add(row, of_tray * unknowns + of, scale * value);
            };
            if (c == temperature) { // the fractions add up to one, so that its own diagonal entry is zero
                for (Index other = 0; other < temperature; ++other)
                    add(tray, other, random.uniform(0.5, 1.5));
                continue;
            }
            add(tray, c, random.uniform(2, 3));
            add(tray, temperature, random.uniform(0.5, 1));
            if (!is_first) add(tray - 1, c, -random.uniform(0.5, 1));
            if (!is_last) add(tray + 1, c, -random.uniform(0.5, 1));
            if (!is_last) add(tray + 1, temperature, random.uniform(0.1, 0.2));
            if (feed != tray) add(feed, c, -random.uniform(0.1, 0.5));
        }
    }
    return entries.matrix();
}

// [H G^T; G -D] of a quadratic program with two constraints for three variables.
CscMatrix<double> kkt(Index n) {
    SplitMix64 random(20);
    Index const variables = 3 * n / 5;
    Entries entries(n);
    for (Index j = 0; j < variables; ++j) {
        entries.add(j, j, random.uniform(1, 2));
        if (j + 1 < variables) entries.add(j + 1, j, random.uniform(-0.4, 0.4));
    }
    for (Index i = variables; i < n; ++i) {
        entries.add(i, i, -1e-8);
        Index const first = (i - variables) * variables / (n - variables);
        entries.add(i, first, random.uniform(0.5, 1));
        for (int k = 0; k < 3; ++k) entries.add(i, random.below(variables), random.uniform(-1, 1));
    }
    return entries.matrix(Symmetry::symmetric);
}

CscMatrix<double> band(Index n) {
    SplitMix64 random(21);
    Entries entries(n);
    for (Index j = 0; j < n; ++j) {
        entries.add(j, j, random.uniform(2, 3));
        if (j > 0) entries.add(j - 1, j, random.uniform(-1, 1));
        if (j + 1 < n) entries.add(j + 1, j, random.uniform(-1, 1));
        if (j + 4 < n) entries.add(j + 4, j, random.uniform(-0.5, 0.5));
    }
    return entries.matrix();
}

// The normal equations of a smoothing spline: a definite matrix with five diagonals on each side.
CscMatrix<double> spline(Index n) {
    SplitMix64 random(22);
    Entries entries(n);
    for (Index j = 0; j < n; ++j) {
        entries.add(j, j, 8);
        for (Index i = j + 1; i < std::min(n, j + 6); ++i) entries.add(i, j, random.uniform(-0.7, 0.7));
    }
    return entries.matrix(Symmetry::symmetric);
}

// The optimality system of a control problem with 12 states and 4 controls in each stage: first the variables
// of all stages, then the multipliers of the equations that connect them.
CscMatrix<double> control(Index n) {
    constexpr Index states = 12, variables = 16;
    Index const stages = std::max<Index>(2, n / (states + variables)), first_equation = stages * variables;
    SplitMix64 random(23);
    Entries entries(first_equation + (stages - 1) * states);
    for (Index k = 0; k < stages; ++k)
        for (Index j = k * variables; j < (k + 1) * variables; ++j) {
            entries.add(j, j, random.uniform(2, 3));
            for (Index i = j + 1; i < (k + 1) * variables; ++i) entries.add(i, j, random.uniform(-0.1, 0.1));
        }
    for (Index k = 0; k + 1 < stages; ++k)
        for (Index e = 0; e < states; ++e) {
            Index const row = first_equation + k * states + e;
            for (Index j = 0; j < variables; ++j) entries.add(row, k * variables + j, random.uniform(-1, 1));
            entries.add(row, (k + 1) * variables + e, -1);
        }
    return entries.matrix(Symmetry::symmetric);
}

} // namespace

CscMatrix<double> make_system(std::string const& name) {
    static std::map<std::string, std::function<CscMatrix<double>(Index)>> const kinds = {
        {"circuit", circuit}, {"resistors", resistors}, {"microgrid", microgrid}, {"plant", plant},
        {"kkt", kkt},         {"band", band},           {"spline", spline},       {"control", control}};
    auto const colon = name.find(':');
    if (auto const kind = kinds.find(name.substr(0, colon));
        kind != kinds.end() && colon != std::string::npos)
        return kind->second(std::stoll(name.substr(colon + 1)));
    auto read = read_matrix(name, 1);
    if (auto* const real = std::get_if<CscMatrix<double>>(&read.matrix)) return std::move(*real);
    throw Error(Status::unsupported, fmt::format("{} is not a real matrix", name));
}

CscMatrix<double> with_both_triangles(CscMatrix<double> const& a) {
    Entries entries(a.cols);
    for_each_entry(MatrixOp::none, a, [&](Index i, Index j, double value) { entries.add(i, j, value); });
    return entries.matrix();
}

} // namespace espalier::small_systems
