// The analysis: all decisions that precede the numeric factorization. These are the kind of factorization,
// the working system, the ordering, the block structure, and the task graph with its schedule. For an
// incomplete factorization they end with the ordering.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/checks.hpp"
#include "analysis/choose.hpp"
#include "analysis/structure_job.hpp"
#include "core/background.hpp"
#include "core/interrupt.hpp"
#include "espalier/report.hpp"
#include "factor/factor.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "refine/call_memory.hpp"
#include "scaling/scaled_system.hpp"
#include "simplicial/ldl_plan.hpp"
#include "simplicial/lu_plan.hpp"
#include "simulation/choose_schedule.hpp"
#include "simulation/factor_plan.hpp"
#include "trace/record.hpp"

namespace espalier {

struct AnalysisContext;

template <class T> struct Analysis {
    /// The memory of a process besides panels and values.
    struct Needs {
        std::uint64_t structure_bytes = 0;
        std::uint64_t solve_entries = 0; ///< Entries of the workspace of a solve with one right-hand side.
        Index rows = 0;                  ///< Rows that the process owns.
    };
    /// The structure, the plan and the memory for one machine. The machine is that of the analysis or of a
    /// prediction.
    struct Planned {
        BlockStructure const& structure; ///< After wide supernodes are split.
        SharedPlan const& plan;
        std::span<Needs const> needs; ///< The needs of each process.
    };

    PatternFingerprint pattern; ///< Fingerprint of the pattern of the matrix.
    std::uint64_t values = 0;   ///< Hash of the values that were scaled or matched, or 0.
    Options options;            ///< The options at the time of the analysis.
    FactorForm form;
    std::string reason;      ///< The note of the report on the choice of this form.
    bool llh_failed = false; ///< Whether llh was chosen, but failed for the values of a factorization.
    ScaledSystem<T> system;
    OrderingMethod ordering = OrderingMethod::dissection; ///< The method that ordered the unknowns.
    std::optional<IncompleteOptions> incomplete; ///< Set for an incomplete factorization; the rest is empty.
    /// One of these is set for a factorization without supernodes; the rest is empty.
    std::optional<LuPlan> simplicial_lu;
    std::optional<LdlPlan> simplicial_ldl;
    /// The structure of the whole working system, before wide supernodes are split.
    SupernodalStructure supernodal;
    BlockStructure structure; ///< The structure after wide supernodes are split.
    ScheduleChoice choice;    ///< The settings of the plan.
    CostModel costs;
    std::string cost_model;        ///< The source of `costs`.
    Network network;               ///< The network between processes.
    FactorPlan plan;               ///< With several processes only the SharedPlan part is set.
    ProcessPlans plans;            ///< With several processes: the plan of each, before it is distributed.
    std::vector<Needs> needs;      ///< The memory needs of each process.
    Offset working_entries = 0;    ///< Stored entries of the working system.
    Index compressed_vertices = 0; ///< Vertices of the graph that was ordered.
    /// SupernodalStructure::flops with the last ordering that was not adapted.
    double flops_of_new_ordering = 0;
    double ordering_s = 0, symbolic_s = 0, mapping_s = 0;

    [[nodiscard]] Planned planned() const { return {structure, plan, needs}; }
    /// The needs of each process, for plans of `blocks`, a structure that split() returned.
    [[nodiscard]] std::vector<Needs> needs_of(BlockStructure const& blocks, ProcessPlans const& of_all) const;

    [[nodiscard]] bool is_simplicial() const { return simplicial_lu || simplicial_ldl; }
    /// The settings for the plan of a factorization on one of these machines. Error{cancelled}.
    [[nodiscard]] ScheduleChoice choose_schedule(ScheduleSettings const& given, CostModel const& model,
                                                 std::span<MachineModel const> machines,
                                                 Interrupt* interrupt = nullptr) const;
    /// The structure with the column blocks of these settings.
    [[nodiscard]] BlockStructure split(ScheduleSettings const& settings, int workers) const;
    /// The report of a choice for this number of workers.
    [[nodiscard]] ScheduleReport describe(ScheduleChoice const& made, int workers) const;

    /// The memory in bytes that the factorization, and a solve and refinement with one right-hand side, need
    /// in addition to the matrix on a process, with panels in `factor_scalar`.
    [[nodiscard]] std::uint64_t memory_bytes(Scalar factor_scalar, Index process) const;
    /// memory_bytes() of each process.
    [[nodiscard]] std::vector<std::uint64_t> memory_of_processes(Scalar factor_scalar) const;
    /// The part of this memory that remains between calls, and the workspace of a sweep with one vector.
    [[nodiscard]] std::uint64_t factor_bytes(Scalar factor_scalar, Index process) const;
    /// The memory of memory_bytes() that is expected to be used: Cholesky, if it was chosen, succeeds.
    [[nodiscard]] std::uint64_t expected_bytes(Planned const& of, Index process) const;
    /// The memory of the vectors of a call.
    [[nodiscard]] std::uint64_t call_bytes(CallMemory const& call, Scalar factor_scalar, Index process) const;
    /// Whether factors are stored in lower precision. Never with a Schur complement.
    [[nodiscard]] bool factors_narrow(bool mixed_precision) const;
    /// The scalar type and the storage format of panels that the plan assumes.
    [[nodiscard]] Scalar planned_scalar() const;
    [[nodiscard]] PanelFormat panel_format() const;
    /// Whether columns may be delayed, by the option and the factorization.
    [[nodiscard]] bool may_delay(Pivoting pivoting) const;
    /// The kind of factorization for a matrix with the analyzed pattern. Error{usage}.
    [[nodiscard]] FactorizationChoice choose_kind(CscMatrix<T> const& matrix) const;
    /// The scaling options for a factorization of this kind.
    [[nodiscard]] ScalingOptions working_options(Factorization kind, Interrupt* interrupt) const;
    /// Chooses the scales and the matching of the working system for `form`, unless this has been done.
    /// Error{singular}, {cancelled}.
    void match(CscMatrix<T> const& matrix, int threads, Interrupt* interrupt);
    /// Adds a note on the scales and the matching, if there are any.
    void note_matching(AnalysisContext const& context) const;
    /// Whether a matching for the values of `matrix`, which has the same pattern, differs from the matching
    /// of this analysis, or its scales differ much. Error{cancelled}.
    [[nodiscard]] bool has_stale_scaling(CscMatrix<T> const& matrix, Interrupt* interrupt) const;
    /// The ordering for the analysis of another pattern with as many rows. Null if this analysis has none.
    [[nodiscard]] std::shared_ptr<EarlierOrdering const> ordering_to_adapt() const;
    /// Sets all fields of the report, for a plan of this or another machine, except total_s and
    /// predicted_peak_bytes.
    void fill(AnalysisReport& report, Planned const& of) const;

  private:
    [[nodiscard]] bool may_fall_back() const;
    [[nodiscard]] std::uint64_t memory_bytes(Planned const& of, Scalar factor_scalar, Index process) const;
    [[nodiscard]] std::uint64_t factor_bytes(Planned const& of, Scalar factor_scalar, Index process,
                                             bool falls_back) const;
    [[nodiscard]] std::uint64_t refinement_bytes(Planned const& of, Scalar factor_scalar,
                                                 Index process) const;
    [[nodiscard]] std::uint64_t call_bytes(Planned const& of, CallMemory const& call, Scalar factor_scalar,
                                           Index process) const;
};

/// Whether the order of single rows is requested, so that pairs of rows are not kept together.
inline bool has_given_order(OrderingMethod method) {
    return method == OrderingMethod::natural || method == OrderingMethod::user;
}

/// The environment of an analysis.
struct AnalysisContext {
    int processes = 1;
    /// Returns the machine to plan for; its network comes from the cost model. Not called for a factorization
    /// without supernodes, which takes less time than this.
    std::function<MachineModel()> machine;
    std::shared_ptr<Interrupt> interrupt;
    Background& background;         ///< Runs ordering and symbolic factorization if options.cancel is set.
    trace::Track* phases = nullptr; ///< Records the phases; may be null.
    std::function<void(std::string)> note;          ///< Receives notes for the user.
    std::uint64_t max_bytes = 0;                    ///< Most bytes of the analysis itself; 0 for no limit.
    int processes_of_a_computer = 1;                ///< They share caches and memory.
    std::shared_ptr<EarlierOrdering const> earlier; ///< Is adapted, if it is not null and has as many rows.
};

/// Chooses the factorization, scales and matches, orders, factorizes symbolically, and plans the tasks.
/// Errors as Solver::analyze.
template <class T>
Analysis<T> analyze(CscMatrix<T> const& matrix, Options const& options, AnalysisContext const& context);

} // namespace espalier
