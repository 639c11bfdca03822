// Factorizations without supernodes through Solver.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "common/failing_new.hpp"
#include "core/random.hpp"
#include "core/status_of.hpp"
#include "espalier/espalier.hpp"
#include "generated.hpp"
#include "matrix/dense_reference.hpp"
#include "systems.hpp"

namespace espalier {
namespace {

using namespace test;

// The matrix of a circuit: conductances between near nodes, two nets with many nodes, and voltage sources,
// whose diagonal entries are zero and not stored.
template <class T> CscMatrix<T> circuit(Index nodes, Index sources, std::uint64_t seed) {
    SplitMix64 random(seed);
    Index const n = nodes + sources;
    std::vector<std::vector<std::pair<Index, T>>> columns(n);
    auto const add = [&](Index i, Index j, double value) {
        columns[j].emplace_back(i, T(static_cast<Real<T>>(value)));
    };
    auto const connect = [&](Index i, Index j, double conductance) {
        if (i == j) return;
        add(i, i, conductance);
        add(j, j, conductance);
        add(i, j, -conductance);
        add(j, i, -conductance);
    };
    for (Index k = 0; k < nodes; ++k) {
        add(k, k, 1e-3);
        connect(k, std::min(nodes - 1, k + 1 + random.below(5)), random.uniform(0.1, 1));
        if (k % 3 == 0) connect(k, k % 2, random.uniform(0.1, 1));
        if (k % 7 == 0) add(std::max<Index>(0, k - 3), k, random.uniform(0.1, 0.3)); // a controlled source
    }
    for (Index s = 0; s < sources; ++s) {
        add(2 + s * (nodes - 2) / sources, nodes + s, 1);
        add(nodes + s, 2 + s * (nodes - 2) / sources, 1);
    }
    CscMatrix<T> a;
    a.rows = a.cols = n;
    for (auto& column : columns) {
        std::ranges::sort(column, {}, &std::pair<Index, T>::first);
        for (auto const& [i, value] : column)
            if (std::ssize(a.row_ind) > a.col_ptr.back() && a.row_ind.back() == i)
                a.values.back() += value;
            else {
                a.row_ind.push_back(i);
                a.values.push_back(value);
            }
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    return a;
}

template <class T> void expect_solutions(Solver<T>& solver, CscMatrix<T> const& a) {
    for (MatrixOp const op : all_ops) {
        auto const b = random_vector<T>(3 * a.cols, 5);
        auto x = solver.solve(b, 3, op);
        auto const report = solver.refine(a, b, x, 3, op);
        EXPECT_EQ(report.status, Status::ok);
        EXPECT_LE(report.backward_error, 20 * epsilon<T>);
    }
}

template <class T> Options one_thread(Toggle supernodes = Toggle::automatic) {
    Options options;
    options.threads = 1;
    options.supernodes = supernodes;
    return options;
}

template <class T> class SimplicialPath : public testing::Test {};
TYPED_TEST_SUITE(SimplicialPath, Scalars);

TEST(SimplicialPath, RefusesADeterminantAfterReplacedPivots) {
    auto const expect_refusal = [](Solver<double>& solver) {
        EXPECT_EQ(solver.report().factor_path, "simplicial");
        ASSERT_EQ(solver.report().factor.pivots_replaced, 1);
        std::string message;
        EXPECT_EQ(status_of([&] { (void)solver.determinant(); }, &message), Status::inaccurate);
        EXPECT_NE(message.find("set supernodes to on"), std::string::npos) << message;
    };
    auto const a = matrix_from(Symmetry::general, {{1.0, 1.0}, {1.0, 1.25}});
    Options options = one_thread<double>(Toggle::off);
    EXPECT_NEAR(factorized(a, options).determinant().log_modulus, std::log(0.25), 1e-14);
    options.pivot_threshold = 0.5;
    auto solver = factorized(a, options);
    expect_refusal(solver);
    Options delayed = one_thread<double>(Toggle::on);
    delayed.factorization = Factorization::lu;
    delayed.pivoting = Pivoting::delayed;
    auto after_supernodes = factorized(a, delayed);
    after_supernodes.set_options(options);
    after_supernodes.analyze(a);
    after_supernodes.factorize(a);
    expect_refusal(after_supernodes);
}

// The graph is a square lattice.
CscMatrix<double> lattice(Index side, double diagonal) {
    Index const n = side * side;
    CscMatrix<double> a{n, n, Symmetry::general, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index const i : {j - side, j - 1, j, j + 1, j + side}) {
            bool const leaves_line = std::abs(i - j) == 1 && i / side != j / side;
            if (i < 0 || i >= n || leaves_line) continue;
            a.row_ind.push_back(i);
            a.values.push_back(i == j ? diagonal : SplitMix64::uniform_at(1, i * n + j, 0.5, 1));
        }
        a.col_ptr.push_back(std::ssize(a.values));
    }
    return a;
}

// Adds a chain whose diagonal entries of 2 are preferred to 4 below them, so that entries of the last column
// double in each column. Minimum degree eliminates the chain from its ends.
void add_chain_with_growth(CscMatrix<double>& a) {
    constexpr Index length = 200;
    Index const first = a.rows, last = first + length - 1;
    a.rows = a.cols = last + 1;
    auto const add = [&a](Index row, double value) {
        a.row_ind.push_back(row);
        a.values.push_back(value);
    };
    for (Index j = first; j < last; ++j) {
        add(j, 2);
        add(j + 1, 4);
        a.col_ptr.push_back(std::ssize(a.values));
    }
    for (Index i = first; i <= last; ++i) add(i, 4);
    a.col_ptr.push_back(std::ssize(a.values));
}

// The path of the factors, if the solution is accurate. The report has to have the note if supernodes are
// chosen.
std::string path_of(CscMatrix<double> const& a, Options const& options, std::string const& expected_note) {
    auto solver = factorized(a, options);
    std::vector<double> const b(a.rows, 1.0);
    auto x = solver.solve(b);
    EXPECT_EQ(solver.refine(a, b, x).status, Status::ok);
    bool const has_note = std::ranges::any_of(solver.report().notes, [&](std::string const& note) {
        return note.find(expected_note) != std::string::npos;
    });
    EXPECT_EQ(has_note, solver.report().factor_path == "supernodal");
    return solver.report().factor_path;
}

// Pivots outside of the weak diagonal are better, and cause fill.
TEST(SimplicialPath, GivesWayToSupernodesIfPivotsCauseFill) {
    auto const a = lattice(50, 1e-6);
    EXPECT_EQ(path_of(a, one_thread<double>(), "caused fill"), "supernodal");
    EXPECT_EQ(path_of(a, one_thread<double>(Toggle::off), "caused fill"), "simplicial");
}

// Other pivots would cause too much fill in the larger lattice.
TEST(SimplicialPath, GivesWayToSupernodesIfEntriesGrow) {
    auto large = lattice(120, 4), small = lattice(20, 4);
    for (auto* const a : {&large, &small}) add_chain_with_growth(*a);
    EXPECT_EQ(path_of(large, one_thread<double>(), "let entries grow"), "supernodal");
    EXPECT_EQ(path_of(large, one_thread<double>(Toggle::off), "let entries grow"), "simplicial");
    EXPECT_EQ(path_of(small, one_thread<double>(), "let entries grow"), "simplicial");
}

TYPED_TEST(SimplicialPath, SolvesCircuitsWithEveryOpAndSeveralRightHandSides) {
    using T = TypeParam;
    auto const a = circuit<T>(400, 20, 3);
    Solver<T> solver(one_thread<T>());
    solver.analyze(a);
    EXPECT_EQ(solver.report().factor_path, "simplicial");
    EXPECT_GT(solver.report().analysis.diagonal_blocks, 0);
    solver.factorize(a);
    FactorReport const& factor = solver.report().factor;
    EXPECT_FALSE(factor.pivots_reused);
    EXPECT_GT(factor.time_s, 0);
    EXPECT_DOUBLE_EQ(factor.total_s, factor.time_s + factor.assembly_s);
    expect_solutions(solver, a);
}

TYPED_TEST(SimplicialPath, AgreesWithSupernodes) {
    using T = TypeParam;
    auto const a = circuit<T>(200, 8, 4);
    Solver<T> scalar(one_thread<T>(Toggle::off)), blocks(one_thread<T>(Toggle::on));
    scalar.factorize(a);
    blocks.factorize(a);
    EXPECT_EQ(scalar.report().factor_path, "simplicial");
    EXPECT_EQ(blocks.report().factor_path, "supernodal");
    auto const one = scalar.determinant(), other = blocks.determinant();
    auto const bound = 1e5 * static_cast<double>(epsilon<T>);
    EXPECT_NEAR(one.log_modulus, other.log_modulus, bound);
    EXPECT_LT(static_cast<double>(std::abs(one.phase - other.phase)), bound);
    EXPECT_NEAR(scalar.reciprocal_condition(a) / blocks.reciprocal_condition(a), 1, 0.5);
    auto const sparse = test::random_matrix<T>(a.cols, 3, Symmetry::general, 0.02, 7);
    auto const x = scalar.solve(sparse), y = blocks.solve(sparse);
    double difference = 0, size = 0;
    for (std::size_t k = 0; k < x.values.size(); ++k) {
        difference = std::max<double>(difference, std::abs(x.values[k] - y.values[k]));
        size = std::max<double>(size, std::abs(x.values[k]));
    }
    EXPECT_LT(difference, 100 * bound * size);
    EXPECT_THROW((void)scalar.inertia(), Error);
}

// Factors with delayed columns need no refinement, with or without supernodes.
TEST(SimplicialPath, DelayedPivotingReusesNoPivotsWithWhichEntriesGrow) {
    CscMatrix<double> a;
    a.rows = a.cols = 2;
    a.col_ptr = {0, 2, 4};
    a.row_ind = {0, 1, 0, 1};
    a.values = {2, 1, 1, 2};
    for (auto const pivoting : {Pivoting::static_pivots, Pivoting::delayed}) {
        auto options = one_thread<double>();
        options.supernodes = Toggle::off;
        options.pivoting = pivoting;
        Solver<double> solver(options);
        solver.factorize(a);
        auto other = a;
        other.values.front() = 1e-4;
        solver.factorize(other);
        EXPECT_EQ(solver.report().factor.pivots_reused, pivoting == Pivoting::static_pivots);
        other.values.front() = 0.1;
        solver.factorize(a);
        solver.factorize(other);
        EXPECT_TRUE(solver.report().factor.pivots_reused) << "little growth";
    }
}

TYPED_TEST(SimplicialPath, RefactorizesWithTheSamePivotsAndChoosesNewOnesIfTheyAreBad) {
    using T = TypeParam;
    auto a = circuit<T>(300, 10, 5);
    Solver<T> solver(one_thread<T>());
    solver.factorize(a);
    for (T& value : a.values) value *= Real<T>(1.5);
    solver.factorize(a);
    EXPECT_TRUE(solver.report().factor.pivots_reused);
    // The diagonal becomes tiny, so that its pivots are useless.
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j))
            if (a.row_ind[p] == j) a.values[p] *= Real<T>(1e-12);
    solver.factorize(a);
    EXPECT_FALSE(solver.report().factor.pivots_reused);
    auto const b = random_vector<T>(a.cols, 5);
    auto x = solver.solve(b);
    EXPECT_EQ(solver.refine(a, b, x).status, Status::ok);
}

