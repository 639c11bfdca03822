// Factors with delayed columns on several processes. Pivots, inertia, determinants, solves, condensation and
// expansion are compared with dense elimination and eigenvalues. Columns move between processes, some several
// times.
#include <atomic>
#include <map>
#include <mutex>

#include "comm/collective.hpp"
#include "comm/thread_processes.hpp"
#include "common/eigenvalues.hpp"
#include "common/kkt.hpp"
#include "core/status_of.hpp"
#include "factor/deal_plan.hpp"
#include "factor/pivots.hpp"
#include "factor/schur.hpp"
#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

// A matrix and its plans for several processes.
template <class T> struct DealtSystem : System<T> {
    DealtSystem(CscMatrix<T> const& a, Factorization factorization, int processes,
                std::vector<Index> schur = {})
        : System<T>(a, factorization, 1, std::move(schur)) {
        MachineModel machine;
        machine.processes = processes;
        machine.threads = 2;
        ScheduleOptions options;
        options.format = {sizeof(T), factorization == Factorization::lu};
        options.sweep_entries = 24;
        plans = make_process_plans(this->structure, CostModel{}, machine, options);
    }
    ProcessPlans plans;
};

// The part of one process.
template <class T> struct PartOfProcess {
    PartOfProcess(DealtSystem<T> const& system, Communicator const& on)
        : comm(on), messaging{on, {}}, part(deal_plans(on, on.rank() == 0 ? system.plans : ProcessPlans{})),
          team(Topology::detect(), 2), factor(part.structure) {
        std::vector<Offset> sources;
        assembly = system.assembly.part_of(system.plans.process_of_cblk, on.rank(), sources);
        assembly.add_ghosts(part.plan.owner_of_cblk);
        for (Offset const at : sources) values.push_back(system.matrix.values[at]);
        factor.allocate({system.kind}, part.plan.owner_of_cblk, Allocation::local, team);
    }

    FactorizeStats factorize(FactorizeOptions options) {
        options.messaging = &messaging;
        return espalier::factorize<T>(values, assembly, part.plan, factor, team, options);
    }
    [[nodiscard]] Index arrived() const { return factor.num_numbers() - part.structure.n; }
    [[nodiscard]] SolveOptions with(MatrixOp op) const { return {op, nullptr, &messaging}; }
    MatrixView<T> view(std::vector<T>& x) const {
        Index const rows = part.structure.vector_rows();
        return {x.data(), rows, std::ssize(x) / rows, rows};
    }
    // The rows of vectors that this process owns.
    [[nodiscard]] std::vector<T> own(std::vector<T> const& all, Index n) const {
        std::vector<T> rows;
        for (Index first = 0; first < std::ssize(all); first += n)
            for (Index const i : part.structure.unknowns) rows.push_back(all[first + i]);
        return rows;
    }

    Communicator comm;
    Messaging messaging;
    ProcessPart part;
    WorkerTeam team;
    Factor<T> factor;
    AssemblyMap assembly;
    std::vector<T> values;
};

Index total(Communicator const& comm, Index value) {
    std::int64_t all[] = {value};
    sum(comm, std::span<std::int64_t>(all));
    return all[0];
}

template <class T> class DelayedProcessesTyped : public ::testing::Test {};
TYPED_TEST_SUITE(DelayedProcessesTyped, Scalars);

TYPED_TEST(DelayedProcessesTyped, SolvesWithEveryOperator) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots)
        for (int const processes : {2, 3, 4}) {
            auto const a = kkt_system<T>(symmetry_for<T>(kind), 120, 50, static_cast<unsigned>(processes));
            DealtSystem<T> const system(a, kind, processes);
            std::atomic<Index> arrived = 0;
            run_processes(processes, [&](Communicator const& comm) {
                PartOfProcess<T> mine(system, comm);
                auto const stats = mine.factorize(delaying<T>());
                EXPECT_EQ(stats.pivots_replaced, 0);
                arrived += mine.arrived();
                for (MatrixOp const op : all_ops)
                    for (Index const nrhs : {1, 3}) {
                        auto const solution = random_vector<T>(a.cols * nrhs, 2);
                        auto x = mine.own(product(to_dense(a, op), solution), a.cols), halves = x;
                        solve<T>(mine.factor, mine.part.plan, mine.view(x), mine.team, mine.with(op));
                        auto const what =
                            fmt::format("{} {} {} {}", to_string(kind), to_string(op), nrhs, processes);
                        EXPECT_LE(difference(x, mine.own(solution, a.cols)), 1e6 * epsilon<T>) << what;
                        condense<T>(mine.factor, mine.part.plan, mine.view(halves), mine.team, mine.with(op));
                        expand<T>(mine.factor, mine.part.plan, mine.view(halves), mine.team, mine.with(op));
                        EXPECT_EQ(halves, x) << what;
                    }
            });
            EXPECT_GT(arrived, 0) << to_string(kind) << " " << processes;
        }
}

