#include "options/parse_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/suggest.hpp"
#include "espalier/types.hpp"

namespace espalier {

namespace {

constexpr std::string_view prefixes = "KMGT";

// The number that makes up all of `text`. Spaces and a leading '+' are errors.
template <class Number> std::optional<Number> whole_number(std::string_view text) {
    Number value{};
    char const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || text.empty()) return std::nullopt;
    return value;
}

// "--threads needs auto or a whole number ..., not '0'"
[[noreturn]] void refuse(std::string_view option, std::string_view other, std::string_view needed,
                         std::string_view text) {
    throw Error(Status::usage, fmt::format("{} needs {}{}{}, not '{}'", option, other,
                                           other.empty() ? "" : " or ", needed, text));
}

// A finite number for which `fits` holds; `which` says so in words.
double parse_real(std::string_view option, std::string_view text, std::string_view other, auto const& fits,
                  std::string_view which) {
    auto const value = whole_number<double>(text);
    if (!value || !std::isfinite(*value) || !fits(*value))
        refuse(option, other, fmt::format("a number {}", which), text);
    return *value;
}

std::optional<double> bytes_of_unit(std::string_view unit) {
    if (unit.empty() || unit == "B") return 1.0;
    std::size_t const place = prefixes.find(unit.front() == 'k' ? 'K' : unit.front());
    if (place == std::string_view::npos) return std::nullopt;
    std::string_view const rest = unit.substr(1);
    if (rest.empty() || rest == "iB") return std::pow(1024.0, static_cast<double>(place + 1));
    if (rest == "B") return std::pow(1000.0, static_cast<double>(place + 1));
    return std::nullopt;
}

} // namespace

std::size_t parse_choice(std::string_view option, std::string_view text,
                         std::span<char const* const> choices) {
    std::vector<std::string_view> const known(choices.begin(), choices.end());
    auto const found = std::find(known.begin(), known.end(), text);
    if (found == known.end())
        throw Error(Status::usage, fmt::format("{} needs one of {}, not '{}'{}", option,
                                               fmt::join(known, ", "), text, did_you_mean(text, known)));
    return static_cast<std::size_t>(found - known.begin());
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most, std::string_view other) {
    auto const value = whole_number<std::int64_t>(text);
    if (!value || *value < least || *value > most)
        refuse(option, other, fmt::format("a whole number between {} and {}", least, most), text);
    return *value;
}

double parse_positive(std::string_view option, std::string_view text, double most, std::string_view other) {
    return parse_real(
        option, text, other, [most](double value) { return value > 0 && value <= most; },
        std::isfinite(most) ? fmt::format("above zero and at most {}", most) : "above zero");
}

double parse_not_negative(std::string_view option, std::string_view text, std::string_view other) {
    return parse_real(
        option, text, other, [](double value) { return value >= 0; }, "that is not negative");
}

std::uint64_t parse_size(std::string_view option, std::string_view text, std::string_view other) {
    std::size_t const digits = std::min(text.find_first_not_of("0123456789."), text.size());
    auto const number = whole_number<double>(text.substr(0, digits));
    auto const unit = bytes_of_unit(text.substr(digits));
    if (!number || !unit || !(*number > 0))
        refuse(option, other, "a size above zero, such as 512M, 4G or 1.5GiB", text);
    double const bytes = std::floor(*number * *unit);
    if (bytes < 1 || bytes >= std::ldexp(1.0, 63))
        throw Error(Status::usage, fmt::format("{} '{}' is outside of 1 byte to 8388607 TiB", option, text));
    return static_cast<std::uint64_t>(bytes);
}

std::string spell_size(std::uint64_t bytes) {
    std::size_t unit = 0;
    while (bytes > 0 && bytes % 1024 == 0 && unit < prefixes.size()) {
        bytes /= 1024;
        ++unit;
    }
    std::string text = std::to_string(bytes);
    if (unit > 0) text += prefixes[unit - 1];
    return text;
}

} // namespace espalier
