// Convergence with incomplete factors of systems of many kinds, and of systems whose incomplete factors break
// down.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "comm/thread_processes.hpp"
#include "distributed/backward_error.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

struct ConvergenceRun {
    RefineReport refine;
    Report report;
    double backward_error;
};

template <class T> ConvergenceRun run_convergence(CscMatrix<T> const& a, Options const& given, Index levels) {
    Options options = given;
    options.method = SolveMethod::ilu;
    options.levels = levels;
    Solver<T> solver(options);
    solver.factorize(a);
    auto const b = random_vector<T>(a.cols, 7);
    std::vector<T> x = solver.solve(b);
    RefineReport const refine = solver.refine(a, b, x);
    return {refine, solver.report(), normwise_backward_error<T>(a, x, b, 1)};
}

/// Iterations must fall with the level of fill, and solutions must be accurate.
template <class T> void expect_faster_with_levels(char const* spec, std::vector<Index> const& all_levels) {
    auto const a = generated<T>(spec);
    int before = 2000;
    for (Index const levels : all_levels) {
        auto const found = run_convergence(a, on_threads(2), levels);
        EXPECT_EQ(found.refine.status, Status::ok) << spec << ", levels " << levels;
        EXPECT_LE(found.backward_error, 1e-12) << spec << ", levels " << levels;
        EXPECT_LT(found.refine.iterations, before) << spec << ", levels " << levels;
        before = found.refine.iterations;
    }
}

TEST(IncompleteConvergence, NeedsFewerIterationsWithMoreLevelsOnLargerSystems) {
    for (char const* spec : {"lap2d:100", "lap3d:24", "elast3d:8", "convdiff3d:12", "spe10like:12x14x8",
                             "random:3000:15000:3", "saddle3d:6"})
        expect_faster_with_levels<double>(spec, {0, 1, 3});
    for (char const* spec : {"helmholtz3d:16", "hermitian3d:16"})
        expect_faster_with_levels<std::complex<double>>(spec, {0, 1, 3});
}

/// The stiffness of a bilinear element of plane stress with sides `width` and 1, by 2 x 2 Gauss points.
using ElementStiffness = std::array<std::array<double, 8>, 8>;
ElementStiffness element_stiffness(double width, double poisson) {
    static constexpr int x_of[] = {-1, 1, 1, -1}, y_of[] = {-1, -1, 1, 1};
    double const direct = 1 / (1 - poisson * poisson), coupling = poisson * direct,
                 shear = (1 - poisson) / 2 * direct;
    double const point = 1 / std::sqrt(3.0);
    ElementStiffness sum{};
    for (double const x : {-point, point})
        for (double const y : {-point, point})
            for (int a = 0; a < 4; ++a)
                for (int b = 0; b < 4; ++b) {
                    auto const by_x = [&](int n) { return x_of[n] * (1 + y * y_of[n]) / (2 * width); };
                    auto const by_y = [&](int n) { return y_of[n] * (1 + x * x_of[n]) / 2; };
                    double const area = width / 4;
                    sum[2 * a][2 * b] += area * (direct * by_x(a) * by_x(b) + shear * by_y(a) * by_y(b));
                    sum[2 * a][2 * b + 1] +=
                        area * (coupling * by_x(a) * by_y(b) + shear * by_y(a) * by_x(b));
                    sum[2 * a + 1][2 * b] +=
                        area * (coupling * by_y(a) * by_x(b) + shear * by_x(a) * by_y(b));
                    sum[2 * a + 1][2 * b + 1] +=
                        area * (direct * by_y(a) * by_y(b) + shear * by_x(a) * by_x(b));
                }
    return sum;
}

/// A plate of columns x rows elements that is clamped at one side.
template <class T> CscMatrix<T> plate_of_elements(Index columns, Index rows, double width, double poisson) {
    auto const element = element_stiffness(width, poisson);
    Index const n = 2 * columns * (rows + 1);
    std::vector<double> sum(n * n);
    for (Index x = 0; x < columns; ++x)
        for (Index y = 0; y < rows; ++y) {
            auto const unknown =
                [&](int k) { // the number of an unknown of the element, negative if it is clamped
                    Index const at_x = x + (k / 2 == 1 || k / 2 == 2), at_y = y + (k >= 4);
                    return at_x == 0 ? -1 : 2 * ((at_x - 1) * (rows + 1) + at_y) + k % 2;
                };
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j)
                    if (unknown(i) >= 0 && unknown(j) >= 0) sum[unknown(i) + n * unknown(j)] += element[i][j];
        }
    return matrix_of<T>(n, Symmetry::symmetric,
                        [&](Index i, Index j) { return T(static_cast<Real<T>>(sum[i + n * j])); });
}

/// The square of the two-dimensional Laplacian, a thin plate, with symmetric scales of very different size.
template <class T> CscMatrix<T> thin_plate(Index side) {
    auto const laplacian = [&](Index i, Index j) {
        Index const distance = std::abs(i / side - j / side) + std::abs(i % side - j % side);
        return distance == 0 ? 4 : distance == 1 ? -1 : 0;
    };
    return matrix_of<T>(side * side, Symmetry::symmetric, [&](Index i, Index j) {
        if (std::abs(i / side - j / side) > 2 || std::abs(i % side - j % side) > 2) return T(0);
        int sum = 0;
        for (Index const k : {j, j - 1, j + 1, j - side, j + side})
            if (k >= 0 && k < side * side) sum += laplacian(i, k) * laplacian(k, j);
        double const scale = std::pow(2.0, static_cast<double>((i * 5) % 13 + (j * 5) % 13 - 12));
        return T(static_cast<Real<T>>(sum * scale));
    });
}