TYPED_TEST(SimplicialPath, SingularMatricesAreFoundWithAndWithoutSupernodes) {
    using T = TypeParam;
    auto a = circuit<T>(60, 2, 6);
    for (Offset const p : a.entries_of(7)) a.values[p] = T(0);
    for (Toggle const supernodes : {Toggle::automatic, Toggle::off, Toggle::on}) {
        Solver<T> solver(one_thread<T>(supernodes));
        EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::singular);
    }
    // Columns 0 and 1 are dependent.
    CscMatrix<T> b;
    b.rows = b.cols = 4;
    b.col_ptr = {0, 2, 4, 6, 9};
    b.row_ind = {0, 1, 0, 1, 2, 3, 0, 2, 3};
    b.values = {T(1), T(2), T(2), T(4), T(1), T(1), T(5), T(1), T(3)};
    for (Toggle const supernodes : {Toggle::automatic, Toggle::off}) {
        Solver<T> solver(one_thread<T>(supernodes));
        solver.factorize(b);
        EXPECT_TRUE(solver.report().factor.numerically_singular);
        EXPECT_EQ(solver.determinant().phase, T(0));
    }
    CscMatrix<T> structural; // two columns have their only entry in the same row
    structural.rows = structural.cols = 3;
    structural.col_ptr = {0, 1, 2, 4};
    structural.row_ind = {1, 1, 0, 2};
    structural.values.assign(4, T(1));
    for (Toggle const supernodes : {Toggle::automatic, Toggle::off}) {
        Solver<T> solver(one_thread<T>(supernodes));
        EXPECT_EQ(status_of([&] { solver.analyze(structural); }), Status::singular);
    }
}

