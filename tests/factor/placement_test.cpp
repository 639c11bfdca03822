// The nodes of panels and of the workers that used them, on synthetic machines with known nodes.

#include "factor/placement.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;

constexpr Allocation all_allocations[] = {Allocation::local, Allocation::global, Allocation::interleave};

std::vector<int> nodes_of(std::vector<WorkerPlace> const& places) {
    std::vector<int> nodes;
    for (WorkerPlace const& place : places) nodes.push_back(place.node);
    return nodes;
}

// A matrix, analyzed and planned for the workers of a topology with one worker for each core.
struct PlannedSystem : System<double> {
    PlannedSystem(std::string const& spec, Factorization factorization, Topology machine, int workers)
        : System(real(spec), factorization, workers, {}, narrow_cblks(), machine),
          topology(std::move(machine)) {
        plan = make_factor_plan(structure, CostModel{}, workers, nodes_of(team.places()));
    }

    void factorize(Allocation allocation) {
        factor.allocate({kind}, plan.owner_of_cblk, allocation, team);
        espalier::factorize(matrix, assembly, plan, factor, team, {});
    }
    [[nodiscard]] Placement placement() {
        return measure_placement(factor, plan, plan.factor_schedule.worker_of_task, team, topology);
    }
    [[nodiscard]] int node_of(WorkerId worker) const { return team.places()[worker].node; }
    [[nodiscard]] double panel_bytes() const {
        double bytes = 0;
        for (CblkId k = 0; k < structure.num_cblks(); ++k)
            bytes += static_cast<double>(factor.panel(k).size());
        return bytes;
    }
    [[nodiscard]] std::vector<double> coefficients() const {
        std::vector<double> all;
        for (CblkId k = 0; k < structure.num_cblks(); ++k) {
            auto const panel = factor.panel(k);
            auto const* const first = reinterpret_cast<double const*>(panel.data());
            all.insert(all.end(), first, first + panel.size() / sizeof(double));
        }
        return all;
    }

    Topology topology;
};

PlannedSystem four_nodes(std::string const& spec = "lap3d:9", Factorization kind = Factorization::llh) {
    return {spec, kind, Topology::synthetic("numa:4 core:2"), 8};
}

