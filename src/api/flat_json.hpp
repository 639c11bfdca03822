// A small JSON document read into its numbers and texts by their paths. Hostile input is refused, and costs
// no more memory than a few times its size.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace espalier {

/// {"a": [1, {"b": "x"}]} is "a.0" = 1 and "a.1.b" = "x". true is 1, false 0; null is left out.
using FlatJson = std::map<std::string, std::variant<double, std::string>, std::less<>>;

/// Nothing when the text is not one JSON value, is nested more than 16 deep, longer than 4 MiB, has a number
/// that a double cannot hold, or a name twice in one object.
std::optional<FlatJson> parse_flat_json(std::string_view text);

/// The text as a JSON string, in quotes. Bytes that are not ASCII are left as they are.
std::string json_quoted(std::string_view text);

} // namespace espalier