TYPED_TEST(DelayedProcessesTyped, DeterminantIsThatOfDenseElimination) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots)
        for (int const processes : {2, 3, 4}) {
            auto const a =
                kkt_system<T>(symmetry_for<T>(kind), 100, 40, static_cast<unsigned>(processes) + 13);
            DealtSystem<T> const system(a, kind, processes);
            auto const unit = unit_vectors<T>(a.cols);
            std::mutex mutex;
            DeterminantProduct found;
            double error = 0;
            run_processes(processes, [&](Communicator const& comm) {
                PartOfProcess<T> mine(system, comm);
                mine.factorize(delaying<T>());
                auto x = mine.own(to_dense(a).values, a.cols);
                solve<T>(mine.factor, mine.part.plan, mine.view(x), mine.team, mine.with(MatrixOp::none));
                double const norms =
                    determinant_error(x, mine.own(unit, a.cols), a.cols,
                                      [&](std::span<double> squares) { sum(comm, squares); });
                std::lock_guard const lock(mutex);
                found.multiply(pivot_product(mine.factor));
                error = norms;
            });
            auto const what = fmt::format("{} {}", to_string(kind), processes);
            EXPECT_TRUE(expect_close_determinants<T>(found.result<std::complex<double>>(),
                                                     dense_determinant(a), error, what))
                << what << " is ill-conditioned";
        }
}

template <class T> void expect_exact_inertia(CscMatrix<T> const& a, Factorization kind, int processes) {
    Index positive = 0, negative = 0;
    for (double const value : eigenvalues(to_dense<std::complex<double>>(a).values, static_cast<int>(a.cols)))
        ++(value > 0 ? positive : negative);
    DealtSystem<T> const system(a, kind, processes);
    run_processes(processes, [&](Communicator const& comm) {
        PartOfProcess<T> mine(system, comm);
        auto const stats = mine.factorize(delaying<T>());
        EXPECT_EQ(total(comm, stats.pivots_replaced), 0);
        EXPECT_EQ(total(comm, stats.negative_pivots), negative);
        auto const signs = pivot_signs(mine.factor);
        EXPECT_EQ(total(comm, signs.positive), positive);
        EXPECT_EQ(total(comm, signs.negative), negative);
        EXPECT_EQ(total(comm, signs.zero), 0);
    });
}

TEST(DelayedProcesses, InertiaIsThatOfTheEigenvalues) {
    for (int const processes : {2, 3, 4}) {
        for (unsigned const seed : {1U, 2U, 3U}) {
            expect_exact_inertia(kkt_system<double>(Symmetry::symmetric, 150, 60, seed), Factorization::ldlt,
                                 processes);
            expect_exact_inertia(kkt_system<float>(Symmetry::symmetric, 100, 40, seed), Factorization::ldlh,
                                 processes);
            expect_exact_inertia(kkt_system<std::complex<double>>(Symmetry::hermitian, 100, 40, seed),
                                 Factorization::ldlh, processes);
        }
        expect_exact_inertia(real("saddle3d:3"), Factorization::ldlt, processes);
    }
}

// Sets the diagonal to zero, so that most columns are delayed by several levels.
template <class T> CscMatrix<T> without_diagonal(CscMatrix<T> a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
            if (a.row_ind[p] == j) a.values[p] = T(0);
    return a;
}

