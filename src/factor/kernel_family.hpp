// The three families of numeric kernels behind one interface: Cholesky (llh, llt), LDL (ldlt, ldlh) and LU.
// The choice is made once, at run time; the driver uses only this interface.
#pragma once

#include <memory>

#include "factor/factor.hpp"
#include "factor/update.hpp"
#include "kernels/panel.hpp"

namespace espalier {

template <class T> class KernelFamily {
  public:
    explicit KernelFamily(Factor<T>& factor) : factor_(factor) {}
    virtual ~KernelFamily() = default;

    /// Factorize the diagonal block of cblk k and solve for the rest of its panel. Pivots with
    /// |pivot| < threshold are replaced (never by Cholesky). Throws Error{not_positive_definite} or
    /// {singular}, naming the row of the matrix.
    PivotStats factorize_panel(CblkId k, Real<T> threshold);
    /// Factorize the diagonal block alone; errors as above. With a division, other workers help if it is
    /// wide.
    PivotStats factorize_diagonal(CblkId k, Real<T> threshold, BlockDivision const* division = nullptr);
    /// Does the same without an error for a pivot that cannot be divided by. PivotStats::zero_column names
    /// it.
    virtual PivotStats try_diagonal(CblkId k, Real<T> threshold, BlockDivision const* division) = 0;
    /// Solve for `count` rows from row `first` below the diagonal block on, after factorize_diagonal: L, and
    /// for lu also U.
    void solve_rows(CblkId k, Index first, Index count) {
        solve_rows_of_l(k, first, count, 0);
        solve_rows_of_u(k, first, count);
    }
    /// Solves for L alone. For ldl and lu, returns the largest |Re| + |Im| in the first `counted` of these
    /// rows.
    virtual Real<T> solve_rows_of_l(CblkId k, Index first, Index count, Index counted) = 0;
    virtual void solve_rows_of_u(CblkId, Index, Index) {}

    /// Subtract the contribution of group.source to group.target, to the rows in the window, in `target`.
    virtual void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window,
                        UpdateTarget<T> const& target) = 0;
    /// Subtracts the contribution from the target's panel.
    void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window = {});

    /// Subtracts the contributions of every group of cblk k below its diagonal block whose target is <=
    /// last_target. Checks the interrupt between groups.
    void update_all(CblkId k, CblkId last_target, UpdateWorkspace<T>& workspace, Interrupt* interrupt);

  protected:
    Factor<T>& factor_;
    bool conjugate_ = factor_.form().conjugate();
    Op op_ = conjugate_ ? Op::adjoint : Op::transpose; // used by the symmetric factorizations
};

/// Throws an Error that names the unknown of the first pivot of cblk k that cannot be divided by, if there is
/// one. Such a pivot is zero or, after an overflow, not finite.
template <class T> void require_pivots(Factor<T> const& factor, CblkId k, PivotStats const& stats);

/// Returns the kernels for `factor.form()`.
template <class T> std::unique_ptr<KernelFamily<T>> make_kernel_family(Factor<T>& factor);

} // namespace espalier