TEST(SimplicialPath, FeaturesThatNeedSupernodesUseThem) {
    auto const a = circuit<double>(100, 5, 6);
    auto const path_of = [&](auto const& change) {
        Options options = one_thread<double>(Toggle::off);
        change(options);
        Solver<double> solver(options);
        solver.factorize(a);
        return solver.report().factor_path;
    };
    EXPECT_EQ(path_of([](Options&) {}), "simplicial");
    EXPECT_EQ(path_of([](Options& o) { o.schur = {3, 4}; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.mixed_precision = true; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.allow_singular = true; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.record_trace = true; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.method = SolveMethod::ilu; }), "none");
}

TEST(SimplicialPath, WithAutoOptionsOfSupernodesKeepThem) {
    auto const a = circuit<double>(100, 5, 6);
    auto const path_of = [&](auto const& change) {
        Options options = one_thread<double>();
        change(options);
        Solver<double> solver(options);
        solver.analyze(a);
        return solver.report().factor_path;
    };
    EXPECT_EQ(path_of([](Options&) {}), "simplicial");
    EXPECT_EQ(path_of([](Options& o) { o.ordering = OrderingMethod::dissection; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.schedule = SchedulePolicy::dynamic_tree; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.matching = Toggle::on; }), "supernodal");
    EXPECT_EQ(path_of([](Options& o) { o.supernodes = Toggle::on; }), "supernodal");
}

