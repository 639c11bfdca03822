// The permitted results of a reader for arbitrary text: valid data, or an error of an expected status with a
// message of one line. Anything else ends the fuzzer.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "espalier/types.hpp"

namespace espalier::fuzz {

template <class Action> void tolerate(Action const& action, std::initializer_list<Status> expected = {
                                                                Status::bad_input, Status::unsupported}) {
    try {
        action();
    } catch (Error const& error) {
        std::string_view const message = error.what();
        bool const is_expected = std::ranges::find(expected, error.status()) != expected.end();
        if (!is_expected || message.empty() || message.find('\n') != std::string_view::npos) std::abort();
    }
}

} // namespace espalier::fuzz
