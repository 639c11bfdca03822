// The functions of MA57's interface, called as Fortran programs call them.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
void ma57id_(double* cntl, int* icntl);
void ma57ad_(int const* n, int const* ne, int const* irn, int const* jcn, int const* lkeep, int* keep,
             int* iwork, int const* icntl, int* info, double* rinfo);
void ma57bd_(int const* n, int const* ne, double const* a, double* fact, int const* lfact, int* ifact,
             int const* lifact, int const* lkeep, int const* keep, int* iwork, int const* icntl,
             double const* cntl, int* info, double* rinfo);
void ma57cd_(int const* job, int const* n, double const* fact, int const* lfact, int const* ifact,
             int const* lifact, int const* nrhs, double* rhs, int const* lrhs, double* work, int const* lwork,
             int* iwork, int const* icntl, int* info);
void ma57ed_(int const* n, int const* ic, int const* keep, double const* fact, int const* lfact,
             double* newfac, int const* lnew, int const* ifact, int const* lifact, int* newifc,
             int const* linew, int* info);
}

namespace {

// A caller of MA57 with its arrays. Members are named as the arguments, and functions return INFO(1).
struct Caller {
    int n;
    std::vector<int> irn, jcn;
    std::vector<double> a;
    double cntl[5];
    int icntl[20], info[40];
    double rinfo[20];
    std::vector<int> keep, iwork, ifact;
    std::vector<double> fact;

    Caller(int order, std::vector<int> rows, std::vector<int> columns, std::vector<double> values)
        : n(order), irn(std::move(rows)), jcn(std::move(columns)), a(std::move(values)) {
        ma57id_(cntl, icntl);
        icntl[4] = 0; // prints nothing
        keep.resize(5 * n + a.size() + std::max<std::size_t>(n, a.size()) + 42);
        iwork.resize(5 * n);
    }
    // INFO counts from 1 in the documentation.
    int result(int k) const { return info[k - 1]; }

    int analyze() {
        int const ne = static_cast<int>(a.size()), lkeep = static_cast<int>(keep.size());
        ma57ad_(&n, &ne, irn.data(), jcn.data(), &lkeep, keep.data(), iwork.data(), icntl, info, rinfo);
        if (result(1) >= 0) {
            fact.resize(result(9));
            ifact.resize(result(10));
        }
        return result(1);
    }
    int factorize() {
        int const ne = static_cast<int>(a.size()), lkeep = static_cast<int>(keep.size());
        int const lfact = static_cast<int>(fact.size()), lifact = static_cast<int>(ifact.size());
        ma57bd_(&n, &ne, a.data(), fact.data(), &lfact, ifact.data(), &lifact, &lkeep, keep.data(),
                iwork.data(), icntl, cntl, info, rinfo);
        return result(1);
    }
    int solve(std::vector<double>& x, int nrhs = 1, int job = 1) {
        int const lfact = static_cast<int>(fact.size()), lifact = static_cast<int>(ifact.size()),
                  lwork = n * nrhs;
        std::vector<double> work(lwork);
        ma57cd_(&job, &n, fact.data(), &lfact, ifact.data(), &lifact, &nrhs, x.data(), &n, work.data(),
                &lwork, iwork.data(), icntl, info);
        return result(1);
    }
    double residual(std::vector<double> const& x, std::vector<double> b) const {
        for (std::size_t k = 0; k < a.size(); ++k) {
            int const i = irn[k] - 1, j = jcn[k] - 1;
            b[i] -= a[k] * x[j];
            if (i != j) b[j] -= a[k] * x[i];
        }
        double largest = 0;
        for (double const value : b) largest = std::max(largest, std::abs(value));
        return largest;
    }
};

// The example of the documentation of MA57, whose solution is 1, 2, 3, 4, 5.
Caller example() {
    return {5, {1, 1, 2, 2, 3, 3, 5}, {1, 2, 3, 5, 3, 4, 5}, {2, 3, 4, 6, 1, 5, 1}};
}
std::vector<double> const example_b = {8, 45, 31, 15, 17};

// [H B^T; B -c I] with H positive definite: `unknowns` positive and, if c > 0 or B has full rank,
// `multipliers` negative eigenvalues. The last row of B is the first one if `dependent`.
Caller saddle_point(int unknowns, int multipliers, unsigned seed, double c = 0, bool dependent = false) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<int> rows, columns;
    std::vector<double> values;
    auto const add = [&](int i, int j, double value) {
        rows.push_back(i + 1);
        columns.push_back(j + 1);
        values.push_back(value);
    };
    for (int i = 0; i < unknowns; ++i) {
        add(i, i, std::pow(10, 2 * uniform(random)) + 2);
        if (i > 0) add(i, i - 1, uniform(random));
    }
    std::vector<std::pair<int, double>> first;
    for (int k = 0; k < multipliers; ++k) {
        std::vector<std::pair<int, double>> row = {{k, 1 + uniform(random) / 2},
                                                   {static_cast<int>(random() % unknowns), uniform(random)}};
        if (k == 0) first = row;
        if (dependent && k == multipliers - 1) row = first;
        for (auto const& [j, value] : row) add(unknowns + k, j, value);
        if (c > 0) add(unknowns + k, unknowns + k, -c);
    }
    return {unknowns + multipliers, rows, columns, values};
}

} // namespace

