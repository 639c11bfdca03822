// The vocabulary every room and every caller shares: index types, the choices a user can make, the
// status of a call and the one exception that carries it. Only std.
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
    not_positive_definite = 6, ///< llh met a pivot that is not positive.
    inaccurate = 7,            ///< Solved, but the backward error is above the tolerance.
    out_of_memory = 8,         ///< Memory limit given by the user, or the machine's, would be exceeded.
    unsupported = 9,           ///< Understood, but this version or build cannot do it.
    cancelled = 10,            ///< Stopped by the caller (signal or callback).
};

/// Short stable name of a status: "ok", "bad_input", ...
ESPALIER_API char const* to_string(Status status);

/// What is thrown inside the library. The message is one line without a trailing dot, and names what is
/// at fault and where (file, line, value, limit).
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
enum class Scalar : char { s = 's', d = 'd', c = 'c', z = 'z' };

/// The symmetry of the *values* of a matrix.
enum class Symmetry {
    general,
    symmetric, ///< A = A^T
    hermitian, ///< A = A^H (a real symmetric matrix is `symmetric`)
};

/// A = L L^H, L L^T, L D L^T, L D L^H or L U; `automatic` chooses from symmetry and diagonal.
enum class Factorization { automatic, llh, llt, ldlt, ldlh, lu };

enum class OrderingMethod { scotch, metis, amd, natural, user };
enum class SchedulePolicy { static_order, dynamic_tree, places, nas };
/// Of SchedulePolicy::places: where the tasks go that are ready at the beginning.
enum class PushInit {
    cyclicnuma, ///< To the NUMA nodes in turn.
    randnuma,   ///< Each to a NUMA node at random.
};

/// Of SchedulePolicy::places: where a task goes that became ready.
enum class PushStrategy {
    loc,       ///< pLoc: the list of the core that made it ready.
    loc_num,   ///< pLocNum: the list of that core's NUMA node.
    numa_w,    ///< pNumaW: the list of the NUMA node where it writes.
    numa_wloc, ///< pNumaWLoc: the core's list if the core stands on that node, else the node's.
};

/// Of SchedulePolicy::places: where a worker steals whose own lists are empty.
enum class SelectStrategy {
    rand,      ///< sRand: from a random core.
    rand_numa, ///< sRandNuma: from a random NUMA node.
    proc,      ///< sProc: from cores, nearest first.
    numa,      ///< sNuma: from NUMA nodes, nearest first.
    proc_numa, ///< sProcNuma: node by node, nearest first, from the cores and then from the node.
    numa_proc, ///< sNumaProc: node by node, nearest first, from the node and then from the cores.
};

enum class Allocation { global, local, interleave };
enum class Splitting { one_d, two_d };
enum class RefineMethod { automatic, none, ir, cg, gmres, bicgstab };

/// A step of the pipeline that is done where it helps (`automatic`), always, or never.
enum class Toggle { automatic, on, off };

/// op(A): A, A^T or A^H. Which of them a system or a product is with.
enum class MatrixOp { none, transpose, adjoint };

/// The spelling of the command line and of the JSON report: "llh", "scotch", "static", "1d", ...
ESPALIER_API char const* to_string(Scalar value);
ESPALIER_API char const* to_string(Symmetry value);
ESPALIER_API char const* to_string(Factorization value);
ESPALIER_API char const* to_string(OrderingMethod value);
ESPALIER_API char const* to_string(SchedulePolicy value);
ESPALIER_API char const* to_string(PushInit value);       // cyclicnuma, randnuma
ESPALIER_API char const* to_string(PushStrategy value);   // pLoc, pLocNum, ...
ESPALIER_API char const* to_string(SelectStrategy value); // sRand, sRandNuma, ...
ESPALIER_API char const* to_string(Allocation value);
ESPALIER_API char const* to_string(Splitting value);
ESPALIER_API char const* to_string(RefineMethod value);
ESPALIER_API char const* to_string(Toggle value);   // auto, on, off
ESPALIER_API char const* to_string(MatrixOp value); // none, transpose, adjoint

} // namespace espalier
