// Tasks of panels that are cut into groups of rows. Each operation is done once, after those whose results it
// reads, and no two tasks write the same rows at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "simulation/schedule.hpp"
#include "structures.hpp"
#include "tasks/diagonal_stages.hpp"

namespace espalier {
namespace {

// before[t][s]: task s is done before task t begins, whatever the schedule.
std::vector<std::vector<bool>> ancestors(TaskGraph const& graph) {
    auto const tasks = static_cast<std::size_t>(graph.num_tasks());
    std::vector<std::vector<bool>> before(tasks, std::vector<bool>(tasks, false));
    for (std::size_t t = 0; t < tasks; ++t) // predecessors come first
        for (TaskId const next : graph.successors_of(static_cast<TaskId>(t))) {
            for (std::size_t s = 0; s < t; ++s)
                if (before[t][s]) before[next][s] = true;
            before[next][t] = true;
        }
    return before;
}

class Checker {
  public:
    Checker(BlockStructure const& structure, Schedule const& schedule, SumOrder order)
        : structure_(structure), schedule_(schedule), order_(order), tasks_(schedule.tasks.tasks),
          before_(ancestors(schedule.tasks.graph)) {}

    /// Pairs of a message and an update of another group of its target that the message does not wait for.
    int overlapped = 0;

    void check() {
        for (std::size_t t = 0; t < tasks_.size(); ++t) check_task(t);
        expect_all_updates();
        expect_exclusion();
        expect_messages_after_their_sums();
    }

  private:
    // A task that writes rows of a panel, or of the fan-in block of a process for it.
    using Place = std::tuple<std::int32_t, CblkId, std::int32_t>;

    [[nodiscard]] CblkId cblk_of(BranchId u) const { return schedule_.partition.branches[u].root; }
    // The task after which these rows of a panel are final.
    [[nodiscard]] std::size_t final_task(CblkId k, BlokId blok) const {
        auto const u = schedule_.partition.branch_of_cblk[k];
        auto const factor = schedule_.tasks.factor_of_branch[u];
        auto const group = schedule_.groups.is_cut(k) ? schedule_.groups.group_of(k, blok) : 0;
        return static_cast<std::size_t>(factor + group);
    }

    void check_task(std::size_t t) {
        FactorTask const& task = tasks_[t];
        if (task.kind == TaskKind::solve) {
            auto const u = static_cast<std::size_t>(task.source);
            EXPECT_EQ(schedule_.tasks.factor_of_branch[u] + task.group, static_cast<TaskId>(t));
            EXPECT_TRUE(before_[t][schedule_.tasks.factor_of_branch[u]]);
        }
        if (task.kind == TaskKind::message || task.kind == TaskKind::factor ||
            task.kind == TaskKind::diagonal || task.kind == TaskKind::solve)
            return;
        EXPECT_EQ(task.group == whole_panel, !schedule_.groups.is_cut(task.target));
        writers_[{task.process, task.target, task.group}].push_back(t);
        auto const owner = schedule_.process_of_cblk[task.target];
        if (task.process == owner) { // then it becomes the panel
            auto const u = schedule_.partition.branch_of_cblk[task.target];
            auto const factor = schedule_.tasks.factor_of_branch[u];
            EXPECT_TRUE(before_[factor + std::max(0, task.group)][t]);
        }
        if (task.kind == TaskKind::update) check_update(t, task);
    }

    void check_update(std::size_t t, FactorTask const& task) {
        for (Offset f = task.first_facing; f < task.end_facing; ++f) {
            BlokId const facing = structure_.facing[f];
            CblkId const k = structure_.owner_of_blok[facing];
            EXPECT_TRUE(before_[t][final_task(k, facing)]);
            for (BlokId b = facing; b < structure_.cblks[k].end_blok; ++b) {
                Blok const& rows = structure_.bloks[b];
                if (task.group != whole_panel) {
                    RowWindow const window = schedule_.groups.window(structure_, task.target, task.group);
                    bool const inside = window.begin <= rows.first_row && rows.end_row <= window.end;
                    bool const outside = rows.end_row <= window.begin || window.end <= rows.first_row;
                    ASSERT_NE(inside, outside); // no blok is cut
                    if (outside) continue;
                }
                EXPECT_TRUE(before_[t][final_task(k, b)]);
                EXPECT_TRUE(done_.emplace(facing, b).second) << "twice";
            }
        }
    }

