// Types that the library and its callers share: indices, the enumerations of the options, the status of a
// call and the exception that carries it. Needs the standard library only.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "espalier/export.h"

namespace espalier {

using Index = std::int64_t;  ///< Rows and columns, 0-based.
using Offset = std::int64_t; ///< Positions among nonzeros or coefficients.

/// How a call ended. The values are the exit codes of the `espalier` command.
enum class Status : int {
    ok = 0,
    internal = 1,              ///< A bug in Espalier, or a failure of a library it uses.
    usage = 2,                 ///< Unknown option, contradictory or out-of-range argument.
    bad_input = 3,             ///< A file or array that cannot be understood (syntax, sizes, NaN, Inf).
    io_error = 4,              ///< A file that cannot be opened, read or written.
    singular = 5,              ///< Structurally or numerically singular matrix.
    not_positive_definite = 6, ///< llh found a pivot that is not positive.
    inaccurate = 7,            ///< Solved, but the backward error is above the tolerance.
    out_of_memory = 8,         ///< Memory limit given by the user, or the machine's, would be exceeded.
    unsupported = 9,           ///< Valid, but not available in this version or build.
    cancelled = 10,            ///< Stopped by the caller (signal or callback).
};

/// Short stable name of a status: "ok", "bad_input", ...
ESPALIER_API char const* to_string(Status status);

/// The exception of the library. The message is one line without a trailing dot. It names the file, line,
/// value or limit at fault.
class ESPALIER_API Error : public std::runtime_error {
  public:
    /// `status` is not Status::ok.
    Error(Status status, std::string const& message) : std::runtime_error(message), status_(status) {}
    /// The kind of failure.
    [[nodiscard]] Status status() const noexcept { return status_; }

