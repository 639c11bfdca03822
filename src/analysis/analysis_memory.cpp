// The memory that a factorization and the calls after it will need, predicted by the analysis.
#include <algorithm>

#include "analysis/analysis.hpp"
#include "factor/factorize.hpp"
#include "refine/refine.hpp"
#include "solve/sweep.hpp"

namespace espalier {

template <class T> std::uint64_t Analysis<T>::memory_bytes(Scalar factor_scalar) const {
    auto const bytes = memory_of_processes(factor_scalar);
    return bytes.empty() ? 0 : std::ranges::max(bytes);
}

template <class T> std::vector<std::uint64_t> Analysis<T>::memory_of_processes(Scalar factor_scalar) const {
    std::vector<std::uint64_t> bytes;
    for (Index p = 0; p < std::ssize(needs); ++p) bytes.push_back(memory_bytes(factor_scalar, p));
    return bytes;
}

template <class T> std::uint64_t Analysis<T>::memory_bytes(Scalar factor_scalar, Index process) const {
    return factor_bytes(factor_scalar, process) + refinement_bytes(factor_scalar, process);
}

template <class T> std::uint64_t Analysis<T>::expected_bytes(Index process) const {
    return factor_bytes(planned_scalar(), process, false) + refinement_bytes(planned_scalar(), process);
}

template <class T> std::uint64_t Analysis<T>::refinement_bytes(Scalar factor_scalar, Index process) const {
    VectorLayout const layout{needs.size() == 1, needs.size() > 1 || system.is_permuted(),
                              system.is_scaled()};
    Offset const stored = working_entries / std::ssize(needs);
    return call_bytes(memory_of_refinement(layout, 1, 1, least_vectors(RefineMethod::ir)), factor_scalar,
                      process) +
           error_bytes<T>(needs[process].rows, stored, plan.machine.threads, system.is_scaled());
}

template <class T>
std::uint64_t Analysis<T>::call_bytes(CallMemory const& call, Scalar factor_scalar, Index process) const {
    bool const narrow = factor_scalar != scalar_of<T>;
    std::size_t const bytes = narrow ? sizeof(Narrow<T>) : sizeof(T);
    Needs const& own = needs[process];
    Index const columns =
        call.own + (process == 0 ? call.whole * structure.n / std::max<Index>(1, own.rows) : 0);
    Index const swept = std::min(call.swept, Sweep<T>::max_vectors);
    return static_cast<std::uint64_t>(own.rows) *
               (static_cast<std::uint64_t>(columns) * sizeof(T) +
                (narrow ? static_cast<std::uint64_t>(call.low) * bytes : 0)) +
           (swept > 1 ? own.solve_entries * static_cast<std::uint64_t>(swept - 1) * bytes : 0);
}

template <class T> std::uint64_t Analysis<T>::factor_bytes(Scalar factor_scalar, Index process) const {
    // If auto chose llh, the solver may fall back to ldlh, which needs a larger workspace and a scaled copy.
    return factor_bytes(factor_scalar, process,
                        form.kind == Factorization::llh && options.factorization == Factorization::automatic);
}

template <class T>
std::uint64_t Analysis<T>::factor_bytes(Scalar factor_scalar, Index process, bool may_fall_back) const {
    bool const narrow = factor_scalar != scalar_of<T>;
    bool const alone = needs.size() == 1;
    std::size_t const bytes = narrow ? sizeof(Narrow<T>) : sizeof(T);
    FactorForm const largest{may_fall_back ? Factorization::ldlh : form.kind};
    auto const entries = static_cast<std::uint64_t>(working_entries);
    // The plan counts panels and fan-in blocks in one of the two precisions.
    double const ratio = static_cast<double>(bytes) / panel_format().scalar_bytes;
    std::uint64_t const panels = alone ? panel_bytes(structure, form, bytes)
                                       : static_cast<std::uint64_t>(plan.memory_of_process[process] * ratio);
    // Measured: the buffers that the MPI library allocates for the first blocks.
    std::uint64_t const library = alone ? 0 : std::uint64_t{8} << 20;
    std::uint64_t const everywhere =
        panels + library + workspace_bytes(structure, largest, bytes, plan.machine.threads) +
        (may_delay(options.pivoting) ? saved_panel_bytes(structure, form, bytes, plan.machine.threads) : 0) +
        needs[process].solve_entries * bytes + needs[process].structure_bytes;
    // Each process stores its part of the assembly map, of the values, and of the matrix for refinement.
    // Process 0 also stores the places of all values.
    std::uint64_t const part = entries / needs.size();
    std::uint64_t const assembly =
        alone ? AssemblyMap::bytes_for(working_entries)
              : part * (AssemblyMap::bytes_for(1) + bytes + sizeof(T) + sizeof(Index));
    if (process > 0) return everywhere + assembly;
    return everywhere + assembly + (alone ? 0 : entries * (sizeof(Offset) + bytes)) +
           (system.is_identity() && !may_fall_back ? 0 : entries * (sizeof(T) + sizeof(Index))) +
           (narrow ? entries * (sizeof(Narrow<T>) + sizeof(Index)) : 0);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::uint64_t Analysis<T>::memory_bytes(Scalar) const;                                          \
    template std::uint64_t Analysis<T>::memory_bytes(Scalar, Index) const;                                   \
    template std::vector<std::uint64_t> Analysis<T>::memory_of_processes(Scalar) const;                      \
    template std::uint64_t Analysis<T>::factor_bytes(Scalar, Index) const;                                   \
    template std::uint64_t Analysis<T>::expected_bytes(Index) const;                                         \
    template std::uint64_t Analysis<T>::call_bytes(CallMemory const&, Scalar, Index) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
