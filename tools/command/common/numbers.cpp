#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "core/counted.hpp"

namespace espalier::command {

namespace {

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
    return fmt::format("{} {}", with_separators(count), noun_for(count, noun, plural));
}

std::string steals_text(std::vector<std::int64_t> const& by_distance) {
    std::int64_t const all = std::accumulate(by_distance.begin(), by_distance.end(), std::int64_t{0});
    if (all == 0) return "none";
    std::string text = counted(all, "task");
    char const* separator = ": ";
    for (std::size_t d = 1; d < by_distance.size(); ++d)
        if (by_distance[d] > 0) {
            text += fmt::format("{}{} at distance {}", separator, with_separators(by_distance[d]), d);
            separator = ", ";
        }
    return text;
}

} // namespace espalier::command
