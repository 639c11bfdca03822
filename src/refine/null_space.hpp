// Null vectors of a singular or nearly singular matrix, by inverse subspace iteration.
//
// The input is the factorization of a nonsingular perturbation A~ of A, in which tiny pivots were replaced. A
// step maps the block V to A~^-1 A~^-H V, which converges to the smallest singular vectors of A~. A~^-1 A V
// is added to the search space, since V - A~^-1 A V = A~^-1 (A~ - A) V preserves null vectors of A and
// corrects the replaced pivots. The best vectors of the joint space are computed by the Rayleigh-Ritz method
// from the singular values of A on this space. (Subspace iteration: Stewart 1969; Golub and Van Loan 2013,
// section 8.2.)
#pragma once

#include <cstdint>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "distributed/distributed_matrix.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

struct NullSpaceOptions {
    double tolerance = 0; ///< Singular values up to tolerance * |A| count as zero; 0: n epsilon.
    /// Initial number of vectors: slightly more than the expected number of null vectors.
    Index first_block = 4;
    Interrupt* interrupt = nullptr;
    std::uint64_t max_bytes = 0; ///< Limit of the memory for blocks of vectors of a process; 0 for none.
};

template <class T> struct NullSpaceResult {
    DenseMatrix<T> basis; ///< Local rows of nullity orthonormal columns v with |A v| <= tolerance * |A|.
    std::vector<double> singular_values; ///< The computed singular values divided by |A|, ascending.
};

/// Right null vectors of A, with any symmetry. The block doubles while all of its vectors are null vectors.
/// |A| is sqrt(|A|_1 |A|_inf), at least the 2-norm and equal to the infinity norm for a symmetric matrix.
/// Start vectors depend on the numbers of rows, not on their owners. Collective. Error{singular} when the
/// factors break down (NaN, Inf), {out_of_memory} above max_bytes, {cancelled}.
template <class T> NullSpaceResult<T> null_space(DistributedMatrix<T> const& a,
                                                 ApplyInverse<T> const& apply_inverse,
                                                 NullSpaceOptions const& options = {});

} // namespace espalier
