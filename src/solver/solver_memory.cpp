// Memory limits in espalier::Solver. Options::max_memory bounds the memory that the processes of a
// computer need together in a call, in addition to the matrix. Each call predicts this memory before it
// allocates.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "core/counted.hpp"
#include "refine/condition.hpp"
#include "refine/refine.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

// On process 0: the memory that each process needs according to the analysis, and for transposed incomplete
// factors.
template <class T> std::vector<std::uint64_t> Solver<T>::State::memory_needs() const {
    auto const& needs = report.analysis.memory_bytes_of_process;
    std::vector<std::uint64_t> bytes(needs.begin(), needs.end());
    auto const further = incomplete_.further_bytes(call_.op);
    for (std::size_t p = 0; p < std::min(bytes.size(), further.size()); ++p)
        bytes[p] += static_cast<std::uint64_t>(further[p]);
    return bytes;
}

// Collective, with factors. Throws Error{out_of_memory} unless the factors and the vectors of a call fit into
// the limit. Returns the bytes that the limit leaves for each process; 0 without a limit.
template <class T>
std::uint64_t Solver<T>::State::require_memory_of(CallMemory const& call, std::string_view what) {
    if (options.max_memory == 0) return 0;
    auto const share = static_cast<std::uint64_t>(vectors_->rows().largest_share());
    return context_.on_root([&] {
        std::vector<std::uint64_t> bytes;
        if (system_->is_incomplete || system_->is_simplicial) {
            bytes = memory_needs();
            for (std::size_t p = 0; p < bytes.size(); ++p)
                bytes[p] +=
                    static_cast<std::uint64_t>(call.own) * share * sizeof(T) +
                    (p == 0 ? static_cast<std::uint64_t>(call.whole * system_->order) * sizeof(T) : 0);
        } else {
            Scalar const scalar = factor_.is_narrow() ? scalar_of<Low> : scalar_of<T>;
            for (Index p = 0; p < std::ssize(analysis_->needs); ++p)
                bytes.push_back(analysis_->factor_bytes(scalar, p) + analysis_->call_bytes(call, scalar, p));
            auto const delayed = supernodal_->delayed_bytes();
            for (std::size_t p = 0; p < delayed.size(); ++p) bytes[p] += delayed[p];
        }
        if (!bytes.empty()) bytes.front() += call.bytes;
        std::uint64_t const needed = context_.largest_sum_of_a_computer(bytes);
        require_memory(needed, options.max_memory, what);
        auto const sharing = static_cast<std::uint64_t>(context_.processes_of_a_computer());
        // 0 would stand for no limit
        return std::max<std::uint64_t>(1, (options.max_memory - needed) / sharing);
    });
}

template <class T>
std::uint64_t Solver<T>::State::require_memory_of_columns(CallMemory const& call, char const* what) {
    if (options.max_memory == 0) return 0;
    return require_memory_of(call,
                             fmt::format("{} with {}", what, counted(call_.columns, "right-hand side")));
}

template <class T> void Solver<T>::State::require_memory_of_solve() {
    require_memory_of_columns(memory_of_solve(vector_layout(), call_.columns), "a solve");
}

// Returns the memory for the vectors of the method. Checks only the memory for the least number of vectors.
template <class T> std::uint64_t Solver<T>::State::require_memory_of_refinement() {
    std::uint64_t const vector = static_cast<std::uint64_t>(vectors_->rows().largest_share()) * sizeof(T);
    Index const least = least_vectors(options.refine);
    CallMemory call = memory_of_refinement(vector_layout(), call_.columns, 1, least);
    if (options.max_memory > 0) call.bytes = refiner_->error_bytes(call_.columns);
    std::uint64_t const left = require_memory_of_columns(call, "a refinement");
    if (options.condition) {
        Index const at_once = std::min(call_.columns, columns_in_bound(vectors_->rows(), sizeof(T)));
        call.own -= least;
        std::uint64_t const bytes =
            require_memory_of_columns(call + memory_of_condition(at_once), "the error bound");
        refiner_->limit_vectors(bytes > 0 ? bytes + vectors_of_condition * vector : 0);
    }
    return left > 0 ? left + least * vector : 0;
}

template <class T> void Solver<T>::State::require_memory_of_condition() {
    std::uint64_t const vector = static_cast<std::uint64_t>(vectors_->rows().largest_share()) * sizeof(T);
    std::uint64_t const left = require_memory_of(memory_of_condition(1), "the condition estimate");
    refiner_->limit_vectors(left > 0 ? left + vectors_of_condition * vector : 0);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::vector<std::uint64_t> Solver<T>::State::memory_needs() const;                              \
    template std::uint64_t Solver<T>::State::require_memory_of(CallMemory const&, std::string_view);         \
    template std::uint64_t Solver<T>::State::require_memory_of_columns(CallMemory const&, char const*);      \
    template void Solver<T>::State::require_memory_of_solve();                                               \
    template std::uint64_t Solver<T>::State::require_memory_of_refinement();                                 \
    template void Solver<T>::State::require_memory_of_condition();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
