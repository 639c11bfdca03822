// The status of a failed call, for the tests of all rooms.
#pragma once

#include <string>

#include "espalier/types.hpp"

namespace espalier {

/// The status of the Error that `call` throws, or ok; stores the message of the Error in `message`.
template <class Call> Status status_of(Call const& call, std::string* message = nullptr) {
    try {
        call();
    } catch (Error const& error) {
        if (message) *message = error.what();
        return error.status();
    }
    return Status::ok;
}

} // namespace espalier
