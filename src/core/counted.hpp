// Numbers with their nouns, for messages and reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace espalier {

/// The noun for a number of things: "thread" for 1, otherwise `plural`, or if that is empty "threads".
inline std::string noun_for(std::int64_t count, std::string_view noun, std::string_view plural = "") {
    if (count == 1) return std::string(noun);
    return plural.empty() ? fmt::format("{}s", noun) : std::string(plural);
}

/// "1 thread", "2 threads"; with a `plural`, "1 entry", "2 entries".
inline std::string counted(std::int64_t count, std::string_view noun, std::string_view plural = "") {
    return fmt::format("{} {}", count, noun_for(count, noun, plural));
}

} // namespace espalier
