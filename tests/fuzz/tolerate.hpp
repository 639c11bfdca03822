// The permitted results of a reader for arbitrary text: a valid matrix, or bad_input or unsupported with a
// message of one line. Anything else ends the fuzzer.
#pragma once

#include <cstdlib>
#include <string_view>

#include "espalier/types.hpp"

namespace espalier::fuzz {

template <class Action> void tolerate(Action const& action) {
    try {
        action();
    } catch (Error const& error) {
        bool const expected = error.status() == Status::bad_input || error.status() == Status::unsupported;
        std::string_view const message = error.what();
        if (!expected || message.empty() || message.find('\n') != std::string_view::npos) std::abort();
    }
}

} // namespace espalier::fuzz