  private:
    Status status_;
};

/// The scalar types, by their BLAS letter.
enum class Scalar : char {
    s = 's', ///< float
    d = 'd', ///< double
    c = 'c', ///< std::complex<float>
    z = 'z', ///< std::complex<double>
};

/// Symmetry of the values of a matrix.
enum class Symmetry {
    general,   ///< None.
    symmetric, ///< A = A^T
    hermitian, ///< A = A^H (a real symmetric matrix is `symmetric`)
};

/// Factorizations of a matrix.
enum class Factorization {
    automatic, ///< Chosen from the symmetry and the diagonal of the matrix.
    llh,       ///< A = L L^H: real symmetric or Hermitian, positive definite (Cholesky).
    llt,       ///< A = L L^T: complex symmetric; the same as llh for real matrices.
    ldlt,      ///< A = L D L^T: symmetric.
    ldlh,      ///< A = L D L^H: Hermitian; the same as ldlt for real matrices.
    lu,        ///< A = L U: any square matrix.
};

/// Ways to solve a system.
enum class SolveMethod {
    direct,    ///< A complete factorization; refinement improves the solution.
    ilu,       ///< An incomplete factorization as preconditioner of a Krylov method.
    automatic, ///< The one that predicted memory and time recommend.
};

/// Orderings of the unknowns.
enum class OrderingMethod {
    scotch,  ///< Nested dissection by SCOTCH (Pellegrini, Roman, Amestoy 2000).
    metis,   ///< Nested dissection by METIS (Karypis, Kumar 1998).
    amd,     ///< Approximate minimum degree (Amestoy, Davis, Duff 1996).
    natural, ///< The order of the unknowns in the matrix.
    user,    ///< Options::ordering_positions or Options::ordering_file.
    rcm,     ///< Reverse Cuthill-McKee (1969), for narrow bands and incomplete factors.
    /// `dissection`, or `amd` or `rcm` if that saves time; `natural` for incomplete factorizations.
    automatic,
    dissection, ///< Nested dissection (George 1973) by Espalier's multilevel method.
};

/// Scheduling policies: which worker runs which task. docs/scheduling.md explains them and names their
/// sources.
enum class SchedulePolicy {
    static_order, ///< Lists of tasks for each worker, made by a simulation in advance; bitwise reproducible.
    dynamic_tree, ///< A tree of queues that follows the elimination tree (Faverge, Ramet 2008).
    places,       ///< Task lists of the cores and NUMA nodes (Virouleau, Broquedis, Gautier, Rastello 2016).
    nas,          ///< One container of tasks for each NUMA node (Rossignon, Hénon, Aumage, Thibault 2013).
    automatic,    ///< The policy, splitting and widths that simulations of the factorization find fastest.
};

/// SchedulePolicy::places: the NUMA nodes that receive panels or tiles, and with them the first tasks.
enum class PushInit {
    cyclicnuma, ///< The NUMA nodes in turn.
    randnuma,   ///< Random NUMA nodes.
};

/// SchedulePolicy::places: the list that receives a task when it becomes ready.
enum class PushStrategy {
    loc,       ///< pLoc: the core that made the task ready.
    loc_num,   ///< pLocNum: the NUMA node of that core.
    numa_w,    ///< pNumaW: the NUMA node of the data that the task writes.
    numa_wloc, ///< pNumaWLoc: the list of the core if it belongs to that node, else the list of the node.
};

/// SchedulePolicy::places: the lists in which a worker looks for a task after that of its core. Remote nodes
/// are visited starting at a random one.
enum class SelectStrategy {
    rand,      ///< sRand: all cores, starting at a random one, then its node.
    rand_numa, ///< sRandNuma: all NUMA nodes, starting at a random one.
    proc,      ///< sProc: the cores of its node, the node, then cores of remote nodes.
    numa,      ///< sNuma: its node, then remote nodes.
    proc_numa, ///< sProcNuma: the cores of its node, the node, then a remote node likewise.
    numa_proc, ///< sNumaProc: its node, the cores of the node, then a remote node likewise.
};

/// Memory of the coefficients of the factor.
enum class Allocation {
    global,     ///< One array, touched first by one thread.
    local,      ///< Each panel touched first by the thread that owns it.
    interleave, ///< Pages spread over the NUMA nodes.
};

/// Tasks of a column block.
enum class Splitting {
    one_d, ///< One task for each column block.
    two_d, ///< Wide column blocks with several candidate threads: one task for each group of rows.
    /// One task for each column block, which is divided while it runs if candidate threads are idle. Static
    /// schedules, whose lists fix all tasks, divide none.
    dynamic,
};

/// Methods that improve a solution. The Krylov methods have the factorization as preconditioner.
enum class RefineMethod {
    /// Iterative refinement, then GMRES if that stalls. For incomplete factorizations: conjugate gradients if
    /// the factors are Hermitian positive definite, then GMRES; otherwise GMRES.
    automatic,
    none,     ///< Only measures the errors.
    ir,       ///< Iterative refinement (Arioli, Demmel, Duff 1989).
    cg,       ///< Conjugate gradients (Hestenes, Stiefel 1952).
    gmres,    ///< GMRES with restarts (Saad, Schultz 1986).
    bicgstab, ///< BiCGSTAB (van der Vorst 1992).
};

/// Whether an optional step is done.
enum class Toggle {
    automatic, ///< If it helps.
    on,        ///< Always.
    off,       ///< Never.
};

/// op(A) of a system or a product.
enum class MatrixOp {
    none,      ///< A
    transpose, ///< A^T
    adjoint,   ///< A^H
};

/// The spelling of the command line and of the JSON report: "llh", "scotch", "static", "1d", ... "unknown"
/// for a value that is not an enumerator. Never null.
/// @{
ESPALIER_API char const* to_string(Scalar value);
ESPALIER_API char const* to_string(Symmetry value);
ESPALIER_API char const* to_string(Factorization value);
ESPALIER_API char const* to_string(SolveMethod value);
ESPALIER_API char const* to_string(OrderingMethod value);
ESPALIER_API char const* to_string(SchedulePolicy value);
ESPALIER_API char const* to_string(PushInit value);
ESPALIER_API char const* to_string(PushStrategy value);
ESPALIER_API char const* to_string(SelectStrategy value);
ESPALIER_API char const* to_string(Allocation value);
ESPALIER_API char const* to_string(Splitting value);
ESPALIER_API char const* to_string(RefineMethod value);
ESPALIER_API char const* to_string(Toggle value);
ESPALIER_API char const* to_string(MatrixOp value);
/// @}

} // namespace espalier
