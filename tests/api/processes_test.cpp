// Solvers of several processes, which are threads of the test here: everything a solver does, among 2 to 4 of
// them, against the backward error and against a single process.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "espalier/espalier.hpp"

#include "api/generated.hpp"
#include "comm/thread_processes.hpp"

namespace espalier {
namespace {

using enum SchedulePolicy;

// Narrow blocks and low thresholds, so that small problems have many tasks and messages.
Options many_tasks(SchedulePolicy schedule, Splitting splitting, int threads) {
    Options options;
    options.schedule = schedule;
    options.splitting = splitting;
    options.threads = threads;
    options.bind_threads = false;
    options.max_block_width = 16;
    options.min_block_width = 8;
    options.split_width = 6;
    options.split_rows = 12;
    options.calibration = Toggle::off;
    return options;
}

template <class T> struct Answer {
    std::vector<T> x;
    Report report;
};

// Analyzes, factorizes, solves and refines; the answer of process 0.
template <class T> Answer<T> solve_among(int processes, CscMatrix<T> const& matrix, std::vector<T> const& b,
                                         Index nrhs, Options const& options) {
    Answer<T> answer;
    run_processes(processes, [&](Communicator const& comm) {
        bool const leads = comm.rank() == 0;
        Solver<T> solver(options, comm);
        CscMatrix<T> const nothing;
        CscMatrix<T> const& mine = leads ? matrix : nothing;
        std::vector<T> const right = leads ? b : std::vector<T>();
        solver.analyze(mine);
        solver.factorize(mine);
        std::vector<T> x = solver.solve(right, nrhs);
        RefineReport const refined = solver.refine(mine, right, x, nrhs);
        EXPECT_EQ(x.size(), right.size());
        EXPECT_EQ(solver.report().processes, processes);
        EXPECT_LE(refined.backward_error, 1e3 * static_cast<double>(epsilon<T>));
        if (leads) answer = {x, solver.report()};
    });
    return answer;
}

template <class T> struct Problem {
    char const* spec;
    Factorization kind;
};

template <class T> std::vector<Problem<T>> problems() {
    using enum Factorization;
    if constexpr (is_complex<T>)
        return {{"helmholtz3d:6", ldlt}, {"hermitian3d:6", ldlh}, {"helmholtz3d:6", lu}, {"lap3d:7", llh}};
    else
        return {{"lap3d:8", llh}, {"elast3d:4", ldlt}, {"convdiff3d:6", lu}};
}

template <class T> class Processes : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Processes, Scalars);

TYPED_TEST(Processes, SolveEveryFactorizationUnderEverySchedule) {
    using T = TypeParam;
    int comm_threads = 0;
    for (auto const& [spec, kind] : problems<T>()) {
        CscMatrix<T> matrix = generated<T>(spec);
        if (kind == Factorization::llh && is_complex<T>) matrix.symmetry = Symmetry::hermitian;
        std::vector<T> const b(static_cast<std::size_t>(matrix.rows) * 3, T(1));
        for (SchedulePolicy const schedule : {static_order, dynamic_tree, places, nas})
            for (Splitting const splitting : {Splitting::one_d, Splitting::two_d})
                for (auto const& [processes, threads] : {std::pair{2, 2}, {3, 1}, {4, 2}}) {
                    SCOPED_TRACE(fmt::format("{} {} {} {} {} x {}", spec, to_string(kind),
                                             to_string(schedule), to_string(splitting), processes, threads));
                    Options options = many_tasks(schedule, splitting, threads);
                    options.factorization = kind;
                    options.refine = RefineMethod::none;
                    options.comm_threads = comm_threads++ % 3;
                    Answer<T> const answer = solve_among(processes, matrix, b, 3, options);
                    EXPECT_GT(answer.report.factor.messages, 0);
                }
    }
}

TEST(ProcessesOf, AStaticScheduleGiveTheSameBitsEveryTime) {
    auto const matrix = generated<double>("lap3d:9");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    for (Splitting const splitting : {Splitting::one_d, Splitting::two_d}) {
        Options options = many_tasks(static_order, splitting, 2);
        options.refine = RefineMethod::none;
        auto const first = solve_among(3, matrix, b, 1, options);
        for (int repeat = 0; repeat < 5; ++repeat) {
            options.comm_threads = repeat % 3;
            EXPECT_EQ(solve_among(3, matrix, b, 1, options).x, first.x);
        }
    }
}

TEST(ProcessesOf, AStaticScheduleSendWhatIsPredicted) {
    auto const matrix = generated<double>("convdiff3d:8");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    for (int const processes : {2, 4}) {
        Options const options = many_tasks(static_order, Splitting::one_d, 2);
        Solver<double> alone(options);
        alone.analyze(matrix);
        Prediction const predicted = alone.predict(processes, 2);
        Report const report = solve_among(processes, matrix, b, 1, options).report;
        EXPECT_EQ(report.factor.messages, predicted.messages);
        EXPECT_EQ(static_cast<double>(report.factor.message_bytes), predicted.message_bytes);
    }
}

TEST(ProcessesOf, ASolverAgreeOnInertiaDeterminantConditionAndSchurComplement) {
    auto const matrix = generated<double>("elast3d:3");
    Options options = many_tasks(dynamic_tree, Splitting::one_d, 1);
    options.factorization = Factorization::ldlt;
    Solver<double> alone(options);
    alone.factorize(matrix);
    Inertia const inertia = alone.inertia();
    auto const determinant = alone.determinant();
    double const rcond = alone.reciprocal_condition(matrix);
    Options with_schur = options;
    with_schur.schur = {5, 17, 30, 2};
    Solver<double> condensing(with_schur);
    condensing.factorize(matrix);
    auto const s = condensing.schur_complement();
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    auto const condensed = condensing.condense(b);
    auto const expanded = condensing.expand(b, std::vector<double>{1, 2, 3, 4});
    auto const near = [](std::vector<double> const& one, std::vector<double> const& other) {
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i)
            EXPECT_NEAR(one[i], other[i], 1e-9 * (1 + std::abs(one[i])));
    };
    run_processes(3, [&](Communicator const& comm) {
        bool const leads = comm.rank() == 0;
        CscMatrix<double> const nothing;
        CscMatrix<double> const& mine = leads ? matrix : nothing;
        std::vector<double> const right = leads ? b : std::vector<double>();
        Solver<double> solver(options, comm);
        solver.factorize(mine);
        EXPECT_EQ(solver.inertia(), inertia);
        EXPECT_NEAR(solver.determinant().log_modulus, determinant.log_modulus, 1e-9);
        EXPECT_EQ(solver.determinant().phase, determinant.phase);
        EXPECT_NEAR(solver.reciprocal_condition(mine), rcond, 1e-6 * rcond);
        Solver<double> other(with_schur, comm);
        other.factorize(mine);
        auto const found = other.schur_complement();
        auto const down = other.condense(right);
        auto const up = other.expand(right, leads ? std::vector<double>{1, 2, 3, 4} : std::vector<double>{});
        if (!leads) return;
        near(found.values, s.values);
        near(down, condensed);
        near(up, expanded);
    });
}

