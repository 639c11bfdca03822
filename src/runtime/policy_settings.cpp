#include "runtime/policy_settings.hpp"

#include <array>
#include <string>

namespace espalier {

namespace {

template <class Value, std::size_t count>
Value parse(char const* what, std::array<Value, count> const& values, std::string_view text) {
    std::string known;
    for (Value const value : values) {
        if (text == to_string(value)) return value;
        known += (known.empty() ? "" : ", ") + std::string(to_string(value));
    }
    throw Error(Status::usage,
                "unknown " + std::string(what) + " '" + std::string(text) + "'; there are " + known);
}

} // namespace

PushInit parse_push_init(std::string_view text) {
    using enum PushInit;
    return parse("initial distribution", std::array{cyclicnuma, randnuma}, text);
}

PushStrategy parse_push(std::string_view text) {
    using enum PushStrategy;
    return parse("push strategy", std::array{loc, loc_num, numa_w, numa_wloc}, text);
}

SelectStrategy parse_select(std::string_view text) {
    using enum SelectStrategy;
    return parse("selection strategy", std::array{rand, rand_numa, proc, numa, proc_numa, numa_proc}, text);
}

} // namespace espalier