bool notes_a_shift(Report const& report) {
    return std::ranges::any_of(report.notes, [](std::string const& note) {
        return note.starts_with("the incomplete factors are those of A + ");
    });
}

/// All levels must converge with every method, also if IC(0) breaks down.
void expect_convergence(CscMatrix<double> const& a, std::string const& what, bool breaks_down) {
    for (Index const levels : {0, 1, 2})
        for (auto const method : {RefineMethod::automatic, RefineMethod::cg, RefineMethod::gmres}) {
            Options options = on_threads(2);
            options.refine = method;
            auto const found = run_convergence(a, options, levels);
            EXPECT_EQ(found.report.factorization, Factorization::llh);
            EXPECT_EQ(found.refine.status, Status::ok)
                << what << ", levels " << levels << " " << to_string(method);
            EXPECT_LE(found.backward_error, 1e-12);
            EXPECT_EQ(found.report.incomplete.pivots_shifted, 0);
            EXPECT_TRUE(levels > 0 || breaks_down == (found.report.incomplete.shift > 0)) << what;
            EXPECT_EQ(found.refine.method, method == RefineMethod::automatic ? RefineMethod::cg : method);
            EXPECT_EQ(notes_a_shift(found.report), found.report.incomplete.shift > 0);
        }
}

TEST(IncompleteBreakdown, OfAThinPlateIsCuredByAShift) {
    expect_convergence(thin_plate<double>(24), "thin plate", true);
}

TEST(IncompleteBreakdown, OfLongElementsIsCuredByAShift) {
    for (double const width : {30.0, 0.03})
        expect_convergence(plate_of_elements<double>(12, 12, width, 0.3),
                           "elements of width " + std::to_string(width), width > 1);
}

TEST(IncompleteBreakdown, IsReportedWithTheLargestShiftOfAllProcesses) {
    // Only the rows of the last process contain a matrix whose IC(0) breaks down [Kershaw 1978].
    static constexpr int kershaw[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    auto const a = matrix_of<double>(120, Symmetry::symmetric, [](Index i, Index j) {
        return i >= 116 && j >= 116 ? kershaw[i - 116][j - 116] : i == j ? 1 : 0;
    });
    auto const b = random_vector<double>(a.cols, 7);
    run_processes(3, [&](Communicator const& comm) {
        Options options = on_threads(1);
        options.method = SolveMethod::ilu;
        Solver<double> solver(options, comm);
        auto const mine = on_process_0(comm, a);
        solver.factorize(mine);
        auto const refined = solve_and_refine(solver, mine, on_process_0(comm, b));
        EXPECT_EQ(refined.status, Status::ok);
        EXPECT_GT(solver.report().incomplete.shift, 0);
        EXPECT_GT(solver.report().incomplete.restarts, 0);
    });
}

// Pivots are replaced, and nothing is wrong: the direct method solves these systems as well.
TEST(IncompleteBreakdown, SmallPivotsDoNotMakeTheMatrixSingular) {
    auto const a = matrix_from<double>(Symmetry::symmetric, {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}});
    Options options = on_threads(1);
    options.matching = options.scaling = Toggle::off;
    auto const found = run_convergence(a, options, 0);
    EXPECT_GT(found.report.incomplete.pivots_shifted, 0);
    EXPECT_EQ(found.refine.status, Status::ok);
    EXPECT_FALSE(found.report.factor.numerically_singular);
    // The inverse has entries of 1e15, so solutions grow as for a singular matrix.
    auto const growing = matrix_from<double>(Symmetry::symmetric, {{0, 1e-15, 0}, {1e-15, 0, 0}, {0, 0, 1}});
    auto const large = run_convergence(growing, options, 0);
    EXPECT_GT(large.report.incomplete.pivots_shifted, 0);
    EXPECT_FALSE(large.report.factor.numerically_singular);
    EXPECT_EQ(large.refine.status, Status::ok);
}

TEST(IncompleteMethod, NamesOptionsWithoutEffect) {
    auto const a = generated<double>("lap3d:4");
    auto const note_of = [&](Options options) {
        options.method = SolveMethod::ilu;
        Solver<double> solver(options);
        solver.analyze(a);
        auto const& notes = solver.report().notes;
        auto const found = std::ranges::find_if(
            notes, [](std::string const& note) { return note.find("no effect") != std::string::npos; });
        return found == notes.end() ? std::string() : *found;
    };
    Options options = on_threads(2);
    EXPECT_EQ(note_of(options), "");
    options.splitting = Splitting::two_d;
    EXPECT_EQ(note_of(options), "split 2d has no effect with method ilu");
    options.schedule = SchedulePolicy::automatic;
    options.subtrees_per_worker = 5;
    EXPECT_EQ(note_of(options),
              "schedule auto, split 2d, subtrees-per-worker 5 have no effect with method ilu");
    options = on_threads(2);
    options.max_block_width = 64;
    options.supernodes = Toggle::off;
    options.pivoting = Pivoting::delayed;
    EXPECT_EQ(note_of(options),
              "max-block-width 64, supernodes off, pivoting delayed have no effect with method ilu");
}

} // namespace
} // namespace espalier