TEST(ProcessesOf, ASolverFailAlikeAndGoOn) {
    auto const good = generated<double>("lap3d:7");
    CscMatrix<double> bad = good;
    for (std::size_t p = static_cast<std::size_t>(bad.col_ptr[100]);
         p < static_cast<std::size_t>(bad.col_ptr[101]); ++p)
        if (bad.row_ind[p] == 100) bad.values[p] = -5;
    std::vector<double> const b(static_cast<std::size_t>(good.rows), 1);
    for (int const comm_threads : {0, 1, 2})
        run_processes(3, [&](Communicator const& comm) {
            bool const leads = comm.rank() == 0;
            CscMatrix<double> const nothing;
            Options options = many_tasks(static_order, Splitting::one_d, 2);
            options.factorization = Factorization::llh;
            options.comm_threads = comm_threads;
            Solver<double> solver(options, comm);
            solver.analyze(leads ? good : nothing);
            for (int repeat = 0; repeat < 3; ++repeat) {
                try {
                    solver.factorize(leads ? bad : nothing);
                    ADD_FAILURE() << "rank " << comm.rank();
                } catch (Error const& error) {
                    EXPECT_EQ(error.status(), Status::not_positive_definite);
                    EXPECT_NE(std::string(error.what()).find("row and column 101"), std::string::npos)
                        << error.what();
                }
            }
            EXPECT_THROW(solver.solve(leads ? b : std::vector<double>()), Error);
            solver.factorize(leads ? good : nothing);
            std::vector<double> x = solver.solve(leads ? b : std::vector<double>());
            EXPECT_LE(
                solver.refine(leads ? good : nothing, leads ? b : std::vector<double>(), x).backward_error,
                1e-14);
        });
}

TEST(ProcessesOf, ASolverEndTogetherWhenOneIsCancelled) {
    auto const matrix = generated<double>("lap3d:12");
    run_processes(3, [&](Communicator const& comm) {
        CscMatrix<double> const nothing;
        Options options = many_tasks(dynamic_tree, Splitting::one_d, 1);
        bool asked = false;
        if (comm.rank() == 2) options.cancel = [&] { return asked; };
        Solver<double> solver(options, comm);
        solver.analyze(comm.rank() == 0 ? matrix : nothing);
        asked = true;
        try {
            solver.factorize(comm.rank() == 0 ? matrix : nothing);
            ADD_FAILURE() << "rank " << comm.rank();
        } catch (Error const& error) {
            EXPECT_EQ(error.status(), Status::cancelled) << error.what();
        }
    });
}

TEST(ProcessesOf, ASolverRefuseToBeInDifferentCalls) {
    auto const matrix = generated<double>("lap3d:5");
    run_processes(2, [&](Communicator const& comm) {
        Solver<double> solver(many_tasks(static_order, Splitting::one_d, 1), comm);
        try {
            if (comm.rank() == 0)
                solver.analyze(matrix);
            else
                solver.factorize(matrix);
            ADD_FAILURE();
        } catch (Error const& error) {
            EXPECT_EQ(error.status(), Status::usage);
        }
    });
}

TEST(ProcessesOf, ASolverMayFollow) {
    auto const matrix = generated<double>("lap3d:7");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    run_processes(3, [&](Communicator const& comm) {
        if (comm.rank() > 0) return Solver<double>::follow({}, comm);
        Solver<double> solver(many_tasks(dynamic_tree, Splitting::two_d, 2), comm);
        EXPECT_THROW(solver.solve(b), Error);
        for (int const threads : {2, 1}) {
            Options options = solver.options();
            options.threads = threads;
            solver.set_options(options);
            solver.factorize(matrix);
            std::vector<double> x = solver.solve(b);
            EXPECT_LE(solver.refine(matrix, b, x).backward_error, 1e-14);
            EXPECT_EQ(solver.inertia().positive, matrix.rows);
        }
    });
}

} // namespace
} // namespace espalier