    void expect_all_updates() {
        std::set<std::pair<BlokId, BlokId>> wanted;
        for (CblkId k = 0; k < structure_.first_kept_cblk; ++k) {
            Cblk const& cblk = structure_.cblks[k];
            for (BlokId a = cblk.first_blok + 1; a < cblk.end_blok; ++a) {
                CblkId const target = structure_.bloks[a].facing_cblk;
                bool const inside =
                    schedule_.partition.branch_of_cblk[k] == schedule_.partition.branch_of_cblk[target];
                for (BlokId b = a; !inside && b < cblk.end_blok; ++b) wanted.emplace(a, b);
            }
        }
        EXPECT_EQ(done_, wanted);
    }

    void expect_exclusion() {
        auto const& resource = schedule_.tasks.graph.resource;
        for (auto const& [place, writers] : writers_)
            for (std::size_t const a : writers)
                for (std::size_t const b : writers) {
                    if (a >= b) continue;
                    bool const excluded = order_ == SumOrder::fixed
                                              ? before_[b][a]
                                              : resource[a] != no_resource && resource[a] == resource[b];
                    EXPECT_TRUE(excluded);
                }
    }

    void expect_messages_after_their_sums() {
        for (std::size_t m = 0; m < tasks_.size(); ++m) {
            if (tasks_[m].kind != TaskKind::message) continue;
            for (auto const& [place, writers] : writers_) {
                auto const [process, target, group] = place;
                if (process != tasks_[m].process || target != tasks_[m].target) continue;
                for (std::size_t const t : writers) {
                    if (group == tasks_[m].group) {
                        EXPECT_TRUE(before_[m][t]);
                    }
                    overlapped += !before_[m][t];
                }
            }
        }
    }

