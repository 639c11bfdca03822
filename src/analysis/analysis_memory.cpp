// The memory that a factorization and the calls after it will need, predicted by the analysis.
#include <algorithm>

#include "analysis/analysis.hpp"
#include "factor/factorize.hpp"
#include "refine/refine.hpp"
#include "simulation/local_structure.hpp"
#include "solve/solve.hpp"
#include "solve/sweep.hpp"

namespace espalier {

template <class T> auto Analysis<T>::needs_of(BlockStructure const& blocks, ProcessPlans const& of_all) const
    -> std::vector<Needs> {
    std::vector<Needs> result;
    bool const alone = of_all.of_process.size() == 1;
    for (std::size_t p = 0; p < of_all.of_process.size(); ++p) {
        BlockStructure const& own = alone ? blocks : of_all.structures[p];
        Index const rows = alone ? blocks.n : std::ssize(own.unknowns);
        result.push_back({structure_bytes(own), solve_workspace_bytes(own, of_all.of_process[p], 1), rows});
    }
    Needs& root = result.front();
    root.structure_bytes += bytes_of(supernodal);
    // Assembly maps are made from the whole structure. Rows are exchanged by their owners and by the
    // caller's.
    if (!alone)
        root.structure_bytes +=
            structure_bytes(blocks) + 2 * sizeof(Index) * static_cast<std::uint64_t>(blocks.n);
    return result;
}

template <class T> std::vector<std::uint64_t> Analysis<T>::memory_of_processes(Scalar factor_scalar) const {
    std::vector<std::uint64_t> bytes;
    for (Index p = 0; p < std::ssize(needs); ++p) bytes.push_back(memory_bytes(factor_scalar, p));
    return bytes;
}

template <class T> std::uint64_t Analysis<T>::memory_bytes(Scalar factor_scalar, Index process) const {
    return memory_bytes(planned(), factor_scalar, process);
}
template <class T>
std::uint64_t Analysis<T>::memory_bytes(Planned const& of, Scalar factor_scalar, Index process) const {
    return factor_bytes(of, factor_scalar, process, may_fall_back()) +
           refinement_bytes(of, factor_scalar, process);
}

template <class T> std::uint64_t Analysis<T>::expected_bytes(Planned const& of, Index process) const {
    return factor_bytes(of, planned_scalar(), process, false) +
           refinement_bytes(of, planned_scalar(), process);
}

template <class T>
std::uint64_t Analysis<T>::refinement_bytes(Planned const& of, Scalar factor_scalar, Index process) const {
    std::size_t const processes = of.needs.size();
    VectorLayout const layout{processes == 1, processes > 1 || system.is_permuted(), system.is_scaled()};
    Offset const stored = working_entries / static_cast<Offset>(processes);
    return call_bytes(of, memory_of_refinement(layout, 1, 1, least_vectors(RefineMethod::ir)), factor_scalar,
                      process) +
           error_bytes<T>(of.needs[process].rows, stored, of.plan.machine.threads, system.is_scaled());
}

template <class T>
std::uint64_t Analysis<T>::call_bytes(CallMemory const& call, Scalar factor_scalar, Index process) const {
    return call_bytes(planned(), call, factor_scalar, process);
}
template <class T> std::uint64_t Analysis<T>::call_bytes(Planned const& of, CallMemory const& call,
                                                         Scalar factor_scalar, Index process) const {
    bool const narrow = factor_scalar != scalar_of<T>;
    std::size_t const bytes = narrow ? sizeof(Narrow<T>) : sizeof(T);
    Needs const& own = of.needs[process];
    Index const columns =
        call.own + (process == 0 ? call.whole * of.structure.n / std::max<Index>(1, own.rows) : 0);
    Index const swept = std::min(call.swept, Sweep<T>::max_vectors);
    return static_cast<std::uint64_t>(own.rows) *
               (static_cast<std::uint64_t>(columns) * sizeof(T) +
                (narrow ? static_cast<std::uint64_t>(call.low) * bytes : 0)) +
           (swept > 1 ? own.solve_entries * static_cast<std::uint64_t>(swept - 1) * bytes : 0);
}

// If auto chose llh, the solver may fall back to ldlt or ldlh, which needs a larger workspace and a scaled
// copy.
template <class T> bool Analysis<T>::may_fall_back() const {
    return form.kind == Factorization::llh && options.factorization == Factorization::automatic;
}

template <class T> std::uint64_t Analysis<T>::factor_bytes(Scalar factor_scalar, Index process) const {
    return factor_bytes(planned(), factor_scalar, process, may_fall_back());
}
template <class T> std::uint64_t Analysis<T>::factor_bytes(Planned const& of, Scalar factor_scalar,
                                                           Index process, bool falls_back) const {
    bool const narrow = factor_scalar != scalar_of<T>;
    bool const alone = of.needs.size() == 1;
    std::size_t const bytes = narrow ? sizeof(Narrow<T>) : sizeof(T);
    FactorForm const largest{falls_back ? indefinite_kind<T> : form.kind};
    auto const entries = static_cast<std::uint64_t>(working_entries);
    // The plan counts panels and fan-in blocks in one of the two precisions.
    double const ratio = static_cast<double>(bytes) / panel_format().scalar_bytes;
    std::uint64_t const panels = alone
                                     ? panel_bytes(of.structure, form, bytes)
                                     : static_cast<std::uint64_t>(of.plan.memory_of_process[process] * ratio);
    // Measured: the buffers that the MPI library allocates for the first blocks.
    std::uint64_t const library = alone ? 0 : std::uint64_t{8} << 20;
    std::uint64_t const everywhere =
        panels + library + workspace_bytes(of.structure, largest, bytes, of.plan.machine.threads) +
        (may_delay(options.pivoting) ? saved_panel_bytes(of.structure, form, bytes, of.plan.machine.threads)
                                     : 0) +
        of.needs[process].solve_entries * bytes + of.needs[process].structure_bytes;
    // Each process stores its part of the assembly map, of the values, and of the matrix for refinement.
    // Process 0 also stores the places of all values.
    std::uint64_t const part = entries / of.needs.size();
    std::uint64_t const assembly =
        alone ? AssemblyMap::bytes_for(working_entries)
              : part * (AssemblyMap::bytes_for(1) + bytes + sizeof(T) + sizeof(Index));
    if (process > 0) return everywhere + assembly;
    return everywhere + assembly + (alone ? 0 : entries * (sizeof(Offset) + bytes)) +
           (system.is_identity() && !falls_back ? 0 : entries * (sizeof(T) + sizeof(Index))) +
           (narrow ? entries * (sizeof(Narrow<T>) + sizeof(Index)) : 0);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::vector<Analysis<T>::Needs> Analysis<T>::needs_of(BlockStructure const&,                    \
                                                                   ProcessPlans const&) const;               \
    template std::uint64_t Analysis<T>::memory_bytes(Scalar, Index) const;                                   \
    template std::vector<std::uint64_t> Analysis<T>::memory_of_processes(Scalar) const;                      \
    template std::uint64_t Analysis<T>::factor_bytes(Scalar, Index) const;                                   \
    template std::uint64_t Analysis<T>::memory_bytes(Planned const&, Scalar, Index) const;                   \
    template std::uint64_t Analysis<T>::expected_bytes(Planned const&, Index) const;                         \
    template std::uint64_t Analysis<T>::call_bytes(CallMemory const&, Scalar, Index) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
