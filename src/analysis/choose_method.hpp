// Chooses between complete and incomplete factorization, from the prediction of the complete one.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/options.hpp"
#include "espalier/report.hpp"

namespace espalier {

/// The name of an option that is set and needs complete factors; null if there is none.
char const* result_of_complete_factors(Options const& options);

/// The options may set something that needs complete factors: a result, or a factorization other than llh and
/// lu. This returns its name, or an empty text if the options set nothing of this kind.
std::string demand_for_complete_factors(Options const& options);

struct MethodChoice {
    SolveMethod method = SolveMethod::direct;
    std::string reason; ///< One sentence.
};

/// The system and the machine of a choice.
struct MethodSetting {
    Index order = 0;
    Offset entries = 0; ///< Entries of the matrix, both triangles.
    std::uint64_t scalar_bytes = 8;
    int workers = 1;                   ///< The sum over all processes.
    std::uint64_t available_bytes = 0; ///< Memory for the processes of a computer; 0 if unknown.
    std::uint64_t needed_bytes = 0;    ///< Memory that complete factors need on that computer.
};

/// Chooses between the methods. `direct` is the analysis for complete factors. Incomplete factors are chosen
/// if complete ones do not fit into Options::max_memory (without that option, into the available memory), or
/// if the predicted time of the complete factorization and a solve exceeds that of `assumed_iterations` of a
/// Krylov method. If demand_for_complete_factors(), these are chosen.
inline constexpr int assumed_iterations = 200;
MethodChoice choose_method(AnalysisReport const& direct, Options const& options,
                           MethodSetting const& setting);

} // namespace espalier