    BlockStructure const& structure_;
    Schedule const& schedule_;
    SumOrder order_;
    std::vector<FactorTask> const& tasks_;
    std::vector<std::vector<bool>> before_;
    std::set<std::pair<BlokId, BlokId>> done_; // facing blok and blok of rows: one product
    std::map<Place, std::vector<std::size_t>> writers_;
};

TEST(TwoD, DoesEveryProductOnceAfterWhatItReadsAndBeforeWhatItMakes) {
    int cut = 0, overlapped = 0;
    for (unsigned seed = 0; seed < 12; ++seed) {
        BlockStructure const structure = random_structure(24 + static_cast<int>(seed) * 3, seed);
        for (auto const& [processes, threads] : {std::pair{1, 4}, std::pair{3, 2}})
            for (auto const kind : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree}) {
                ScheduleOptions options = two_d(8, 30);
                options.schedule = kind;
                Schedule const schedule =
                    simulate_schedule(structure, default_cost_model(Scalar::d, KernelKind::lu),
                                      machine_of(processes, threads), options);
                bool const fixed = kind == SchedulePolicy::static_order;
                Checker checker(structure, schedule, fixed ? SumOrder::fixed : SumOrder::as_they_come);
                checker.check();
                overlapped += checker.overlapped;
                for (CblkId k = 0; k < structure.num_cblks(); ++k) cut += schedule.groups.is_cut(k);
            }
    }
    EXPECT_GT(cut, 100);
    EXPECT_GT(overlapped, 100); // groups are sent before the whole sum is complete
}

TEST(TwoD, GroupsPartTheBloksOfAPanel) {
    for (unsigned seed = 0; seed < 8; ++seed) {
        BlockStructure const structure = random_structure(60, seed);
        Schedule const schedule = simulate_schedule(structure, CostModel{}, machine_of(1, 4), two_d(8, 40));
        RowGroups const& groups = schedule.groups;
        for (CblkId k = 0; k < structure.num_cblks(); ++k) {
            Cblk const& cblk = structure.cblks[k];
            if (!groups.is_cut(k)) continue;
            EXPECT_GE(cblk.width(), 8);
            EXPECT_GE(groups.count(k), 2);
            EXPECT_EQ(groups.first_blok(structure, k, 0), cblk.first_blok);
            EXPECT_EQ(groups.first_blok(structure, k, 1), cblk.first_blok + 1);
            Index rows = 0;
            for (std::int32_t g = 0; g < groups.count(k); ++g) {
                BlokId const first = groups.first_blok(structure, k, g);
                BlokId const end = groups.first_blok(structure, k, g + 1);
                ASSERT_LT(first, end);
                rows += groups.rows(structure, k, g);
                if (g > 0 && g + 1 < groups.count(k)) {
                    EXPECT_GE(groups.rows(structure, k, g), 40);
                }
                for (BlokId b = first; b < end; ++b) EXPECT_EQ(groups.group_of(k, b), g);
                if (g > 0) {
                    EXPECT_NE(structure.bloks[first].facing_cblk, structure.bloks[first - 1].facing_cblk);
                }
            }
            EXPECT_EQ(rows, cblk.stride);
        }
    }
}

TEST(DynamicSplitting, WideDiagonalBlocksHaveStages) {
    for (KernelKind const kind : {KernelKind::cholesky, KernelKind::ldl, KernelKind::lu})
        for (Index const width : {95, 96, 200, 256}) {
            CostModel model = default_cost_model(Scalar::z, kind);
            model.contention = 1.25;
            double sum = 0, shortest = 0;
            auto const stages = diagonal_stages(model, width, 48);
            for (auto const& pieces : stages) {
                EXPECT_GT(*std::ranges::min_element(pieces), 0);
                shortest += *std::ranges::max_element(pieces);
                sum = std::accumulate(pieces.begin(), pieces.end(), sum);
            }
            EXPECT_NEAR(sum, model.panel(width, 0), 1e-12 * sum);
            EXPECT_EQ(stages.size() > 1, width >= 96);
            // Panels of LDL and LU, which choose the pivots, are not divided.
            if (width == 256) {
                EXPECT_LT(shortest, (kind == KernelKind::cholesky ? 0.5 : 0.75) * sum) << to_string(kind);
            }
        }
}

TEST(DynamicSplitting, NarrowDiagonalBlocksHaveStagesToo) {
    for (KernelKind const kind : {KernelKind::cholesky, KernelKind::ldl, KernelKind::lu})
        for (Index const least : {1, 2, 4, 5})
            for (Index width = 1; width <= 40; ++width) {
                CostModel const model = default_cost_model(Scalar::d, kind);
                double sum = 0;
                for (auto const& pieces : diagonal_stages(model, width, least))
                    sum = std::accumulate(pieces.begin(), pieces.end(), sum);
                EXPECT_NEAR(sum, model.panel(width, 0), 1e-12 * sum) << width;
            }
}

TEST(DynamicSplitting, KeepsTheTasksAndOwnersOfOneDimensionAndUsesIdleWorkers) {
    int faster = 0;
    for (unsigned seed = 0; seed < 8; ++seed) {
        BlockStructure const structure = random_structure(60, seed);
        for (int const processes : {1, 3}) {
            ScheduleOptions options = two_d(20, 10);
            options.schedule = SchedulePolicy::dynamic_tree;
            options.split_seconds = 0;
            options.splitting = Splitting::one_d;
            Schedule const whole = simulate_schedule(structure, {}, machine_of(processes, 4), options);
            options.splitting = Splitting::dynamic;
            Schedule const divided = simulate_schedule(structure, {}, machine_of(processes, 4), options);
            EXPECT_EQ(divided.tasks.graph.num_tasks(), whole.tasks.graph.num_tasks());
            EXPECT_EQ(divided.owner_of_cblk, whole.owner_of_cblk);
            EXPECT_EQ(divided.messages(), whole.messages());
            EXPECT_GT(divided.tasks_divided(), 0);
            EXPECT_GE(divided.makespan(), divided.critical_path());
            faster += divided.makespan() < 0.99 * whole.makespan();

            options.split_idle = 4 * processes; // more than can be idle
            Schedule const never = simulate_schedule(structure, {}, machine_of(processes, 4), options);
            EXPECT_EQ(never.tasks_divided(), 0);
            EXPECT_EQ(never.run.end, whole.run.end);

            options.schedule = SchedulePolicy::static_order;
            options.split_idle = 1;
            EXPECT_EQ(simulate_schedule(structure, {}, machine_of(processes, 4), options).tasks_divided(), 0);
        }
    }
    EXPECT_GE(faster, 12);
}

} // namespace
} // namespace espalier
