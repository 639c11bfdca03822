#include "analysis/choose_method.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace espalier {

namespace {

// An iteration reads the matrix with its indices, the factor, and some vectors.
double predicted_iterations_s(Options const& options, MethodSetting const& setting) {
    constexpr double bytes_per_second = 12e9; // for each worker
    constexpr double most_useful_workers = 4; // the memory of a node limits the use of more workers
    constexpr double vectors = 20;
    auto const entries = static_cast<double>(setting.entries);
    auto const scalar = static_cast<double>(setting.scalar_bytes);
    double const growth = 1 + static_cast<double>(options.levels); // rough growth of the factor by fill
    double const bytes = entries * (scalar + sizeof(Index)) + entries * growth * (scalar + 4) +
                         static_cast<double>(setting.order) * vectors * scalar;
    double const workers = std::min(static_cast<double>(setting.workers), most_useful_workers);
    return assumed_iterations * bytes / bytes_per_second / workers;
}

} // namespace

char const* result_of_complete_factors(Options const& options) {
    if (options.condition) return "condition";
    if (options.mixed_precision) return "mixed precision";
    if (options.allow_singular) return "a null space";
    return options.schur.empty() ? nullptr : "a Schur complement";
}

std::string demand_for_complete_factors(Options const& options) {
    if (char const* const wanted = result_of_complete_factors(options)) return wanted;
    switch (options.factorization) {
    case Factorization::automatic:
    case Factorization::llh:
    case Factorization::lu:
        return {};
    default:
        return fmt::format("factorization {}", to_string(options.factorization));
    }
}

MethodChoice choose_method(AnalysisReport const& direct, Options const& options,
                           MethodSetting const& setting) {
    if (std::string const wanted = demand_for_complete_factors(options); !wanted.empty())
        return {SolveMethod::direct, fmt::format("{} needs complete factors", wanted)};
    std::uint64_t const limit = options.max_memory > 0 ? options.max_memory : setting.available_bytes;
    auto const mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1048576.0; };
    if (limit > 0 && setting.needed_bytes > limit)
        return {SolveMethod::ilu,
                fmt::format("complete factors need {:.0f} MiB, but only {:.0f} MiB are {}",
                            std::ceil(mebibytes(setting.needed_bytes)), std::floor(mebibytes(limit)),
                            options.max_memory > 0 ? "allowed" : "available")};
    double const complete_s = direct.predicted_factor_s + direct.predicted_solve_s;
    double const iterations_s = predicted_iterations_s(options, setting);
    std::string const reason = fmt::format(
        "complete factors are predicted to take {:.3g} s, and {} iterations with ILU({}) {:.3g} s",
        complete_s, assumed_iterations, options.levels, iterations_s);
    return {complete_s > iterations_s ? SolveMethod::ilu : SolveMethod::direct, reason};
}

} // namespace espalier