double sum(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

// The bytes that a task touches in each panel, counted blok by blok as placement.hpp defines them.
std::map<CblkId, double> bytes_of_task(PlannedSystem const& run, FactorTask const& task) {
    BlockStructure const& s = run.structure;
    std::map<CblkId, double> bytes;
    if (task.target == no_cblk) {
        Branch const& branch = run.plan.partition.branches[task.source];
        for (CblkId k = branch.first; k <= branch.root; ++k) {
            Index const rows =
                s.cblk(k).stride + (run.factor.form().has_upper() ? s.cblk(k).rows_below() : 0);
            bytes[k] = static_cast<double>(rows * s.cblk(k).width()) * sizeof(double);
        }
        return bytes;
    }
    std::map<CblkId, std::pair<Index, Index>>
        read; // of each source: its first row, and columns of the target
    for (Offset f = task.first_facing; f < task.end_facing; ++f) {
        BlokId const b = s.facing[f];
        Blok const& blok = s.bloks[b];
        auto& [row, columns] = read.try_emplace(s.owner_of_blok[b], blok.panel_row, 0).first->second;
        row = std::min(row, blok.panel_row);
        columns += blok.height();
    }
    double const sides = run.factor.form().has_upper() ? 2 : 1;
    for (auto const& [k, rows] : read) {
        Cblk const& source = run.factor.cblk(k);
        auto const height = static_cast<double>(source.stride - rows.first);
        bytes[k] += height * static_cast<double>(source.width()) * sizeof(double) * sides;
        bytes[task.target] += height * static_cast<double>(rows.second) * sizeof(double) * sides;
    }
    return bytes;
}

void expect_local_placement(PlannedSystem& run) {
    Placement const placement = run.placement();
    std::vector<double> node_bytes(4, 0.0), all(8, 0.0), local(8, 0.0), shares;
    for (CblkId k = 0; k < run.structure.num_cblks(); ++k)
        node_bytes[run.node_of(run.plan.owner_of_cblk[k])] += static_cast<double>(run.factor.panel(k).size());
    EXPECT_EQ(placement.node_bytes, node_bytes);
    for (std::size_t t = 0; t < run.plan.factor.tasks.size(); ++t) {
        WorkerId const worker = run.plan.factor_schedule.worker_of_task[t];
        double task_all = 0, task_local = 0;
        for (auto const& [k, bytes] : bytes_of_task(run, run.plan.factor.tasks[t])) {
            task_all += bytes;
            if (run.node_of(run.plan.owner_of_cblk[k]) == run.node_of(worker)) task_local += bytes;
        }
        all[worker] += task_all;
        local[worker] += task_local;
        shares.push_back(task_local / task_all);
    }
    EXPECT_NEAR(placement.local_share, sum(local) / sum(all), 1e-6);
    for (std::size_t w = 0; w < 8; ++w)
        EXPECT_NEAR(placement.local_share_of_worker[w], all[w] > 0 ? local[w] / all[w] : -1, 1e-6) << w;
    std::sort(shares.begin(), shares.end());
    EXPECT_NEAR(placement.smallest_share, shares.front(), 1e-6);
    EXPECT_NEAR(placement.median_share, shares[shares.size() / 2], 1e-6);
}

TEST(Placement, IsThatOfTheOwnersForLocalPanels) {
    auto cholesky = four_nodes();
    cholesky.factorize(Allocation::local);
    expect_local_placement(cholesky);
    auto unsymmetric = four_nodes("convdiff3d:7", Factorization::lu);
    unsymmetric.factorize(Allocation::local);
    expect_local_placement(unsymmetric);
}

TEST(Placement, IsNodeZeroForAGlobalArray) {
    auto run = four_nodes();
    run.factorize(Allocation::global);
    Placement const placement = run.placement();
    EXPECT_EQ(placement.node_bytes, (std::vector<double>{run.panel_bytes(), 0, 0, 0}));
    for (WorkerId w = 0; w < 8; ++w) {
        bool const idle = run.plan.factor_schedule.lists[w].empty();
        EXPECT_EQ(placement.local_share_of_worker[w], idle ? -1 : run.node_of(w) == 0 ? 1 : 0);
    }
    EXPECT_GT(placement.local_share, 0);
    EXPECT_LT(placement.local_share, 1);
    EXPECT_EQ(placement.smallest_share, 0);
}

TEST(Placement, CyclesThroughTheNodesForInterleavedPages) {
    auto run = four_nodes("lap3d:12");
    run.factorize(Allocation::interleave);
    Placement const placement = run.placement();
    std::vector<double> expected(4, 0.0);
    std::size_t pages = 0; // pages of the arenas before
    for (WorkerId w = 0; w < 8; ++w) {
        Arena const& arena = run.factor.arena_of(w);
        for (CblkId const k : run.factor.owned_by(w)) {
            auto const panel = run.factor.panel(k);
            for (std::size_t i = 0; i < panel.size(); i += 8)
                expected[(pages +
                          static_cast<std::size_t>(panel.data() + i - arena.data()) / arena.page_bytes()) %
                         4] += 8;
        }
        pages += (arena.size() + arena.page_bytes() - 1) / arena.page_bytes();
    }
    EXPECT_EQ(placement.node_bytes, expected);
    EXPECT_NEAR(placement.local_share, 0.25, 0.1);
}

TEST(Placement, FollowsTheWorkersThatRanTheTasks) {
    auto run = four_nodes();
    auto const share_on = [&](WorkerId worker) {
        std::vector<WorkerId> const everything(run.plan.factor.tasks.size(), worker);
        return measure_placement(run.factor, run.plan, everything, run.team, run.topology);
    };
    run.factorize(Allocation::global);
    EXPECT_EQ(share_on(1).local_share, 1);
    EXPECT_EQ(share_on(7).local_share, 0);
    EXPECT_EQ(share_on(7).local_share_of_worker, (std::vector<double>{-1, -1, -1, -1, -1, -1, -1, 0}));
    run.factorize(Allocation::local);
    double total = 0;
    // one worker of each node
    for (WorkerId const worker : {0, 2, 4, 6}) total += share_on(worker).local_share;
    EXPECT_NEAR(total, 1, 1e-6);
}

TEST(Placement, ReadsRealPagesBack) {
    PlannedSystem run("lap3d:12", Factorization::llh, Topology::detect(), 2);
    for (Allocation const allocation : all_allocations) {
        run.factorize(allocation);
        Placement const placement = run.placement();
        if (placement.node_bytes.empty()) GTEST_SKIP() << "the system does not report the nodes of pages";
        EXPECT_NEAR(sum(placement.node_bytes), run.panel_bytes(), 1);
        EXPECT_EQ(placement.local_share_of_worker.size(), 2u);
        EXPECT_GE(placement.local_share, 0);
        if (placement.node_bytes.size() == 1) {
            EXPECT_EQ(placement.local_share, 1);
        }
    }
}

TEST(Placement, IsUnknownWithoutPanels) {
    BlockStructure const empty;
    Factor<double> factor(empty);
    Topology const topology = Topology::synthetic("numa:2 core:1");
    WorkerTeam team(topology, 2);
    factor.allocate({}, {}, Allocation::local, team);
    Placement const placement = measure_placement(factor, FactorPlan{}, {}, team, topology);
    EXPECT_EQ(placement.local_share, -1);
    EXPECT_TRUE(placement.node_bytes.empty());
}

TEST(Allocation, ChangesPlacesButNotNumbers) {
    for (Factorization const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu}) {
        auto run = four_nodes("lap3d:7", kind);
        run.factorize(Allocation::local);
        auto const expected = run.coefficients();
        // Each allocation follows each other one, and is used twice in a row: with new memory, and with kept
        // memory.
        for (Allocation const allocation :
             {Allocation::global, Allocation::global, Allocation::interleave, Allocation::interleave,
              Allocation::global, Allocation::local, Allocation::local, Allocation::interleave}) {
            run.factorize(allocation);
            EXPECT_EQ(run.factor.allocation(), allocation);
            EXPECT_EQ(run.factor.arena_of(0).allocation(), allocation);
            EXPECT_TRUE(run.coefficients() == expected) << to_string(allocation);
        }
    }
}

