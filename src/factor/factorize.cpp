#include "factor/factorize.hpp"

#include <algorithm>

#include "core/timer.hpp"
#include "factor/kernel_family.hpp"
#include "runtime/static_policy.hpp"

namespace espalier {

namespace {

// One run: what its tasks share.
template <class T> class FactorizationRun {
  public:
    FactorizationRun(FactorPlan const& plan, Factor<T>& factor, int workers, FactorizeOptions const& options)
        : plan_(plan), factor_(factor), kernels_(make_kernel_family(factor)),
          threshold_(static_cast<Real<T>>(options.pivot_threshold)),
          workspaces_(static_cast<std::size_t>(workers)), stats_(static_cast<std::size_t>(workers)),
          progress_(options.progress, "factorization", plan.total_cost()),
          progress_step_(plan.total_cost() / 1000) {}

    void execute(TaskId id, WorkerId worker) {
        FactorTask const& task = plan_.factor.tasks[static_cast<std::size_t>(id)];
        if (task.target == no_cblk)
            factorize_branch(task.source, worker);
        else
            update_target(task, worker);
    }

    [[nodiscard]] PivotStats total() const {
        PivotStats sum;
        for (auto const& worker : stats_) sum += worker.pivots;
        return sum;
    }

  private:
    struct alignas(64) WorkerStats { // written by its worker only
        PivotStats pivots;
        double unreported = 0; // cost done since the last report of progress
    };

    void factorize_branch(BranchId number, WorkerId worker) {
        auto const w = static_cast<std::size_t>(worker);
        Branch const& branch = plan_.partition.branches[static_cast<std::size_t>(number)];
        for (CblkId k = branch.first; k <= branch.root; ++k) {
            stats_[w].pivots += kernels_->factorize_panel(k, threshold_);
            kernels_->update_all(k, branch.root, workspaces_[w]);
            stats_[w].unreported += plan_.cblk_cost[static_cast<std::size_t>(k)];
            if (stats_[w].unreported < progress_step_) continue;
            progress_.advance(stats_[w].unreported);
            stats_[w].unreported = 0;
        }
    }

    void update_target(FactorTask const& task, WorkerId worker) {
        BlockStructure const& structure = factor_.structure();
        for (Offset f = task.first_facing; f < task.end_facing;) {
            BlokId const first = structure.facing[static_cast<std::size_t>(f)];
            FacingGroup const group =
                facing_group(structure, structure.owner_of_blok[static_cast<std::size_t>(first)], first);
            kernels_->update(group, workspaces_[static_cast<std::size_t>(worker)]);
            f += group.end - group.first;
        }
    }

    FactorPlan const& plan_;
    Factor<T>& factor_;
    std::unique_ptr<KernelFamily<T>> kernels_;
    Real<T> threshold_;
    std::vector<UpdateWorkspace<T>> workspaces_;
    std::vector<WorkerStats> stats_;
    ProgressScope progress_;
    double progress_step_;
};

} // namespace

template <class T> FactorizeStats factorize(CscMatrix<T> const& matrix, AssemblyMap const& assembly,
                                            FactorPlan const& plan, Factor<T>& factor, WorkerTeam& team,
                                            FactorizeOptions const& options) {
    FactorizeStats stats;
    team.for_each_worker([&](WorkerId worker) {
        factor.clear_owned(worker);
        assembly.assemble(matrix, factor, worker);
    });

    Timer const timer;
    FactorizationRun<T> run(plan, factor, team.size(), options);
    StaticPolicy policy(plan.factor_schedule.lists, plan.factor.graph.num_tasks());
    team.run(plan.factor.graph, policy, [&](TaskId task, WorkerId worker) { run.execute(task, worker); });
    PivotStats const pivots = run.total();
    stats.pivots_replaced = pivots.replaced;
    stats.negative_pivots = pivots.negative;
    stats.time_s = timer.seconds();
    return stats;
}

std::uint64_t workspace_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes,
                              int workers) {
    // L D of the rows that face one cblk: no more rows than that one has columns.
    Offset scaled = 0;
    Index widest = 0;
    for (Cblk const& cblk : structure.cblks) widest = std::max(widest, cblk.width());
    if (form.has_d())
        for (Cblk const& cblk : structure.cblks)
            scaled = std::max(scaled, std::min(cblk.rows_below(), widest) * cblk.width());
    auto const coefficients = static_cast<std::uint64_t>(UpdateWorkspace<double>::buffer_size + scaled);
    return coefficients * scalar_bytes * static_cast<std::uint64_t>(workers);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template FactorizeStats factorize<T>(CscMatrix<T> const&, AssemblyMap const&, FactorPlan const&,         \
                                         Factor<T>&, WorkerTeam&, FactorizeOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
