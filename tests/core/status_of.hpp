// The status of a failed call, for the tests of all modules.
#pragma once

#include <string>

#include <gtest/gtest.h>

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

/// Whether `call` throws an Error of this status with `part` in its message; shows what happened if not.
template <class Call>
::testing::AssertionResult throws_error(Status status, std::string const& part, Call const& call) {
    std::string message;
    Status const found = status_of(call, &message);
    if (found == status && message.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << to_string(found) << ": " << message << "; expected "
                                         << to_string(status) << " with \"" << part << '"';
}

} // namespace espalier