TEST(DelayedProcesses, ColumnsCrossSeveralProcesses) {
    Index most = 0;
    for (Factorization const kind : factorizations_with_pivots)
        for (int const processes : {3, 4})
            for (unsigned const seed : {1U, 2U, 3U}) {
                auto const a =
                    without_diagonal(kkt_system<double>(symmetry_for<double>(kind), 160, 70, seed));
                DealtSystem<double> const system(a, kind, processes);
                std::mutex mutex;
                std::map<Index, Index> crossings; // of each unknown
                run_processes(processes, [&](Communicator const& comm) {
                    PartOfProcess<double> mine(system, comm);
                    EXPECT_EQ(mine.factorize(delaying<double>()).pivots_replaced, 0);
                    auto const solution = random_vector<double>(a.cols, 2);
                    auto x = mine.own(product(to_dense(a), solution), a.cols);
                    solve<double>(mine.factor, mine.part.plan, mine.view(x), mine.team,
                                  mine.with(MatrixOp::none));
                    EXPECT_LE(difference(x, mine.own(solution, a.cols)), 1e-7);
                    std::lock_guard const lock(mutex);
                    for (Index i = 0; i < mine.arrived(); ++i)
                        ++crossings[mine.factor.unknown_of(mine.part.structure.n + i)];
                });
                for (auto const& [unknown, count] : crossings) most = std::max(most, count);
            }
    EXPECT_GE(most, 2);
}

TEST(DelayedProcesses, SchurComplementsAreThoseOfDenseElimination) {
    std::vector<Index> const schur{3, 50, 51, 77, 100};
    for (auto const kind : factorizations_with_pivots)
        for (int const processes : {2, 3}) {
            auto const a = kkt_system<double>(symmetry_for<double>(kind), 100, 30, 3);
            auto reference = dense(a, interior_then(schur, a.cols));
            Index const interior = a.cols - std::ssize(schur);
            eliminate(reference, interior);
            DealtSystem<double> const system(a, kind, processes, schur);
            std::atomic<Index> arrived = 0;
            run_processes(processes, [&](Communicator const& comm) {
                PartOfProcess<double> mine(system, comm);
                EXPECT_EQ(mine.factorize(delaying<double>()).pivots_replaced, 0);
                arrived += mine.arrived();
                if (comm.rank() == 0) {
                    auto const s = schur_complement(mine.factor, schur);
                    for (Index j = 0; j < std::ssize(schur); ++j)
                        for (Index i = 0; i < std::ssize(schur); ++i)
                            EXPECT_NEAR(s.column(j)[i], reference(interior + i, interior + j), 1e-9);
                }
                // Given the solution in the kept rows, expand() computes the other unknowns.
                auto const solution = random_vector<double>(a.cols, 2);
                for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose}) {
                    auto const expected = mine.own(solution, a.cols);
                    auto x = mine.own(product(to_dense(a, op), solution), a.cols);
                    condense<double>(mine.factor, mine.part.plan, mine.view(x), mine.team, mine.with(op));
                    for (std::size_t i = 0; i < x.size(); ++i)
                        if (std::ranges::find(schur, mine.part.structure.unknowns[i]) != schur.end())
                            x[i] = expected[i];
                    expand<double>(mine.factor, mine.part.plan, mine.view(x), mine.team, mine.with(op));
                    EXPECT_LE(difference(x, expected), 1e-9) << to_string(kind) << " " << to_string(op);
                }
            });
            EXPECT_GT(arrived, 0) << to_string(kind) << " " << processes;
        }
}

// The matrix repeats a row and column, so its rank is n - 1.
TEST(DelayedProcesses, OnlyPivotsOfSingularMatricesAreReplaced) {
    for (auto const kind : factorizations_with_pivots)
        for (int const processes : {2, 3}) {
            auto const nonsingular = kkt_system<double>(symmetry_for<double>(kind), 60, 20, 5);
            Index const n = nonsingular.cols;
            auto const whole = to_dense(nonsingular);
            auto const number = [n](Index i) { return i == n ? 0 : i; };
            auto const a = matrix_of(n + 1, nonsingular.symmetry,
                                     [&](Index i, Index j) { return whole(number(i), number(j)); });
            DealtSystem<double> const system(a, kind, processes);
            run_processes(processes, [&](Communicator const& comm) {
                PartOfProcess<double> mine(system, comm);
                auto options = delaying<double>();
                options.pivot_threshold = 1e-13;
                EXPECT_EQ(total(comm, mine.factorize(options).pivots_replaced), 1) << to_string(kind);
                if (kind == Factorization::lu) return;
                EXPECT_EQ(total(comm, pivot_signs(mine.factor).zero), 1);
            });
        }
}