TEST(Ma57, SolvesTheExampleOfItsDocumentation) {
    Caller caller = example();
    ASSERT_EQ(caller.analyze(), 0);
    ASSERT_EQ(caller.factorize(), 0);
    EXPECT_EQ(caller.result(24), 2);
    EXPECT_EQ(caller.result(25), 5);
    auto x = example_b;
    ASSERT_EQ(caller.solve(x), 0);
    for (int k = 0; k < 5; ++k) EXPECT_NEAR(x[k], k + 1, 1e-13);
}

TEST(Ma57, CountsNegativeEigenvaluesOfSaddlePointSystems) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        int const unknowns = 10 + 7 * static_cast<int>(seed), multipliers = unknowns / 2;
        Caller caller = saddle_point(unknowns, multipliers, seed, seed % 2 == 0 ? 0 : 1e-8);
        caller.analyze();
        ASSERT_EQ(caller.factorize(), 0) << seed;
        EXPECT_EQ(caller.result(24), multipliers) << seed;
        std::vector<double> const b(caller.n, 1);
        auto x = b;
        ASSERT_EQ(caller.solve(x), 0);
        EXPECT_LT(caller.residual(x, b), 1e-9) << seed;
    }
}

TEST(Ma57, DistinguishesSingularSystemsFromRegularizedOnes) {
    Caller singular = saddle_point(40, 20, 3, 0, true);
    singular.analyze();
    EXPECT_EQ(singular.factorize(), 4);
    EXPECT_EQ(singular.result(25), 59);
    Caller regularized = saddle_point(40, 20, 3, 1e-9, true);
    regularized.analyze();
    EXPECT_EQ(regularized.factorize(), 0);
    EXPECT_EQ(regularized.result(24), 20);
    EXPECT_EQ(regularized.result(25), 60);
    Caller empty(3, {1, 2}, {1, 2}, {1, -1}); // nothing in row 3
    empty.analyze();
    EXPECT_EQ(empty.factorize(), 4);
    EXPECT_EQ(empty.result(25), 2);
}

TEST(Ma57, NewValuesOnThePatternAreFactorized) {
    Caller caller = saddle_point(50, 20, 5, 1e-8);
    caller.analyze();
    std::mt19937 random(1);
    for (int step = 0; step < 8; ++step) {
        for (std::size_t k = 0; k < caller.a.size(); ++k)
            if (caller.irn[k] == caller.jcn[k] && caller.irn[k] <= 50)
                caller.a[k] = 2.5 + std::pow(10.0, random() % 9);
        ASSERT_EQ(caller.factorize(), 0) << step;
        EXPECT_EQ(caller.result(24), 20) << step;
    }
}

TEST(Ma57, TooSmallArraysAreEnlarged) {
    Caller caller = example();
    caller.analyze();
    caller.fact.resize(caller.result(9) - 1);
    caller.ifact.resize(caller.result(10) - 1);
    ASSERT_EQ(caller.factorize(), -3);
    int const old_size = static_cast<int>(caller.fact.size()), size = caller.result(17),
              old_ints = static_cast<int>(caller.ifact.size());
    std::vector<double> larger(size);
    int ic = 0, info[40];
    ma57ed_(&caller.n, &ic, caller.keep.data(), caller.fact.data(), &old_size, larger.data(), &size,
            caller.ifact.data(), &old_ints, nullptr, &old_ints, info);
    ASSERT_EQ(info[0], 0);
    caller.fact = larger;
    ASSERT_EQ(caller.factorize(), -4);
    int const ints = caller.result(18);
    std::vector<int> larger_ints(ints);
    ic = 1;
    ma57ed_(&caller.n, &ic, caller.keep.data(), caller.fact.data(), &size, nullptr, &size,
            caller.ifact.data(), &old_ints, larger_ints.data(), &ints, info);
    ASSERT_EQ(info[0], 0);
    caller.ifact = larger_ints;
    ASSERT_EQ(caller.factorize(), 0);
    ic = 0;
    ma57ed_(&caller.n, &ic, caller.keep.data(), caller.fact.data(), &size, larger.data(), &old_size,
            caller.ifact.data(), &ints, nullptr, &ints, info);
    EXPECT_EQ(info[0], -7);
}

