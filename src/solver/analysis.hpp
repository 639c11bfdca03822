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
    Options options;            ///< Those it was made with.
    FactorForm form;
    ScaledSystem<T> system;
    BlockStructure structure;
    CostModel costs;
    Network network;            ///< Between processes.
    FactorPlan plan;            ///< With several processes only its SharedPlan is set.
    ProcessPlans plans;         ///< With several processes, until they are dealt out.
    std::vector<Needs> needs;   ///< For each process.
    Offset working_entries = 0; ///< Stored entries of the working system.

    /// What factorization and solve add to the matrix: panels in `factor_scalar`, and all else. Of the
    /// process that needs most.
    [[nodiscard]] std::uint64_t memory_bytes(Scalar factor_scalar) const;
    [[nodiscard]] std::uint64_t memory_bytes(Scalar factor_scalar, std::size_t process) const;
    /// How its panels are stored when they hold such scalars.
    [[nodiscard]] PanelFormat panel_format() const;
    /// What `options` say of the working system for a factorization of this kind.
    [[nodiscard]] ScalingOptions working_options(Factorization kind, Interrupt* interrupt) const;
};

/// What an analysis works with besides matrix and options.
struct AnalysisContext {
    MachineModel machine; ///< The plan is made for it, with the network that the cost model knows.
    std::shared_ptr<Interrupt> interrupt;
    Background& background;                ///< Ordering and structure run there where options.cancel is set.
    trace::Recorder* recorder = nullptr;   ///< Of the phases; may be null.
    std::function<void(std::string)> note; ///< Told of choices.
};

/// Analyze `matrix`. Fills report.analysis and report.factorization. Errors as Solver::analyze.
template <class T> Analysis<T> analyze_system(CscMatrix<T> const& matrix, Options const& options,
                                              AnalysisContext const& context, Report& report);

/// The factorization for these values under the options of an analysis: choose_factorization, but looking at
/// the interior block where there is a Schur complement, and never betting on llh for what may be singular.
template <class T> FactorizationChoice choose_for(CscMatrix<T> const& matrix, Options const& options);

} // namespace espalier