TEST(SimplicialPath, RefusesOtherPatternsAndBadValues) {
    auto const a = circuit<double>(100, 5, 6);
    Solver<double> solver(one_thread<double>());
    solver.factorize(a);
    auto other = a;
    std::swap(other.row_ind[0], other.row_ind[1]);
    EXPECT_EQ(status_of([&] { solver.factorize(other); }), Status::usage);
    for (Index const order : {-100, 99, 101}) {
        auto inconsistent = a; // with the arrays of 100 columns
        inconsistent.rows = inconsistent.cols = order;
        EXPECT_EQ(status_of([&] { solver.factorize(inconsistent); }), Status::usage);
    }
    auto bad = a;
    bad.values[5] = std::nan("");
    EXPECT_EQ(status_of([&] { solver.factorize(bad); }), Status::bad_input);
    EXPECT_EQ(status_of([&] { (void)solver.predict(1); }), Status::usage);
    solver.factorize(a);
    Options limited = one_thread<double>();
    limited.max_memory = 1000;
    solver.set_options(limited);
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::out_of_memory);
}

void expect_no_allocations(CscMatrix<double> a) {
    Solver<double> solver(one_thread<double>());
    solver.factorize(a);
    auto x = random_vector<double>(a.cols, 3);
    solver.solve_in_place(x);
    for (double& value : a.values) value *= 1.25;
    constexpr long many = std::numeric_limits<long>::max();
    failing_new::countdown = many; // each allocation of the program decrements it
    solver.factorize(a);
    solver.solve_in_place(x);
    EXPECT_EQ(failing_new::countdown.exchange(-1), many);
    EXPECT_TRUE(solver.report().factor.pivots_reused);
    EXPECT_EQ(solver.report().factor_path, "simplicial");
}

