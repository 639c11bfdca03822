#include "runtime/policy_settings.hpp"

#include <iterator>
#include <string>

namespace espalier {

namespace {

// By value.
constexpr char const* push_init_names[] = {"cyclicnuma", "randnuma"};
constexpr char const* push_names[] = {"pLoc", "pLocNum", "pNumaW", "pNumaWLoc"};
constexpr char const* select_names[] = {"sRand", "sRandNuma", "sProc", "sNuma", "sProcNuma", "sNumaProc"};

template <class Value, std::size_t count>
Value parse(char const* what, char const* const (&names)[count], std::string_view text) {
    std::string known;
    for (std::size_t i = 0; i < count; ++i) {
        if (names[i] == text) return static_cast<Value>(i);
        known += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    throw Error(Status::usage,
                "unknown " + std::string(what) + " '" + std::string(text) + "'; there are " + known);
}

} // namespace

char const* to_string(PushInit value) {
    return push_init_names[static_cast<int>(value)];
}

char const* to_string(Push value) {
    return push_names[static_cast<int>(value)];
}

char const* to_string(Select value) {
    return select_names[static_cast<int>(value)];
}

PushInit parse_push_init(std::string_view text) {
    return parse<PushInit>("initial distribution", push_init_names, text);
}

Push parse_push(std::string_view text) {
    return parse<Push>("push strategy", push_names, text);
}

Select parse_select(std::string_view text) {
    return parse<Select>("selection strategy", select_names, text);
}

} // namespace espalier
