#include <gtest/gtest.h>

#include "../comm/thread_processes.hpp"
#include "comm/collective.hpp"
#include "core/pack.hpp"
#include "factor/deal_plan.hpp"
#include "generators/generators.hpp"
#include "kernels/blas.hpp"
#include "simulation/pack_plan.hpp"
#include "solve/solve.hpp"
#include "system.hpp"

namespace espalier {
namespace {

using namespace testing;

ProcessPlans plans_for(BlockStructure const& structure, int processes, Factorization kind,
                       std::size_t scalar_bytes, Splitting splitting) {
    MachineModel machine;
    machine.processes = processes;
    machine.threads = 2;
    ScheduleOptions options;
    options.format = {static_cast<std::uint32_t>(scalar_bytes), FactorForm{kind}.has_upper()};
    options.splitting = splitting;
    options.split_width = 8;
    options.split_rows = 10;
    return make_process_plans(structure, CostModel{}, machine, options);
}

// Solves with `processes` processes, each of which has only its own rows. Returns the rows of all.
template <class T> std::vector<T> solve_with(int processes, CscMatrix<T> const& a, Factorization kind,
                                             std::vector<T> const& b, MatrixOp op, Index kept = 0) {
    BlockStructure const structure = Factorized<T>::analyze(a, kept);
    AssemblyMap const whole(a, structure);
    ProcessPlans const plans =
        plans_for(structure, processes, kind, sizeof(T), kept == 0 ? Splitting::two_d : Splitting::one_d);
    Index const columns = std::ssize(b) / structure.n;
    std::vector<T> x(b.size());
    run_processes(processes, [&](Communicator const& comm) {
        Messaging const messaging{comm, {}};
        ProcessPart const part = deal_plans(comm, comm.rank() == 0 ? plans : ProcessPlans{});
        AssemblyPart const assembly = deal_assembly(comm, whole, plans.process_of_cblk, part.plan);
        std::vector<Offset> sources;
        (void)whole.part_of(plans.process_of_cblk, comm.rank(), sources);
        std::vector<T> values;
        for (Offset const at : sources) values.push_back(a.values[at]);
        EXPECT_EQ(assembly.values, std::ssize(values));

        WorkerTeam team(Topology::detect(), 2);
        Factor<T> factor(part.structure);
        factor.allocate({kind}, part.plan.owner_of_cblk, Allocation::local, team);
        factorize<T>(std::span<T const>(values), assembly.map, part.plan, factor, team,
                     {.messaging = &messaging});

        Index const rows = part.structure.vector_rows();
        std::vector<T> mine(rows * columns);
        auto const at = [&](Index i, Index j) { return part.structure.unknowns[i] + j * structure.n; };
        for (Index j = 0; j < columns; ++j)
            for (Index i = 0; i < rows; ++i) mine[i + j * rows] = b[at(i, j)];
        MatrixView<T> const view{mine.data(), rows, columns, std::max<Index>(1, rows)};
        SolveOptions const solving{op, nullptr, &messaging};
        if (kept == 0) {
            solve<T>(factor, part.plan, view, team, solving);
        } else { // with zeros for the kept unknowns
            condense<T>(factor, part.plan, view, team, solving);
            for (Index col = part.structure.first_kept_col(); col < part.structure.n; ++col)
                if (Index const row = part.structure.inverse[col]; row >= 0)
                    for (Index j = 0; j < columns; ++j) mine[row + j * rows] = 0;
            expand<T>(factor, part.plan, view, team, solving);
        }
        for (Index j = 0; j < columns; ++j)
            for (Index i = 0; i < rows; ++i) x[at(i, j)] = mine[i + j * rows];
    });
    return x;
}

template <class T> void expect_solutions(Factorization kind, MatrixOp op) {
    set_blas_threads(1);
    auto const a = random_system<T>(kind, 160, 3);
    auto const b = random_vector<T>(3 * a.cols, 5);
    Factorized<T> const alone(a, kind, 1);
    std::vector<T> expected = b;
    solve<T>(alone.factor, alone.plan, {expected.data(), a.cols, 3, a.cols},
             const_cast<WorkerTeam&>(alone.team), {op});
    for (int const processes : {2, 3, 5}) {
        auto const x = solve_with(processes, a, kind, b, op);
        EXPECT_LT(difference(x, expected), 1e-9) << to_string(kind) << ", " << processes << " processes";
        EXPECT_EQ(x, solve_with(processes, a, kind, b, op)); // the same bits
    }
}

TEST(ProcessSolve, RowsOfEachProcessAreThoseOfOneProcess) {
    expect_solutions<double>(Factorization::llh, MatrixOp::none);
    expect_solutions<double>(Factorization::ldlt, MatrixOp::none);
    expect_solutions<double>(Factorization::lu, MatrixOp::transpose);
    expect_solutions<std::complex<double>>(Factorization::ldlh, MatrixOp::transpose);
    expect_solutions<std::complex<double>>(Factorization::lu, MatrixOp::adjoint);
}

TEST(ProcessSolve, KeptUnknownsStayWithProcessZero) {
    auto const a = random_system<double>(Factorization::ldlt, 120, 8);
    auto const b = random_vector<double>(a.cols, 9);
    auto const one = solve_with(2, a, Factorization::ldlt, b, MatrixOp::none, 6);
    auto const other = solve_with(3, a, Factorization::ldlt, b, MatrixOp::none, 6);
    EXPECT_LT(difference(one, other), 1e-9);
}

TEST(ProcessSolve, RefusesVectorsOfAnotherLengthOnAllProcesses) {
    auto const a = random_system<double>(Factorization::llh, 60, 2);
    BlockStructure const structure = Factorized<double>::analyze(a);
    ProcessPlans const plans = plans_for(structure, 2, Factorization::llh, sizeof(double), Splitting::one_d);
    run_processes(2, [&](Communicator const& comm) {
        Messaging const messaging{comm, {}};
        ProcessPart const part = deal_plans(comm, comm.rank() == 0 ? plans : ProcessPlans{});
        WorkerTeam team(Topology::detect(), 2);
        Factor<double> factor(part.structure);
        factor.allocate({Factorization::llh}, part.plan.owner_of_cblk, Allocation::local, team);
        Index const rows = part.structure.vector_rows() + (comm.rank() == 1 ? 1 : 0);
        std::vector<double> x(rows);
        EXPECT_THROW(solve<double>(factor, part.plan, {x.data(), rows, 1, rows}, team,
                                   {MatrixOp::none, nullptr, &messaging}),
                     Error);
    });
}

// Maximum over the processes of the bytes of structure and plan.
std::size_t largest_part(BlockStructure const& structure, int processes) {
    ProcessPlans plans =
        plans_for(structure, processes, Factorization::llh, sizeof(double), Splitting::one_d);
    std::size_t largest = 0;
    for (int p = 0; p < processes; ++p) {
        Packer packer;
        if (processes == 1)
            packer(plans.of_process[p], structure);
        else
            packer(plans.of_process[p], plans.structures[p]);
        largest = std::max(largest, packer.take().size());
    }
    return largest;
}

TEST(ProcessPlans, StructureAndPlanOfAProcessShrinkWithTheNumberOfProcesses) {
    auto const a = std::get<CscMatrix<double>>(generate_matrix("lap3d:16").matrix);
    BlockStructure const structure = Factorized<double>::analyze(a);
    auto const whole = static_cast<double>(largest_part(structure, 1));
    EXPECT_LT(static_cast<double>(largest_part(structure, 2)), 0.75 * whole);
    EXPECT_LT(static_cast<double>(largest_part(structure, 4)), 0.5 * whole);
    EXPECT_LT(static_cast<double>(largest_part(structure, 8)), 0.35 * whole);
}

} // namespace
} // namespace espalier
