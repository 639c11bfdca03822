// Debian's Ipopt loads the library in the place of HSL, and takes the same steps to the same solutions as
// with MUMPS. LD_LIBRARY_PATH has the folder of libhsl.so.
#include <cmath>
#include <memory>
#include <utility>

#include <coin/IpStdCInterface.h>
#include <gtest/gtest.h>

#include "problems.hpp"

namespace {

using Places = std::vector<std::pair<int, int>>;

// Evaluates a problem for Ipopt.
struct Evaluator {
    Problem problem;
    Places jacobian; // constraint, unknown
    Places hessian;  // lower triangle
    int iterations = 0;

    explicit Evaluator(Problem p) : problem(std::move(p)) {
        // The functions are polynomials and logarithms: derivatives that vanish at this point vanish
        // everywhere.
        std::vector<double> point(problem.start.size());
        for (std::size_t k = 0; k < point.size(); ++k)
            point[k] = 0.3 + 0.17 * std::sin(1 + 3 * static_cast<double>(k));
        int const n = static_cast<int>(point.size());
        for (int j = 0; j < n; ++j) {
            auto const slope = at(point.data(), j, j);
            for (std::size_t i = 1; i < slope.size(); ++i)
                if (slope[i].first != 0) jacobian.emplace_back(i - 1, j);
            for (int i = j; i < n; ++i)
                for (HyperDual const& value : at(point.data(), i, j))
                    if (value.second != 0) {
                        hessian.emplace_back(i, j);
                        break;
                    }
        }
    }

    // f and g with derivatives in the directions i and j.
    std::vector<HyperDual> at(double const* x, int i, int j) const {
        std::vector<HyperDual> dual(x, x + problem.start.size());
        if (i >= 0) dual[i].first = 1;
        if (j >= 0) dual[j].other = 1;
        return problem.functions(dual);
    }
};

Evaluator& self(void* user) {
    return *static_cast<Evaluator*>(user);
}

Bool objective(Index, Number* x, Bool, Number* value, UserDataPtr user) {
    *value = self(user).at(x, -1, -1)[0].value;
    return TRUE;
}
Bool gradient(Index n, Number* x, Bool, Number* values, UserDataPtr user) {
    for (int j = 0; j < n; ++j) values[j] = self(user).at(x, j, -1)[0].first;
    return TRUE;
}
Bool constraints(Index, Number* x, Bool, Index m, Number* values, UserDataPtr user) {
    auto const all = self(user).at(x, -1, -1);
    for (int i = 0; i < m; ++i) values[i] = all[i + 1].value;
    return TRUE;
}
void copy_places(Places const& places, Index* rows, Index* columns) {
    for (std::size_t k = 0; k < places.size(); ++k) std::tie(rows[k], columns[k]) = places[k];
}
Bool jacobian(Index, Number* x, Bool, Index, Index, Index* rows, Index* columns, Number* values,
              UserDataPtr user) {
    Places const& places = self(user).jacobian;
    if (!values) return copy_places(places, rows, columns), TRUE;
    for (std::size_t k = 0; k < places.size(); ++k) {
        auto const [constraint, unknown] = places[k];
        values[k] = self(user).at(x, unknown, -1)[constraint + 1].first;
    }
    return TRUE;
}
Bool hessian(Index, Number* x, Bool, Number factor, Index m, Number* multipliers, Bool, Index, Index* rows,
             Index* columns, Number* values, UserDataPtr user) {
    Places const& places = self(user).hessian;
    if (!values) return copy_places(places, rows, columns), TRUE;
    for (std::size_t k = 0; k < places.size(); ++k) {
        auto const all = self(user).at(x, places[k].first, places[k].second);
        values[k] = factor * all[0].second;
        for (int i = 0; i < m; ++i) values[k] += multipliers[i] * all[i + 1].second;
    }
    return TRUE;
}
Bool count(Index, Index iteration, Number, Number, Number, Number, Number, Number, Number, Number, Index,
           UserDataPtr user) {
    self(user).iterations = iteration;
    return TRUE;
}

struct Result {
    ApplicationReturnStatus status;
    int iterations;
    double objective;
};

Result minimize(Problem const& problem, char const* solver) {
    Evaluator evaluator(problem);
    auto const n = static_cast<Index>(problem.start.size()), m = static_cast<Index>(problem.lower.size());
    auto bounds = [&](std::vector<double> const& given, double unlimited) {
        return given.empty() ? std::vector<double>(n, unlimited) : given;
    };
    auto x_lower = bounds(problem.x_lower, -1e20), x_upper = bounds(problem.x_upper, 1e20);
    auto lower = problem.lower, upper = problem.upper, x = problem.start;
    std::unique_ptr<std::remove_pointer_t<IpoptProblem>, decltype(&FreeIpoptProblem)> const ipopt(
        CreateIpoptProblem(n, x_lower.data(), x_upper.data(), m, lower.data(), upper.data(),
                           static_cast<Index>(evaluator.jacobian.size()),
                           static_cast<Index>(evaluator.hessian.size()), 0, objective, constraints, gradient,
                           jacobian, hessian),
        &FreeIpoptProblem);
    auto const set = [&](std::string name, std::string value) {
        EXPECT_TRUE(AddIpoptStrOption(ipopt.get(), name.data(), value.data())) << name;
    };
    set("linear_solver", solver);
    set("sb", "yes");
    std::string print_level = "print_level";
    EXPECT_TRUE(AddIpoptIntOption(ipopt.get(), print_level.data(), 0));
    SetIntermediateCallback(ipopt.get(), count);
    double value = 0;
    auto const status =
        IpoptSolve(ipopt.get(), x.data(), nullptr, &value, nullptr, nullptr, nullptr, &evaluator);
    return {status, evaluator.iterations, value};
}

} // namespace

TEST(Ipopt, TakesTheSameStepsAsWithMumps) {
    for (Problem const& problem : problems()) {
        SCOPED_TRACE(problem.name);
        Result const mumps = minimize(problem, "mumps"), found = minimize(problem, "ma57");
        EXPECT_EQ(found.status, Solve_Succeeded);
        double const scale = std::max(1.0, std::abs(mumps.objective));
        if (problem.singular && mumps.status != Solve_Succeeded) {
            // With MUMPS, Ipopt ends nearby or at the minimum of a singular problem, depending on rounding.
            EXPECT_NEAR(found.objective, mumps.objective, 1e-6 * scale);
            continue;
        }
        EXPECT_EQ(found.status, mumps.status);
        // Whether a singular system is recognized depends on rounding, and Ipopt's next step on that.
        EXPECT_NEAR(found.iterations, mumps.iterations, problem.singular ? 2 : 0);
        EXPECT_NEAR(found.objective, mumps.objective, 1e-9 * scale);
        if (!std::isnan(problem.optimum)) {
            EXPECT_NEAR(found.objective, problem.optimum, 1e-7 * scale);
        }
    }
}

TEST(Ipopt, SolvesManyProblemsAfterEachOther) {
    Problem const problem = problems().front();
    int const iterations = minimize(problem, "ma57").iterations;
    for (int k = 0; k < 20; ++k) EXPECT_EQ(minimize(problem, "ma57").iterations, iterations);
}
