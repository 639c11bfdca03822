// A small JSON document read into its numbers and texts by their paths. Hostile input is refused, and costs
// no more memory than a few times its size.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace espalier {

/// {"a": [1, {"b": "x"}]} is "a.0" = 1 and "a.1.b" = "x". null is left out.
using FlatJson = std::map<std::string, std::variant<double, std::string, bool>, std::less<>>;

inline constexpr std::size_t longest_flat_json = std::size_t{4} << 20;

/// Nothing when the text is not one JSON value, is nested more than 16 deep, longer than 4 MiB, has a number
/// that a double cannot hold, a name twice in one object, or one with a dot in it. Then `fault`, where it is
/// not null, says so with the line.
std::optional<FlatJson> parse_flat_json(std::string_view text, std::string* fault = nullptr);

/// The text as a JSON string, in quotes. Bytes that are not ASCII are left as they are.
std::string json_quoted(std::string_view text);

} // namespace espalier
