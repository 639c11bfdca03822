// The working system B of process 0 (scaling/scaled_system.hpp) for the values of a matrix A: A itself, or a
// copy that is scaled, permuted, or stored in full. Other processes have an empty one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/checks.hpp"
#include "scaling/scaled_system.hpp"

namespace espalier {

/// An empty matrix, for processes without one. It exists before memory can be scarce. It has a public type,
/// and the library would export it if it were not hidden.
template <class T> [[gnu::visibility("hidden")]] inline CscMatrix<T> const no_matrix{};

template <class T> class WorkingMatrix {
  public:
    /// `is_shared`: other processes receive the values of B. A single process refers to them.
    explicit WorkingMatrix(bool is_shared) : is_shared_(is_shared) {}

    /// Converts a matrix with the scales of `system`, unless that was done before for the same values. A
    /// caller that changes the system or the pattern calls clear() first. `threads` compare the values.
    void set(CscMatrix<T> const& matrix, ScaledSystem<T> const& system, int threads = 1) {
        if (copy_ && has_values_of(matrix, threads)) return;
        copy_.reset(); // before a new copy, because two copies are not needed
        is_identity_ = system.is_identity();
        if (!is_identity_) copy_ = system.apply(matrix);
        if (copy_ || is_shared_) values_ = hash_of_values(matrix, threads);
    }
    /// Converts a matrix, and adapts the scales of `system` to its values, except for the rows and columns of
    /// `schur`. Returns whether the scales have changed. There is no copy after an exception.
    bool set_and_rescale(CscMatrix<T> const& matrix, ScaledSystem<T>& system, std::span<Index const> schur,
                         int threads = 1) {
        set(matrix, system, threads);
        try {
            if (!system.is_out_of_scale(matrix, of(matrix), schur)) return false;
            bool const was_identity = is_identity_;
            clear(); // before a new copy, because two copies are not needed
            copy_ = system.rescale(matrix, schur);
            if (was_identity && !is_shared_) values_ = hash_of_values(matrix, threads);
            return true;
        } catch (...) {
            clear();
            throw;
        }
    }
    void clear() { copy_.reset(), is_identity_ = false; }

    /// B, given the matrix of the last set(); empty without one.
    [[nodiscard]] CscMatrix<T> const& of(CscMatrix<T> const& matrix) const {
        if (is_identity_) return matrix;
        return copy_ ? *copy_ : no_matrix<T>;
    }
    /// Whether all users of B have these values. False if they refer to the matrix of an earlier call.
    [[nodiscard]] bool has_values_of(CscMatrix<T> const& matrix, int threads = 1) const {
        return (copy_ || is_shared_) && hash_of_values(matrix, threads) == values_;
    }

  private:
    bool is_shared_;
    bool is_identity_ = false;
    std::optional<CscMatrix<T>> copy_;
    std::uint64_t values_ = 0; // a hash of the values of A
};

} // namespace espalier
