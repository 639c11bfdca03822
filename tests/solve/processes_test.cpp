#include <atomic>

#include "comm/thread_processes.hpp"
#include "core/pack.hpp"
#include "factor/deal_plan.hpp"
#include "factor/support.hpp"
#include "simulation/pack_plan.hpp"
#include "solve/solve.hpp"
#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

// A matrix for llh and its plans for several processes.
struct PlannedSystem : System<double> {
    PlannedSystem(CscMatrix<double> const& a, int processes, ScheduleOptions const& options = {})
        : System(a, Factorization::llh, 1, {}, narrow_cblks(), Topology::detect(), OrderingMethod::scotch) {
        MachineModel machine;
        machine.processes = processes;
        machine.threads = 2;
        plans = make_process_plans(structure, CostModel{}, machine, options);
    }
    ProcessPlans plans;
};

TEST(ProcessSolve, RefusesVectorsOfAnotherLengthOnAllProcesses) {
    PlannedSystem const system(real("lap2d:8"), 2);
    run_processes(2, [&](Communicator const& comm) {
        Messaging const messaging{comm, {}};
        ProcessPart const part = deal_plans(comm, comm.rank() == 0 ? system.plans : ProcessPlans{});
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

// The tasks for groups of rows wait for sums and solutions of other processes.
TEST(ProcessSolve, GivesTheSolutionWithGroupsOfRows) {
    auto const a = real("lap3d:7");
    for (SchedulePolicy const policy : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree})
        for (int const processes : {2, 3}) {
            ScheduleOptions options;
            options.schedule = policy;
            options.sweep_entries = 24;
            PlannedSystem system(a, processes, options);
            system.factorize();
            auto const expected = random_vector<double>(2 * a.cols, 4);
            auto const b = product(to_dense(a), expected);
            std::atomic<Index> groups = 0;
            run_processes(processes, [&](Communicator const& comm) {
                Messaging const messaging{comm, {}};
                ProcessPart const part = deal_plans(comm, comm.rank() == 0 ? system.plans : ProcessPlans{});
                WorkerTeam team(Topology::detect(), 2);
                Factor<double> factor(part.structure);
                factor.allocate({Factorization::llh}, part.plan.owner_of_cblk, Allocation::local, team);
                for (CblkId k = 0; k < part.structure.num_cblks(); ++k)
                    if (part.plan.is_own(k)) {
                        auto const from = system.factor.lower(part.structure.number_of(k)),
                                   to = factor.lower(k);
                        for (Index j = 0; j < from.cols; ++j)
                            std::copy_n(from.column(j), from.rows, to.column(j));
                    }
                Index const rows = part.structure.vector_rows();
                std::vector<double> x;
                for (Index column = 0; column < 2; ++column)
                    for (Index const i : part.structure.unknowns) x.push_back(b[i + column * a.cols]);
                solve<double>(factor, part.plan, {x.data(), rows, 2, rows}, team,
                              {MatrixOp::none, nullptr, &messaging});
                for (Index column = 0; column < 2; ++column)
                    for (Index l = 0; l < rows; ++l)
                        EXPECT_NEAR(x[l + column * rows],
                                    expected[part.structure.unknowns[l] + column * a.cols], 1e-12);
                groups +=
                    std::ranges::count(part.plan.solve.tasks, SolveTaskKind::backward_rows, &SolveTask::kind);
            });
            EXPECT_GT(groups, 5);
        }
}

// Maximum over the processes of the bytes of structure and plan.
double largest_part(CscMatrix<double> const& a, int processes) {
    PlannedSystem system(a, processes);
    std::size_t largest = 0;
    for (int p = 0; p < processes; ++p) {
        Packer packer;
        packer(system.plans.of_process[p], processes == 1 ? system.structure : system.plans.structures[p]);
        largest = std::max(largest, packer.take().size());
    }
    return static_cast<double>(largest);
}

TEST(ProcessPlans, StructureAndPlanOfAProcessShrinkWithTheNumberOfProcesses) {
    auto const a = real("lap3d:16");
    double const whole = largest_part(a, 1);
    EXPECT_LT(largest_part(a, 2), 0.75 * whole);
    EXPECT_LT(largest_part(a, 4), 0.5 * whole);
    EXPECT_LT(largest_part(a, 8), 0.35 * whole);
}

} // namespace
} // namespace espalier
