// Return codes of MPI as errors.
#pragma once

#include <mpi.h>

#include <string>

#include "espalier/types.hpp"

namespace espalier {

/// Error{internal} (or out_of_memory) with the name of the call and the library's text, unless `code` is
/// success.
inline void check_mpi(int code, char const* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    for (char& c : text)
        if (c == '\n') c = ' ';
    throw Error(error_class == MPI_ERR_NO_MEM ? Status::out_of_memory : Status::internal,
                std::string(call) + " failed: " + text);
}

} // namespace espalier