TEST(SimplicialPath, RefactorizationAndSolveDoNotAllocate) {
    expect_no_allocations(circuit<double>(300, 10, 6));
}

// An optimality system: a block with a positive diagonal, and constraints.
template <class T> CscMatrix<T> saddle_point(Index n, Symmetry symmetry = Symmetry::symmetric) {
    Index const variables = 3 * n / 5;
    return matrix_of<T>(n, symmetry, [=](Index i, Index j) {
        if (i == j) return i < variables ? T(2) : T(0);
        if (i < variables && j < variables) return std::abs(i - j) == 1 ? T(Real<T>(0.4)) : T(0);
        Index const constraint = std::max(i, j) - variables, variable = std::min(i, j);
        if (variable >= variables) return T(0);
        if (variable == constraint) return T(1);
        return (7 * constraint + 3) % variables == variable ? T(Real<T>(-0.6)) : T(0);
    });
}

TYPED_TEST(SimplicialPath, SmallSymmetricIndefiniteSystemsAgreeWithSupernodes) {
    using T = TypeParam;
    auto const a = saddle_point<T>(60);
    Solver<T> scalar(one_thread<T>()), blocks(one_thread<T>(Toggle::on));
    scalar.factorize(a);
    blocks.factorize(a);
    EXPECT_EQ(scalar.report().factor_path, "simplicial");
    EXPECT_EQ(blocks.report().factor_path, "supernodal");
    EXPECT_EQ(scalar.report().factorization, blocks.report().factorization);
    EXPECT_EQ(scalar.report().factor.negative_pivots, 24);
    EXPECT_EQ(scalar.inertia(), (Inertia{36, 24, 0}));
    EXPECT_EQ(scalar.inertia(), blocks.inertia());
    auto const bound = 1e5 * static_cast<double>(epsilon<T>);
    auto const one = scalar.determinant(), other = blocks.determinant();
    EXPECT_NEAR(one.log_modulus, other.log_modulus, bound);
    EXPECT_LT(static_cast<double>(std::abs(one.phase - other.phase)), bound);
    EXPECT_NEAR(scalar.reciprocal_condition(a) / blocks.reciprocal_condition(a), 1, 0.5);
    auto const inverse = scalar.selected_inverse(a), expected = blocks.selected_inverse(a);
    for (std::size_t p = 0; p < inverse.values.size(); ++p)
        EXPECT_LT(static_cast<double>(std::abs(inverse.values[p] - expected.values[p])), bound);
    auto const diagonal = scalar.inverse_diagonal(), other_diagonal = blocks.inverse_diagonal();
    for (std::size_t i = 0; i < diagonal.size(); ++i)
        EXPECT_LT(static_cast<double>(std::abs(diagonal[i] - other_diagonal[i])), bound);
    expect_solutions(scalar, a);
}

void expect_good_solution(Solver<double>& solver, CscMatrix<double> const& a) {
    auto const b = random_vector<double>(a.cols, 5);
    auto x = solver.solve(b);
    EXPECT_EQ(solver.refine(a, b, x).status, Status::ok);
}

bool has_note(Solver<double> const& solver, std::string_view text) {
    return std::ranges::any_of(solver.report().notes,
                               [&](std::string const& note) { return note.find(text) != note.npos; });
}

TEST(SimplicialPath, SymmetricSystemsWhosePivotsBecomeUnstableAreMatched) {
    for (Toggle const supernodes : {Toggle::automatic, Toggle::off}) {
        auto a = saddle_point<double>(60);
        Solver<double> solver(one_thread<double>(supernodes));
        solver.factorize(a);
        EXPECT_FALSE(solver.report().analysis.matched);
        for (Index j = 0; j < a.cols; ++j)
            for (Offset const p : a.entries_of(j))
                if (a.row_ind[p] == j) a.values[p] = j % 2 == 0 ? 0 : 1e-13;
        for (int turn = 0; turn < 2; ++turn) {
            solver.factorize(a);
            EXPECT_EQ(solver.report().factor_path, "simplicial");
            EXPECT_TRUE(solver.report().analysis.matched);
            EXPECT_TRUE(has_note(solver, "analyzed again with a matching"));
            EXPECT_EQ(solver.report().factor.pivots_reused, turn > 0);
            expect_good_solution(solver, a);
        }
    }
}

