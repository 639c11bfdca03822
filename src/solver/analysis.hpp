// Everything that is decided before numbers are factorized: which factorization, of which working system, in
// which order and structure, by which tasks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/background.hpp"
#include "core/interrupt.hpp"
#include "espalier/report.hpp"
#include "factor/factor.hpp"
#include "runtime/topology.hpp"
#include "scaling/scaled_system.hpp"
#include "simulation/factor_plan.hpp"
#include "simulation/schedule.hpp"
#include "solver/checks.hpp"
#include "solver/choose.hpp"
#include "trace/record.hpp"

namespace espalier {

template <class T> struct Analysis {
    /// What a process holds besides panels and values.
    struct Needs {
        std::uint64_t structure_bytes = 0;
        std::uint64_t solve_entries = 0; ///< Of the workspace of a solve.
    };

    PatternFingerprint pattern; ///< Of the caller's matrix.
    std::uint64_t values = 0;   ///< A hash of its values.
    Options options;            ///< Those of the analysis.
    FactorForm form;
    ScaledSystem<T> system;
    BlockStructure structure; ///< Of the whole working system.
    CostModel costs;
    std::string cost_model;        ///< The source of `costs`.
    Network network;               ///< Between processes.
    FactorPlan plan;               ///< With several processes only its SharedPlan is set.
    ProcessPlans plans;            ///< With several processes: the plan of each, to be dealt out.
    std::vector<Needs> needs;      ///< Of each process.
    Offset working_entries = 0;    ///< Stored entries of the working system.
    Index compressed_vertices = 0; ///< Of the graph that was ordered.
    double ordering_s = 0, symbolic_s = 0, mapping_s = 0;

    /// What factorization and solve add to the matrix: panels in `factor_scalar`, and all else. Of one
    /// process, or of the process that needs most.
    [[nodiscard]] std::uint64_t memory_bytes(Scalar factor_scalar) const;
    [[nodiscard]] std::uint64_t memory_bytes(Scalar factor_scalar, Index process) const;
    /// Are factors in lower precision, if the options ask for mixed precision or not? Never with a Schur
    /// complement.
    [[nodiscard]] bool factors_narrow(bool mixed_precision) const;
    /// The scalar of the panels that the plan was made for, and how they are stored.
    [[nodiscard]] Scalar planned_scalar() const;
    [[nodiscard]] PanelFormat panel_format() const;
    /// What `options` say of the working system for a factorization of this kind.
    [[nodiscard]] ScalingOptions working_options(Factorization kind, Interrupt* interrupt) const;
    /// Whether a matching for the values of `matrix`, on the same pattern, permutes or pairs rows otherwise
    /// than this analysis. Error{cancelled}.
    [[nodiscard]] bool has_stale_matching(CscMatrix<T> const& matrix, Interrupt* interrupt) const;
    /// Sets everything in the report but total_s.
    void fill(AnalysisReport& report) const;
};

/// What an analysis works with besides matrix and options.
struct AnalysisContext {
    MachineModel machine; ///< The plan is made for it, with the network that the cost model knows.
    std::shared_ptr<Interrupt> interrupt;
    Background& background;                ///< Ordering and structure run there where options.cancel is set.
    trace::Track* phases = nullptr;        ///< Where phases are recorded; may be null.
    std::function<void(std::string)> note; ///< Receives what was chosen, for the user.
};

/// Analyzes `matrix`: choice of the factorization, scaling and matching, ordering, symbolic factorization,
/// plan. Errors as Solver::analyze.
template <class T>
Analysis<T> analyze(CscMatrix<T> const& matrix, Options const& options, AnalysisContext const& context);

/// The factorization for these values under the options of an analysis: choose_factorization, but looking at
/// the interior block where there is a Schur complement, and never betting on llh for what may be singular.
template <class T> FactorizationChoice choose_for(CscMatrix<T> const& matrix, Options const& options);

} // namespace espalier
