// The entries of the inverse of a factorized matrix on the structure of the factors (Takahashi, Fagan, Chin
// 1973; Erisman, Tinney 1975), by column blocks from the root of the tree down (Lin, Yang, Meza, Lu, Ying, E
// 2011).
//
// With Z = A^-1, the columns C of a cblk, the rows R below them, and S = L_RC L_CC^-1:
//
//     L L^op      Z_RC = -Z_RR S      Z_CC = (L_CC L_CC^op)^-1 - S^op Z_RC
//     L D L^op    Z_RC = -Z_RR S      Z_CC = (L_CC D L_CC^op)^-1 - S^op Z_RC
//     L U         Z_RC = -Z_RR S      Z_CC = (L_CC U_CC)^-1 - Z_CR S,    Z_CR = -U_CC^-1 U_CR Z_RR
//
// The entries Z_RR are in the panels of the ancestors that own the columns R. Pivots within a cblk permute
// its columns of Z (and rows, for L D L^op). A cblk is a task after that of its parent. The order of its sums
// does not depend on the schedule.
#pragma once

#include <optional>

#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

template <class T> class SelectedInverse {
  public:
    /// Computes all entries in parallel, with one process. The panels of the inverse need as much memory as
    /// those of the factor. The structure of the factor must outlive this. Error{usage} for a Schur
    /// complement, Error{unsupported} if columns are delayed, Error{out_of_memory}, {cancelled}.
    SelectedInverse(Factor<T> const& factor, FactorPlan const& plan, WorkerTeam& team,
                    Interrupt* interrupt = nullptr);

    /// The entry in row i and column j, in the numbers of the columns of the structure; nullopt outside of
    /// the structure of the factors. Logarithmic in the bloks of a cblk.
    [[nodiscard]] std::optional<T> entry(Index i, Index j) const;

    /// Bytes of the panels, and of the workspace of `workers` workers.
    [[nodiscard]] static std::uint64_t bytes(BlockStructure const& structure, FactorForm form, int workers);

  private:
    BlockStructure const* structure_;
    Factor<T> panels_; ///< Stored like L and U, but with whole diagonal blocks.
};

} // namespace espalier