// Rows 3, 4 and 5 have no diagonal. Row 3 takes row 1 for its partner, which has fewer neighbors than row 0,
// and row 4 takes row 2, so that row 5 finds none.
TEST(SimplicialPath, RowsThatFindNoPartnerAreMatched) {
    CscMatrix<double> const a{10,
                              10,
                              Symmetry::symmetric,
                              {0, 6, 10, 13, 13, 13, 13, 14, 15, 16, 17},
                              {0, 3, 6, 7, 8, 9, 1, 3, 4, 5, 2, 4, 5, 6, 7, 8, 9},
                              {4, 2, 1, 1, 1, 1, 4, 3, 2, 3, 4, 3, 2, 4, 4, 4, 4}};
    for (Toggle const matching : {Toggle::automatic, Toggle::on, Toggle::off}) {
        Options options = one_thread<double>();
        options.matching = matching;
        Solver<double> solver(options);
        solver.factorize(a);
        EXPECT_EQ(solver.report().factor_path, matching == Toggle::off ? "supernodal" : "simplicial");
        EXPECT_EQ(solver.report().analysis.matched, matching != Toggle::off);
        EXPECT_EQ(has_note(solver, "3 pairs of rows"), matching != Toggle::off);
        expect_good_solution(solver, a);
        if (matching != Toggle::off) {
            EXPECT_EQ(solver.inertia(), (Inertia{7, 3, 0}));
        }
    }
}

class CountsOrderings : public ProgressSink {
  public:
    void begin(std::string_view phase, double) override { count += phase == "ordering" ? 1 : 0; }
    void advance(double) override {}
    void end() override {}
    int count = 0;
};

// Without diagonals. Pivots by matchings are stable for most of them. A matching that was not stable is not
// tried again for the same values.
TEST(SimplicialPath, SymmetricSystemsWithUnstablePivotsOfMatchingsUseSupernodes) {
    int num_simplicial = 0, num_supernodal = 0;
    for (int seed = 0; seed < 20; ++seed) {
        SplitMix64 random(seed);
        auto const a = matrix_of<double>(40, Symmetry::symmetric, [&](Index i, Index j) {
            return i != j && (i == j + 1 || random.below(8) == 0) ? random.uniform(-1, 1) : 0;
        });
        CountsOrderings orderings;
        Options options = one_thread<double>();
        options.progress = &orderings;
        Solver<double> solver(options);
        solver.analyze(a);
        bool const was_matched = solver.report().analysis.matched;
        solver.factorize(a);
        bool const is_simplicial = solver.report().factor_path == "simplicial";
        if (was_matched) {
            EXPECT_EQ(orderings.count, is_simplicial ? 1 : 2);
        }
        ++(is_simplicial ? num_simplicial : num_supernodal);
        EXPECT_EQ(has_note(solver, "analyzed again with supernodes"), !is_simplicial);
        expect_good_solution(solver, a);
    }
    EXPECT_GT(num_simplicial, 10);
    EXPECT_GT(num_supernodal, 0);
}

TEST(SimplicialPath, SingularSymmetricSystemsAreFound) {
    auto a = saddle_point<double>(10);
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j))
            if (a.row_ind[p] == 9) a.values[p] = 0;
    for (Toggle const supernodes : {Toggle::automatic, Toggle::off})
        EXPECT_EQ(status_of([&] { Solver<double>(one_thread<double>(supernodes)).factorize(a); }),
                  Status::singular);
    // Two equal constraints.
    auto const equal = matrix_of<double>(5, Symmetry::symmetric, [](Index i, Index j) {
        if (i == j) return i < 3 ? 2.0 : 0.0;
        return std::max(i, j) < 3   ? 0.5
               : std::min(i, j) < 3 ? 1.0 + static_cast<double>(std::min(i, j))
                                    : 0.0;
    });
    Solver<double> solver(one_thread<double>());
    solver.factorize(equal);
    EXPECT_TRUE(solver.report().factor.numerically_singular);
    EXPECT_EQ(solver.determinant().phase, 0);
}

