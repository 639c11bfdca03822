// Turns return codes of MPI into errors.
#pragma once

#include <mpi.h>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier {

/// Throws Error{internal} or {out_of_memory} with the call and the text of the library, unless MPI_SUCCESS.
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
                fmt::format("{} failed: {}", call, text));
}

} // namespace espalier
