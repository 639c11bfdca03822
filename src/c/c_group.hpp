// The processes that share a handle of the C interface, and what they agree on at the beginning of each call.
#pragma once

#include "comm/collective_call.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// The state of a handle; all processes use the values of process 0.
struct HandleState {
    bool has_matrix = false;
    bool analyzed = false;          ///< The pattern of the matrix.
    bool factorized = false;        ///< The values of the matrix.
    bool factors_uncertain = false; ///< A refinement has failed, which may have dropped the factors.
    Index order = 0;                ///< The order of the matrix.
    Offset stored = 0;              ///< Entries of the matrix that are kept.
    double tolerance = 0;           ///< For the backward error, in force.
};

/// The processes of a handle.
struct HandleProcesses {
    Communicator all;
    /// The processes that make the calls: all of them, or process 0 alone while the others follow it.
    Communicator calling;
};

/// Collective. Error{usage} on all processes unless all give the scalar type of process 0 (as a number), and
/// the others either all follow process 0 or all make its calls.
HandleProcesses agree_on_handle(Communicator comm, int scalar, bool follows);

} // namespace espalier
