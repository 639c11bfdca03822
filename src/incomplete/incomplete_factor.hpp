// Incomplete factorization A = L U + R by level of fill, on scalars or dense blocks, and its application by
// two triangular sweeps. L has a unit diagonal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "incomplete/chunk_runs.hpp"
#include "incomplete/execution_order.hpp"
#include "incomplete/predicted_times.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct IncompleteOptions {
    Index levels = 0;   ///< Level of fill k of ILU(k), at least 0.
    int block_size = 1; ///< Size of dense blocks, 1 .. 6; 0: find_block_size() chooses.
    /// Passed to make_execution_order(); empty: choose_execution_order() chooses.
    std::string coarse_string{};
    /// New numbers of block rows, e.g. from a fill-reducing ordering; may be empty.
    std::vector<Index> positions{};
    ChunkRuntime runtime{}; ///< The runtime of the row tasks.
    /// Bytes per second that a thread reads while all threads read, for predictions; 0: RowCosts::byte.
    double bandwidth = 0;
    std::uint64_t max_memory = 0; ///< Options::max_memory.
    int sharing = 1;              ///< The number of processes that share this memory.
};

/// The pivots that a factorization accepts.
struct PivotDemand {
    /// Whether pivots must be positive, as IC(k) demands. Other pivots then count as small, and L U is
    /// Hermitian positive definite if the matrix is Hermitian.
    bool positive = false;
    /// A pivot is small if it is below this threshold times the largest entry in its row of A, or, if pivots
    /// must be positive, times its diagonal entry; 0: the square root of epsilon.
    double threshold = 0;
    /// How often a factorization with a small pivot may be repeated with a larger diagonal. Small pivots are
    /// replaced afterwards. The last shift is 0.001 * 2^18 = 262, with which nearly all matrices are
    /// diagonally dominant.
    int max_restarts = 20;
};

/// The pivots of a factorization, in which small ones broke down. If the factors of A have small pivots,
/// those of A + alpha diag(A) are computed instead, with alpha = 0.001, 0.002, 0.004, ... until no pivot is
/// small [Manteuffel 1980; Lin, Moré 1999].
struct IncompletePivots {
    Index replaced = 0; ///< Small pivots that were replaced.
    double shift = 0;   ///< alpha.
    int restarts = 0;   ///< The number of values of alpha that were tried after 0.
};

/// Properties of an incomplete factor.
struct IncompleteSizes {
    int block_size = 1;
    Index num_rows = 0;      ///< Block rows.
    Offset nnz_factor = 0;   ///< Stored entries of L + U, the diagonal once.
    std::uint64_t bytes = 0; ///< Memory of the factor, its structure, and a factorization.
    /// Memory that the first transposed solve allocates in addition; 0 if transposed solves need none.
    std::uint64_t transposed_bytes = 0;
    std::string coarse_string; ///< ExecutionOrder::coarse_string.
    std::int32_t chunks = 0;   ///< Coarse tasks.
    Offset coarse_edges = 0;   ///< Edges between the coarse tasks.
    /// With the policy nas on several NUMA nodes: for each node, the bytes of the pages that its chunks write
    /// according to the dry run, and below the bytes that were moved to another node.
    std::vector<std::uint64_t> affinity_bytes{};
    std::uint64_t moved_bytes = 0;
    Offset synchronizations = 0; ///< ChunkRuns::synchronizations().
    double symbolic_s = 0;       ///< Seconds for the pattern of the factor and for its storage.
    double storage_s = 0;        ///< The part of these seconds that places the rows in the execution order.
    double coarsen_s = 0;        ///< Seconds for the execution order.
    SweepPrediction predicted;   ///< Predicted times on the workers of the team.
};

/// An incomplete factorization. The constructor computes the pattern and the execution order; factorize() may
/// be called repeatedly with new values. Results have the same bits for every number of workers and every
/// coarse string, on every runtime and with every policy. Calls must not overlap each other or other calls of
/// the team.
template <class T> class IncompleteFactor {
  public:
    /// `team` must outlive the object. Error{bad_input}, {usage} or {unsupported} as block_pattern(),
    /// fill_pattern() and coarsen() describe; Error{usage} for positions that are not a permutation;
    /// Error{unsupported} for a runtime that this build lacks; Error{cancelled} if the interrupt asks for it.
    /// Error{out_of_memory} if the pattern alone shows that the factor exceeds the memory limit.
    IncompleteFactor(CscMatrix<T> const& a, IncompleteOptions const& options, WorkerTeam& team,
                     Interrupt* interrupt = nullptr);
    ~IncompleteFactor();
    IncompleteFactor(IncompleteFactor&&) noexcept;

    [[nodiscard]] IncompleteSizes const& sizes() const;
    /// Bytes of the factor on each NUMA node (in the system's numbers), counting touched pages only.
    [[nodiscard]] std::vector<std::uint64_t> node_bytes() const;

    /// Computes the factors of `a`, which has the pattern that the constructor got. Small pivots lead to
    /// restarts with a larger diagonal, as PivotDemand says. Without one that helps, pivots of `a` are
    /// replaced: by the threshold times the largest entry of their row, or, if pivots must be positive, by
    /// the diagonal entry (by the largest entry if that is not positive). Error{usage} for another pattern
    /// size and for a negative threshold; Error{cancelled} if the interrupt asks for it, after which there
    /// are no factors.
    IncompletePivots factorize(CscMatrix<T> const& a, PivotDemand const& pivots = {},
                               Interrupt* interrupt = nullptr);

    /// x = op(L U)^-1 b for `nrhs` vectors of n entries each, column after column; b and x may be the same.
    /// If the matrix is neither symmetric nor Hermitian, the first solve with another `op` than none after a
    /// factorization copies the factors by columns (IncompleteSizes::transposed_bytes); Error{out_of_memory}
    /// if memory is short, after which other solves still work.
    void solve(T const* b, T* x, Index nrhs = 1, MatrixOp op = MatrixOp::none) const;

    /// The number of row_of() entries: entry k of a vector in execution order belongs to row row_of()[k].
    [[nodiscard]] std::vector<Index> row_of() const;
    /// Solves in place for one vector in execution order, which saves the permutations of solve().
    void solve_in_order(T* x, TriangularPart part = TriangularPart::both) const;

  private:
    class Storage;
    std::unique_ptr<Storage> storage_;
};

} // namespace espalier
