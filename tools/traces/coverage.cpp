#include "tools/traces/coverage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

// Converts values of the screen to amounts of light, and back (IEC 61966-2-1).
double to_light(std::uint8_t value) {
    static auto const table = [] {
        std::array<double, 256> light{};
        for (std::size_t i = 0; i < light.size(); ++i) {
            double const s = static_cast<double>(i) / 255;
            light[i] = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
        }
        return light;
    }();
    return table[value];
}

std::uint8_t to_value(double light) {
    double const s = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
    // Invisible steps of 4 give more neighbors the same color.
    return static_cast<std::uint8_t>(std::clamp(std::lround(s * 255 / 4) * 4, 0L, 255L));
}

Color mix(Coverage const& coverage, std::size_t column, std::vector<Color> const& colors, Color background) {
    Nanoseconds const width = coverage.boundary(column + 1) - coverage.boundary(column);
    double red = 0, green = 0, blue = 0;
    auto const add = [&](Color color, Nanoseconds part) {
        double const share = static_cast<double>(part) / static_cast<double>(width);
        red += share * to_light(color.red);
        green += share * to_light(color.green);
        blue += share * to_light(color.blue);
    };
    Nanoseconds left = width;
    for (std::size_t c = 0; c < colors.size(); ++c) {
        Nanoseconds const part = std::min(left, coverage.covered(column, c));
        if (part == 0) continue;
        if (part == width) return colors[c];
        add(colors[c], part);
        left -= part;
    }
    if (left == width) return background;
    add(background, left);
    return {to_value(red), to_value(green), to_value(blue)};
}

} // namespace

Coverage::Coverage(Window window, std::size_t columns, std::size_t classes)
    : window_(window), columns_(columns), classes_(classes), covered_(columns * classes, 0) {
    if (columns == 0 || window.end <= window.begin) throw Error(Status::usage, "trace: the window is empty");
}

// begin + span * column / columns, without a product that might overflow.
Nanoseconds Coverage::boundary(std::size_t column) const {
    auto const span = window_.end - window_.begin;
    auto const n = static_cast<Nanoseconds>(columns_), c = static_cast<Nanoseconds>(column);
    return window_.begin + span / n * c + span % n * c / n;
}

std::size_t Coverage::column_of(Nanoseconds time) const {
    double const share =
        static_cast<double>(time - window_.begin) / static_cast<double>(window_.end - window_.begin);
    auto column = std::min<std::size_t>(columns_ - 1, std::llround(share * static_cast<double>(columns_)));
    while (boundary(column) > time) --column;
    while (column + 1 < columns_ && boundary(column + 1) <= time) ++column;
    return column;
}

void Coverage::add(Nanoseconds start, Nanoseconds end, std::size_t which) {
    start = std::max(start, window_.begin);
    end = std::min(end, window_.end);
    if (start >= end) return;
    for (std::size_t column = column_of(start); start < end; ++column) {
        Nanoseconds const stop = std::min(end, boundary(column + 1));
        covered_[column * classes_ + which] += stop - start;
        start = stop;
    }
}

std::vector<ColorRun> color_runs(Coverage const& coverage, std::vector<Color> const& colors,
                                 Color background) {
    std::vector<ColorRun> runs;
    for (std::size_t column = 0; column < coverage.columns(); ++column) {
        // If there are more columns than nanoseconds, some have no width.
        if (coverage.boundary(column) == coverage.boundary(column + 1)) {
            if (!runs.empty() && runs.back().end == column) ++runs.back().end;
            continue;
        }
        Color const color = mix(coverage, column, colors, background);
        if (color == background) continue;
        if (!runs.empty() && runs.back().end == column && runs.back().color == color)
            ++runs.back().end;
        else
            runs.push_back({column, column + 1, color});
    }
    return runs;
}

} // namespace espalier::trace
