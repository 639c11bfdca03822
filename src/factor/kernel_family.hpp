// The three families of numeric kernels behind one interface: Cholesky (llh, llt), LDL (ldlt, ldlh) and LU.
// Which one is a run-time choice made once a factorization; the driver knows only this interface.
#pragma once

#include <memory>
#include <string>

#include "factor/factor.hpp"
#include "factor/update.hpp"
#include "kernels/panel.hpp"

namespace espalier {

template <class T> class KernelFamily {
  public:
    virtual ~KernelFamily() = default;

    /// Factorize the diagonal block of cblk k and solve for the rest of its panel. Pivots with
    /// |pivot| < threshold are replaced (never by Cholesky). Throws Error{not_positive_definite} or
    /// {singular}, naming the row of the matrix.
    PivotStats factorize_panel(CblkId k, Real<T> threshold);
    /// The diagonal block alone; errors as above.
    virtual PivotStats factorize_diagonal(CblkId k, Real<T> threshold) = 0;
    /// Then the solve for `count` rows of the panel from row `first` below the diagonal block on (0 is the
    /// first under it).
    virtual void solve_rows(CblkId k, Index first, Index count) = 0;

    /// Subtract the contribution of group.source to group.target, to the rows in the window, in `target`.
    virtual void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window,
                        UpdateTarget<T> const& target) = 0;
    /// In the target's panel.
    void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window = {});

    /// The same for every group of cblk k from blok k.first_blok + 1 on whose target is <= last_target,
    /// looking at the interrupt between them.
    void update_all(CblkId k, CblkId last_target, UpdateWorkspace<T>& workspace, Interrupt* interrupt);

  protected:
    explicit KernelFamily(Factor<T>& factor) : factor_(factor) {}
    /// Into workspace.runs the rows to write, as `target` counts them; false when there are none.
    bool find_rows(FacingGroup const& group, RowWindow window, UpdateTarget<T> const& target,
                   UpdateWorkspace<T>& workspace) const;
    Factor<T>& factor_;
};

/// The family of `factor.form()`.
template <class T> std::unique_ptr<KernelFamily<T>> make_kernel_family(Factor<T>& factor);

/// "row r of the matrix" for a column of cblk k: names the unknown in the caller's own numbering (1-based).
std::string describe_unknown(BlockStructure const& structure, Index permuted_column);

} // namespace espalier
