#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier::command {

namespace {

// The number that is the whole of `text`; a sign other than '-' and spaces are not numbers.
template <class Number> std::optional<Number> whole_number(std::string_view text) {
    Number value{};
    char const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || text.empty()) return std::nullopt;
    return value;
}

std::optional<double> bytes_of_unit(std::string_view unit) {
    constexpr std::string_view prefixes = "KMGT";
    if (unit.empty() || unit == "B") return 1.0;
    std::size_t const place = prefixes.find(unit.front() == 'k' ? 'K' : unit.front());
    if (place == std::string_view::npos) return std::nullopt;
    std::string_view const rest = unit.substr(1);
    if (rest.empty() || rest == "iB") return std::pow(1024.0, static_cast<double>(place + 1));
    if (rest == "B") return std::pow(1000.0, static_cast<double>(place + 1));
    return std::nullopt;
}

template <std::size_t size>
std::string scaled(double value, double step, std::array<char const*, size> const& units) {
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < size) {
        value /= step;
        ++unit;
    }
    int decimals = 2;
    if (value >= 9.995) decimals = 1;
    if (value >= 99.95 || unit == 0) decimals = 0;
    return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

} // namespace

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most) {
    auto const value = whole_number<std::int64_t>(text);
    if (!value || *value < least || *value > most)
        throw Error(Status::usage, fmt::format("{} needs a whole number between {} and {}, not '{}'", option,
                                               least, most, text));
    return *value;
}

double parse_positive(std::string_view option, std::string_view text) {
    auto const value = whole_number<double>(text);
    if (!value || !std::isfinite(*value) || *value <= 0)
        throw Error(Status::usage, fmt::format("{} needs a number above zero, not '{}'", option, text));
    return *value;
}

std::uint64_t parse_size(std::string_view option, std::string_view text) {
    std::size_t const digits = std::min(text.find_first_not_of("0123456789."), text.size());
    auto const number = whole_number<double>(text.substr(0, digits));
    auto const unit = bytes_of_unit(text.substr(digits));
    if (!number || !unit || !(*number > 0))
        throw Error(
            Status::usage,
            fmt::format("{} needs a size above zero such as 512M, 4G or 1.5GiB, not '{}'", option, text));
    double const bytes = std::floor(*number * *unit);
    if (bytes < 1 || bytes >= std::ldexp(1.0, 63))
        throw Error(Status::usage, fmt::format("{} '{}' is outside 1 byte to 8388607 TiB", option, text));
    return static_cast<std::uint64_t>(bytes);
}

std::string with_separators(std::int64_t value) {
    std::string text = std::to_string(value);
    std::ptrdiff_t const first = value < 0 ? 1 : 0;
    for (std::ptrdiff_t place = std::ssize(text) - 3; place > first; place -= 3)
        text.insert(static_cast<std::size_t>(place), 1, ',');
    return text;
}

std::string readable_bytes(double bytes) {
    return scaled(bytes, 1024, std::array{"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string readable_flops(double flops) {
    return scaled(flops, 1000, std::array{"flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop"});
}

std::string readable_seconds(double seconds) {
    int decimals = 4;
    if (seconds >= 0.00995) decimals = 3;
    if (seconds >= 0.0995) decimals = 2;
    if (seconds >= 99.95) decimals = 0;
    return fmt::format("{:.{}f} s", seconds, decimals);
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    std::size_t const half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string counted(std::int64_t count, std::string_view noun, std::string_view plural) {
    std::string const number = with_separators(count);
    if (count == 1) return fmt::format("{} {}", number, noun);
    return plural.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, plural);
}

} // namespace espalier::command
