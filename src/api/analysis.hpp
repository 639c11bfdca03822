// Everything that is decided before numbers are factorized: which factorization, of which working system, in
// which order and structure, by which tasks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/checks.hpp"
#include "api/choose.hpp"
#include "api/working_system.hpp"
#include "core/background.hpp"
#include "core/interrupt.hpp"
#include "espalier/report.hpp"
#include "factor/factor.hpp"
#include "schedule/factor_plan.hpp"

namespace espalier {

template <class T> struct Analysis {
    PatternFingerprint pattern; ///< Of the caller's matrix.
    Options options;            ///< Those it was made with.
    FactorForm form;
    WorkingSystem<T> system;
    BlockStructure structure;
    FactorPlan plan;
    Offset working_entries = 0; ///< Stored entries of the working system.

    /// What factorization and solve add to the matrix: panels in `factor_scalar`, and all else.
    [[nodiscard]] std::uint64_t memory_bytes(Scalar factor_scalar) const;
    /// What `options` say of the working system for a factorization of this kind.
    [[nodiscard]] WorkingOptions working_options(Factorization kind, Interrupt* interrupt) const;
};

/// Analyze `matrix` for `workers` threads. Fills report.analysis and report.factorization, and says what it
/// chose to `note`. Ordering and structure run in `background` where options.cancel is set. Errors as
/// Solver::analyze.
template <class T> Analysis<T> analyze_system(CscMatrix<T> const& matrix, Options const& options, int workers,
                                              std::shared_ptr<Interrupt> const& interrupt,
                                              Background& background,
                                              std::function<void(std::string)> const& note, Report& report);

/// The factorization for these values under the options of an analysis: choose_factorization, but looking at
/// the interior block where there is a Schur complement, and never betting on llh for what may be singular.
template <class T> FactorizationChoice choose_for(CscMatrix<T> const& matrix, Options const& options);

} // namespace espalier