TEST(Allocation, KeepsMemoryOnlyForTheSameAllocation) {
    auto run = four_nodes();
    for (Allocation const allocation : all_allocations) {
        run.factorize(allocation);
        auto const* const first = run.factor.arena_of(0).data();
        run.factorize(allocation);
        EXPECT_EQ(run.factor.arena_of(0).data(), first) << to_string(allocation);
    }
    EXPECT_NE(run.factor.arena_of(0).data(), run.factor.arena_of(7).data());
    run.factorize(Allocation::global);
    EXPECT_EQ(run.factor.arena_of(0).data(), run.factor.arena_of(7).data());
}

TEST(Allocation, GlobalIsTouchedAtOnceAndLocalByItsOwners) {
    auto run = four_nodes();
    run.factor = Factor<double>(run.structure, 0); // in new pages
    auto const untouched = [&](WorkerId w) {
        auto const bytes = run.factor.arena_of(w).bytes();
        auto const location = query_nodes(bytes);
        return location.unknown_bytes > 0
                   ? -1.0
                   : static_cast<double>(location.untouched_bytes) / static_cast<double>(bytes.size());
    };
    run.factor.allocate({run.kind}, run.plan.owner_of_cblk, Allocation::global, run.team);
    if (untouched(0) < 0) GTEST_SKIP() << "the system does not report the nodes of pages";
    EXPECT_EQ(untouched(0), 0);
    run.factor.allocate({run.kind}, run.plan.owner_of_cblk, Allocation::local, run.team);
    auto const& owners = run.plan.owner_of_cblk;
    WorkerId const owner = owners.front();
    auto const another = std::ranges::find_if(owners, [&](WorkerId w) { return w != owner; });
    ASSERT_NE(another, owners.end());
    WorkerId const other = *another;
    EXPECT_EQ(untouched(owner), 1);
    run.factor.clear_owned(owner);
    EXPECT_EQ(untouched(owner), 0);
    EXPECT_EQ(untouched(other), 1);
}

TEST(Allocation, CanBeCancelledForAGlobalArray) {
    auto run = four_nodes();
    run.factor = Factor<double>(run.structure, 0); // in new pages, which are touched
    Interrupt interrupt;
    interrupt.request();
    EXPECT_EQ(status_of([&] {
                  run.factor.allocate({run.kind}, run.plan.owner_of_cblk, Allocation::global, run.team,
                                      &interrupt);
              }),
              Status::cancelled);
    run.factorize(Allocation::global);
    auto const after = run.coefficients();
    run.factorize(Allocation::local);
    EXPECT_TRUE(run.coefficients() == after);
}

TEST(FactorPlan, UsesTheNodesOfItsWorkers) {
    System<double> const system(real("lap3d:6"), Factorization::llh, 1);
    auto const lists = [&](std::vector<int> const& nodes) {
        return make_factor_plan(system.structure, CostModel{}, 4, nodes).factor_schedule.lists;
    };
    EXPECT_EQ(lists({}), lists({0, 0, 0, 0}));
    EXPECT_THROW(lists({0, 1}), Error);
}

} // namespace
} // namespace espalier
