// The processes that share a handle of the C interface, and the state that they exchange at the beginning of
// each call.
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
    bool factors_uncertain = false; ///< A refinement failed and may have dropped the factors.
    Index order = 0;                ///< The order of the matrix.
    Offset stored = 0;              ///< Stored entries of the matrix.
    double tolerance = 0;           ///< Tolerance of the backward error.
};

/// The processes of a handle.
struct HandleProcesses {
    Communicator all;
    /// The processes that make the calls: all of them, or only process 0 if the others follow it.
    Communicator calling;
};

/// Collective. Error{usage} on all processes unless they have the same scalar type (as a number) and either
/// all or none of the others follow process 0.
HandleProcesses agree_on_handle(Communicator comm, int scalar, bool follows);

} // namespace espalier
