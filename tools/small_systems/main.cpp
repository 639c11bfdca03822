// Times Espalier, KLU and PARDISO on small and irregular systems, with one thread:
//
//     small_systems [--only espalier,klu] [--mkl libmkl_rt.so] [--columns N] west0479.mtx circuit:50000 ...
//
// prints a line of JSON for each system and solver, with medians of seconds. The solvers take turns. The
// refactorization gets other values. PARDISO needs --mkl, the path of the library of oneMKL. --columns N
// solves for N right-hand sides at once. The systems after --definite are positive definite.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/random.hpp"
#include "matrix/entries.hpp"
#include "peers.hpp"
#include "systems.hpp"

namespace espalier::small_systems {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Body> double seconds_of(Body const& body) {
    double const start = now();
    body();
    return now() - start;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

enum Phase { analysis, factorization, refactorization, substitution, phases };

struct Settings {
    std::string only = "espalier,klu,pardiso", mkl;
    Index columns = 1;
    bool is_definite = false;
};

struct Candidate {
    std::string name;
    std::unique_ptr<SmallSolver> solver;
    CscMatrix<double> matrix;         ///< The matrix in the storage of the solver.
    std::vector<double> other_values; ///< The values of the refactorization.
    std::vector<double> times[phases];
    double error = 0;
    std::string path;
};

double backward_error(CscMatrix<double> const& a, std::vector<double> const& values,
                      std::vector<double> const& x, std::vector<double> const& b) {
    std::vector<double> residual(b.begin(), b.begin() + a.rows), row(a.rows, 0.0); // of the first column
    CscMatrix<double> other = a;
    other.values = values;
    for_each_entry(MatrixOp::none, other, [&](Index i, Index j, double value) {
        residual[i] -= value * x[j];
        row[i] += std::abs(value);
    });
    auto const largest = [](std::vector<double> const& v) {
        double most = 0;
        for (double const entry : v) most = std::max(most, std::abs(entry));
        return most;
    };
    return largest(residual) / (largest(row) * largest(x) + largest(b));
}

// New values near the old ones, the same in all storages. Rows and columns of a definite matrix are scaled,
// which keeps it definite.
std::vector<double> changed(CscMatrix<double> const& a, bool is_definite) {
    std::vector<double> values = a.values;
    for_each_entry(a, [&](Index i, Index j, Offset p) {
        if (is_definite)
            values[p] *= SplitMix64::uniform_at(5, i, 0.9, 1.1) * SplitMix64::uniform_at(5, j, 0.9, 1.1);
        else
            values[p] *= SplitMix64::uniform_at(5, std::max(i, j) * a.cols + std::min(i, j), 0.9, 1.1);
    });
    return values;
}

void pass(Candidate& one, std::vector<double> const& b) {
    std::vector<double> x = b;
    SmallSolver& solver = *one.solver;
    double const times[phases] = {
        seconds_of([&] { solver.analyze(); }), seconds_of([&] { solver.factorize(); }),
        seconds_of([&] { solver.refactorize(one.other_values); }), seconds_of([&] { solver.solve(x); })};
    for (int k = 0; k < phases; ++k) one.times[k].push_back(times[k]);
    one.error = backward_error(one.matrix, one.other_values, x, b);
    one.path = solver.path();
    solver.release();
}

int positive(std::string const& option, std::string const& text) {
    int value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1)
        throw Error(Status::usage, fmt::format("{} {}: expected a positive integer", option, text));
    return value;
}

void compare(std::string const& name, Settings const& settings) {
    CscMatrix<double> const a = make_system(name), full = with_both_triangles(a);
    std::vector<Candidate> candidates;
    auto const add = [&](char const* solver, CscMatrix<double> const& matrix, auto const& make) {
        if (settings.only.find(solver) != std::string::npos)
            candidates.push_back({solver, make(), matrix, changed(matrix, settings.is_definite), {}, 0, {}});
    };
    add("espalier", a, [&] { return espalier_solver(a, settings.is_definite); });
    add("klu", full, [&] { return klu_solver(full); });
    if (!settings.mkl.empty())
        add("pardiso", a, [&] { return pardiso_solver(a, settings.is_definite, settings.mkl); });
    if (candidates.empty())
        throw Error(Status::usage, fmt::format("--only {} names none of espalier, klu{}", settings.only,
                                               settings.mkl.empty() ? "; pardiso needs --mkl" : ", pardiso"));
    std::vector<double> const b(a.cols * settings.columns, 1.0);
    constexpr int least_passes = 6, most_passes = 200000;
    constexpr double most_seconds = 3;
    // In all orders, because a solver is slower after one that has filled the caches.
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), 0);
    double const start = now();
    for (int turn = 0; turn < most_passes; ++turn) {
        if (turn >= least_passes && now() - start > most_seconds) break;
        for (std::size_t const k : order) pass(candidates[k], b);
        std::ranges::next_permutation(order);
    }
    for (Candidate const& one : candidates) {
        fmt::print(
            "{{\"matrix\": \"{}\", \"n\": {}, \"nnz\": {}, \"columns\": {}, \"solver\": \"{}\", "
            "\"analysis_s\": {:.3e}, \"factor_s\": {:.3e}, \"refactor_s\": {:.3e}, \"solve_s\": {:.3e}, "
            "\"error\": {:.1e}, "
            "\"passes\": {}, \"path\": \"{}\"}}\n",
            name, a.cols, full.stored(), settings.columns, one.name, median(one.times[analysis]),
            median(one.times[factorization]), median(one.times[refactorization]),
            median(one.times[substitution]), one.error, one.times[0].size(), one.path);
        std::fflush(stdout);
    }
}

} // namespace
} // namespace espalier::small_systems

int main(int argc, char** argv) {
    try {
        espalier::small_systems::Settings settings;
        for (int k = 1; k < argc; ++k) {
            std::string const argument = argv[k];
            if (argument == "--only" && k + 1 < argc)
                settings.only = argv[++k];
            else if (argument == "--mkl" && k + 1 < argc)
                settings.mkl = argv[++k];
            else if (argument == "--columns" && k + 1 < argc)
                settings.columns = espalier::small_systems::positive(argument, argv[++k]);
            else if (argument == "--definite")
                settings.is_definite = true;
            else
                espalier::small_systems::compare(argument, settings);
        }
    } catch (std::exception const& error) {
        std::fprintf(stderr, "small_systems: %s\n", error.what());
        return 1;
    }
    return 0;
}