// ldlt and ldlh of complex values that are real, and of others.
TEST(SimplicialPath, ComplexValuesChooseTheSymmetricKindAnew) {
    using T = std::complex<double>;
    auto const real = saddle_point<T>(30);
    auto complex = real;
    for (T& value : complex.values) value *= T(1, 0.5);
    Solver<T> solver(one_thread<T>());
    for (int turn = 0; turn < 2; ++turn)
        for (bool const is_real : {true, false}) {
            auto const& a = is_real ? real : complex;
            solver.factorize(a);
            EXPECT_EQ(solver.report().factor_path, "simplicial");
            EXPECT_EQ(solver.report().factorization, is_real ? Factorization::ldlh : Factorization::ldlt);
            EXPECT_TRUE(solver.report().notes.front().starts_with(is_real ? "auto chose ldlh: Hermitian"
                                                                          : "auto chose ldlt: complex"));
            auto const b = random_vector<T>(a.cols, 5);
            auto x = solver.solve(b);
            EXPECT_LE(solver.refine(a, b, x).backward_error, 1e-15);
            EXPECT_EQ(status_of([&] { (void)solver.inertia(); }), is_real ? Status::ok : Status::usage);
        }
    auto hermitian = saddle_point<T>(30, Symmetry::hermitian);
    Options options = one_thread<T>();
    options.factorization = Factorization::ldlt; // possible for real values only
    Solver<T> asked(options);
    asked.factorize(hermitian);
    for (Index j = 0; j < hermitian.cols; ++j)
        for (Offset const p : hermitian.entries_of(j))
            if (hermitian.row_ind[p] != j) hermitian.values[p] *= T(0, 1);
    EXPECT_EQ(status_of([&] { asked.factorize(hermitian); }), Status::usage);
}

TEST(SimplicialPath, OptionsThatDescribeColumnBlocksMeanSupernodes) {
    auto const path_with = [](auto const& change) {
        Options options = one_thread<double>(Toggle::automatic);
        change(options);
        Solver<double> solver(options);
        solver.analyze(saddle_point<double>(100));
        return solver.report().factor_path;
    };
    EXPECT_EQ(path_with([](Options&) {}), "simplicial");
    EXPECT_EQ(path_with([](Options& options) { options.max_block_width = 8; }), "supernodal");
    EXPECT_EQ(path_with([](Options& options) { options.amalgamation_fill = 0; }), "supernodal");
}

TEST(SimplicialPath, SymmetricRefactorizationAndSolveDoNotAllocate) {
    expect_no_allocations(saddle_point<double>(100));
    expect_no_allocations(generated<double>("lap2d:10"));
}

TEST(SimplicialPath, CanBeCancelled) {
    auto const a = circuit<double>(3000, 5, 6);
    bool stop = false;
    Options options = one_thread<double>();
    options.cancel = [&stop] { return stop; };
    Solver<double> solver(options);
    solver.factorize(a);
    stop = true;
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::cancelled);
    stop = false;
    solver.factorize(a);
}

// Diagonal entries of 2 are preferred to 4 below them, so that entries double in each column of a cycle.
TEST(SimplicialPath, TakesLargerPivotsIfEntriesGrow) {
    for (Index const n : {60, 2000}) { // with 2000 columns, numbers overflow
        auto const a = matrix_of<double>(n, Symmetry::general, [=](Index i, Index j) {
            return i == j ? 2.0 : i == (j + 1) % n ? 4.0 : 0.0;
        });
        Options options = one_thread<double>(Toggle::off);
        options.ordering = OrderingMethod::natural;
        options.matching = Toggle::off;
        Solver<double> solver(options);
        solver.factorize(a);
        std::vector<double> const b(n, 1.0);
        auto x = solver.solve(b);
        EXPECT_LE(solver.refine(a, b, x).backward_error, 1e-15);
        // 2^n - 4^n for even n
        EXPECT_NEAR(solver.determinant().log_modulus, static_cast<double>(n) * std::log(4.0), 1e-9);
        EXPECT_EQ(solver.determinant().phase, -1.0);
    }
}

} // namespace
} // namespace espalier