// One row and column has tiny entries whose squares underflow to zero. Its pivot is zero, and is delayed up
// to the root.
TEST(DelayedProcesses, AnErrorNamesTheUnknownOfAZeroPivot) {
    for (int const processes : {2, 3, 4})
        for (unsigned const seed : {1U, 2U, 3U}) {
            auto const nonsingular = kkt_system<double>(Symmetry::symmetric, 120, 40, seed);
            Index const n = nonsingular.cols;
            auto const whole = to_dense(nonsingular);
            auto const a = matrix_of(n + 1, Symmetry::symmetric, [&](Index i, Index j) -> double {
                return i == n ? (j < 2 ? 1e-300 : 0) : whole(i, j);
            });
            DealtSystem<double> const system(a, Factorization::ldlt, processes);
            run_processes(processes, [&](Communicator const& comm) {
                PartOfProcess<double> mine(system, comm);
                auto options = delaying<double>();
                options.pivot_threshold = 0;
                EXPECT_TRUE(throws_error(Status::singular, fmt::format("row and column {} ", n + 1),
                                         [&] { mine.factorize(options); }));
            });
        }
}

TEST(DelayedProcesses, RepeatedFactorizationsHaveTheSameBits) {
    auto const a = kkt_system<double>(Symmetry::general, 160, 60, 7);
    DealtSystem<double> const system(a, Factorization::lu, 3);
    run_processes(3, [&](Communicator const& comm) {
        PartOfProcess<double> one(system, comm), two(system, comm);
        one.factorize(delaying<double>());
        two.factorize(delaying<double>());
        two.factorize(delaying<double>()); // the second time in the memory of the first
        for (CblkId k = 0; k < one.part.structure.num_cblks(); ++k) {
            if (!one.factor.has_panel(k)) continue;
            auto const p = one.factor.below(k), q = two.factor.below(k);
            ASSERT_EQ(p.cols, q.cols);
            for (Index j = 0; j < p.cols; ++j)
                ASSERT_TRUE(std::equal(p.column(j), p.column(j) + p.rows, q.column(j))) << "cblk " << k;
        }
    });
}

TEST(DelayedProcesses, WithoutDelaysMessagesAndBitsAreThoseOfStaticPivots) {
    for (auto const kind : factorizations_with_pivots) {
        DealtSystem<double> const system(real("elast3d:4"), kind, 3);
        run_processes(3, [&](Communicator const& comm) {
            PartOfProcess<double> one(system, comm), two(system, comm);
            FactorizeOptions fixed;
            fixed.pivot_threshold = 1e-8;
            auto const expected = one.factorize(fixed), found = two.factorize(delaying<double>());
            EXPECT_EQ(found.pivots_delayed, 0);
            EXPECT_EQ(found.exchange.bytes_sent, expected.exchange.bytes_sent);
            EXPECT_EQ(found.exchange.messages_sent, expected.exchange.messages_sent);
            for (CblkId k = 0; k < one.part.structure.num_cblks(); ++k) {
                if (!one.factor.has_panel(k)) continue;
                auto const p = one.factor.lower(k), q = two.factor.lower(k);
                for (Index j = 0; j < p.cols; ++j)
                    ASSERT_TRUE(std::equal(p.column(j) + j, p.column(j) + p.rows, q.column(j) + j));
            }
        });
    }
}

// The limit applies to each process. A process that exceeds it ends the run on all processes.
TEST(DelayedProcesses, MemoryIsBounded) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 150, 60, 1);
    DealtSystem<double> const system(a, Factorization::ldlt, 3);
    run_processes(3, [&](Communicator const& comm) {
        PartOfProcess<double> mine(system, comm);
        auto options = delaying<double>();
        std::int64_t most[] = {static_cast<std::int64_t>(mine.factorize(options).delayed_bytes)};
        EXPECT_GT(total(comm, most[0]), most[0]);
        max(comm, std::span<std::int64_t>(most));
        options.delays->most_bytes = static_cast<std::uint64_t>(most[0]) - 1;
        EXPECT_EQ(status_of([&] { mine.factorize(options); }), Status::out_of_memory);
        // received columns count as well
        options.delays->most_bytes = static_cast<std::uint64_t>(3 * most[0]);
        EXPECT_EQ(mine.factorize(options).pivots_replaced, 0);
    });
}

} // namespace
} // namespace espalier