TEST(Ma57, EachFactorizationKeepsItsSystem) {
    // More systems than solvers are kept, two factorizations of each in different arrays, in mixed order.
    std::vector<Caller> callers;
    for (unsigned seed = 0; seed < 80; ++seed) {
        callers.push_back(saddle_point(20, 8, seed, 1e-8));
        callers.back().analyze();
        ASSERT_EQ(callers.back().factorize(), 0);
    }
    auto const first = callers;
    for (Caller& caller : callers) {
        for (double& value : caller.a) value *= 2;
        ASSERT_EQ(caller.factorize(), 0);
    }
    for (std::size_t k = 0; k < callers.size(); ++k)
        for (Caller caller : {first[k], callers[k]}) {
            std::vector<double> const b(caller.n, 1);
            auto x = b;
            ASSERT_EQ(caller.solve(x), 0);
            EXPECT_LT(caller.residual(x, b), 1e-10) << k;
        }
}

TEST(Ma57, SolvesManyRightHandSides) {
    Caller caller = example();
    caller.analyze();
    caller.factorize();
    std::vector<double> x = example_b;
    for (double const value : example_b) x.push_back(-2 * value);
    ASSERT_EQ(caller.solve(x, 2), 0);
    for (int k = 0; k < 5; ++k) {
        EXPECT_NEAR(x[k], k + 1, 1e-13);
        EXPECT_NEAR(x[5 + k], -2 * (k + 1), 1e-13);
    }
}

TEST(Ma57, UsesTheOrderOfTheCaller) {
    Caller caller = saddle_point(30, 10, 2, 1e-8);
    caller.icntl[5] = 1;
    for (int k = 0; k < caller.n; ++k) caller.keep[k] = caller.n - k;
    ASSERT_EQ(caller.analyze(), 0);
    ASSERT_EQ(caller.factorize(), 0);
    EXPECT_EQ(caller.result(24), 10);
    caller.keep[3] = 2;
    caller.keep[4] = 2;
    ASSERT_EQ(caller.analyze(), -9);
}

TEST(Ma57, ReportsIgnoredAndSummedEntries) {
    Caller caller = example();
    for (auto const& [i, j, value] : {std::tuple{0, 3, 7.0}, {2, 6, 7.0}, {2, 1, 1.0}}) {
        caller.irn.push_back(i);
        caller.jcn.push_back(j);
        caller.a.push_back(value);
    }
    caller.a[1] = 2; // (1, 2), to which the last entry is added
    caller.keep.resize(200);
    ASSERT_EQ(caller.analyze(), 3);
    EXPECT_EQ(caller.result(3), 2);
    EXPECT_EQ(caller.result(4), 1);
    ASSERT_EQ(caller.factorize(), 0);
    auto x = example_b;
    ASSERT_EQ(caller.solve(x), 0);
    for (int k = 0; k < 5; ++k) EXPECT_NEAR(x[k], k + 1, 1e-13);
}

TEST(Ma57, RefusesWrongArguments) {
    Caller caller = example();
    int const n = 0;
    std::swap(caller.n, const_cast<int&>(n));
    EXPECT_EQ(caller.analyze(), -1);
    std::swap(caller.n, const_cast<int&>(n));
    caller.keep.resize(80);
    EXPECT_EQ(caller.analyze(), -15);
    caller.keep.resize(81);
    ASSERT_EQ(caller.analyze(), 0);
    caller.icntl[6] = 5;
    EXPECT_EQ(caller.factorize(), -10);
    caller.icntl[6] = 2;
    EXPECT_EQ(caller.factorize(), -6);
    caller.icntl[6] = 3;
    EXPECT_EQ(caller.factorize(), 5);
    auto x = example_b;
    EXPECT_LT(caller.solve(x, 1, 2), -1000);
    EXPECT_EQ(caller.solve(x, 0), -16);
    caller.a[2] = std::nan("");
    caller.icntl[6] = 1;
    EXPECT_EQ(caller.factorize(), 4);
    EXPECT_EQ(caller.result(25), 0);
}
