// The qualitative colours are those of Okabe and Ito (Color Universal Design, 2008) and of Tol (Colour
// schemes, SRON/EPS/TN/09-002, 2021), both for all types of color vision.
#include "trace/kinds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace espalier::trace {
namespace {

constexpr Color rgb(unsigned value) {
    return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8 & 255),
            static_cast<std::uint8_t>(value & 255)};
}

constexpr Color blue = rgb(0x0072B2), orange = rgb(0xE69F00), green = rgb(0x009E73), sky = rgb(0x56B4E9),
                vermilion = rgb(0xD55E00), pink = rgb(0xCC79A7), yellow = rgb(0xF0E442), wine = rgb(0x882255),
                violet = rgb(0xAA4499), olive = rgb(0x999933), gray = rgb(0x888888), indigo = rgb(0x332288);

} // namespace

std::vector<StateKind> standard_kinds() {
    using enum Category;
    return {{"idle", idle, idle_color},
            {"overhead", overhead, gray},
            {"send", communication, violet},
            {"receive", communication, wine},
            {"assemble", work, yellow},
            {"factor", work, blue},
            {"update", work, orange},
            {"subtree", work, green},
            {"fan-in", work, olive},
            {"forward", work, sky},
            {"backward", work, pink},
            {"refine", work, vermilion},
            {"reading", work, rgb(0xDDDDDD)},
            {"ordering", work, rgb(0x77AADD)},
            {"symbolic", work, rgb(0x99DDFF)},
            {"mapping", work, rgb(0x44BB99)},
            {"scheduling", work, rgb(0xBBCC33)},
            {"assembly", work, rgb(0xEEDD88)},
            {"factorization", work, rgb(0xEE8866)},
            {"solve", work, rgb(0xFFAABB)},
            {"refinement", work, rgb(0xC8B8E8)}};
}

std::vector<Variable> standard_variables() {
    return {{"memory", "bytes", Place::process}, {"ready tasks", "", Place::process}};
}

Color distinct_color(std::size_t index) {
    static constexpr std::array colors{blue,   orange, green,  sky,   vermilion, pink,
                                       yellow, wine,   violet, olive, gray,      indigo};
    return colors[index % colors.size()];
}

// The lightness of this ramp falls monotonically, so that it is readable without hues.
Color level_color(int level, int deepest) {
    static constexpr std::array anchors{rgb(0xFDE74C), rgb(0x9CCB4A), rgb(0x2FA389), rgb(0x2278A8),
                                        rgb(0x463C9E)};
    return ramp_color(anchors, deepest <= 0 ? 0.0 : double(level) / deepest);
}

Color ramp_color(std::span<Color const> anchors, double place) {
    int const last = static_cast<int>(anchors.size()) - 1;
    double const at = std::clamp(place, 0.0, 1.0) * last;
    int const below = std::min(static_cast<int>(at), last - 1);
    double const share = at - below;
    auto const between = [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
    };
    Color const a = anchors[below], b = anchors[below + 1];
    return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

} // namespace espalier::trace
