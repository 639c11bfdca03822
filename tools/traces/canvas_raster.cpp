#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "espalier/types.hpp"
#include "tools/traces/canvas.hpp"
#include "tools/traces/stroke_font.hpp"

namespace espalier::trace {
namespace {

constexpr double largest = double(1 << 28);

// Of [first, last) the part that lies in pixel `at`.
double overlap(double first, double last, std::size_t at) {
    auto const low = static_cast<double>(at);
    return std::max(0.0, std::min(last, low + 1) - std::max(first, low));
}

std::size_t clamped(double value, std::size_t limit) {
    return static_cast<std::size_t>(std::clamp(value, 0.0, static_cast<double>(limit)));
}

int digit(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

} // namespace

RasterCanvas::RasterCanvas(double width, double height, double scale) : scale_(scale) {
    if (!(width * scale >= 1) || !(height * scale >= 1) || width * height * scale * scale > largest)
        throw Error(Status::usage, "trace: a picture of " + std::to_string(width * scale) + " x " +
                                       std::to_string(height * scale) + " pixels");
    width_ = static_cast<std::size_t>(width * scale);
    height_ = static_cast<std::size_t>(height * scale);
    pixels_.assign(width_ * height_ * 3, 255);
}

void RasterCanvas::blend(std::size_t x, std::size_t y, Color color, double share) {
    std::uint8_t* const pixel = &pixels_[(y * width_ + x) * 3];
    std::uint8_t const parts[]{color.red, color.green, color.blue};
    for (int i = 0; i < 3; ++i)
        pixel[i] = share >= 1
                       ? parts[i]
                       : static_cast<std::uint8_t>(std::lround(pixel[i] + share * (parts[i] - pixel[i])));
}

void RasterCanvas::rectangle(double x, double y, double width, double height, Color color) {
    double const left = x * scale_, right = (x + width) * scale_;
    double const top = y * scale_, bottom = (y + height) * scale_;
    // Rounding of sums must not leave a hair between rectangles that touch.
    constexpr double hair = 1e-6;
    for (std::size_t row = clamped(top, height_); row < clamped(std::ceil(bottom), height_); ++row)
        for (std::size_t column = clamped(left, width_); column < clamped(std::ceil(right), width_);
             ++column) {
            double const share = overlap(left, right, column) * overlap(top, bottom, row);
            if (share > hair) blend(column, row, color, share > 1 - hair ? 1 : share);
        }
}

void RasterCanvas::stroke(std::vector<Point> const& points, double width, Color color) {
    if (points.empty()) return;
    double left = points[0].x, right = left, top = points[0].y, bottom = top;
    for (Point const& p : points) {
        left = std::min(left, p.x), right = std::max(right, p.x);
        top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
    double const reach = width / 2 + 1;
    for (std::size_t row = clamped(top - reach, height_); row < clamped(bottom + reach + 1, height_); ++row)
        for (std::size_t column = clamped(left - reach, width_); column < clamped(right + reach + 1, width_);
             ++column) {
            double const x = static_cast<double>(column) + 0.5, y = static_cast<double>(row) + 0.5;
            double nearest = std::numeric_limits<double>::max();
            for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
                auto const [ax, ay] = points[i];
                double const dx = points[i + 1].x - ax, dy = points[i + 1].y - ay;
                double const squared = dx * dx + dy * dy;
                double const t =
                    squared > 0 ? std::clamp(((x - ax) * dx + (y - ay) * dy) / squared, 0.0, 1.0) : 0.0;
                nearest = std::min(nearest, std::hypot(x - ax - t * dx, y - ay - t * dy));
            }
            double const share = std::clamp(0.5 + width / 2 - nearest, 0.0, 1.0);
            if (share > 0) blend(column, row, color, share);
        }
}

void RasterCanvas::line(double x1, double y1, double x2, double y2, double width, Color color) {
    if (x1 == x2) return rectangle(x1 - width / 2, std::min(y1, y2), width, std::abs(y2 - y1), color);
    if (y1 == y2) return rectangle(std::min(x1, x2), y1 - width / 2, std::abs(x2 - x1), width, color);
    // Along the longer side pixel by pixel; across it, as far as the line is wide.
    Point a{x1 * scale_, y1 * scale_}, b{x2 * scale_, y2 * scale_};
    bool const steep = std::abs(b.y - a.y) > std::abs(b.x - a.x);
    if (steep) std::swap(a.x, a.y), std::swap(b.x, b.y);
    if (a.x > b.x) std::swap(a, b);
    double const slope = (b.y - a.y) / (b.x - a.x), straight = 1 / std::hypot(1, slope);
    double const half = width * scale_ / 2, reach = half / straight + 1;
    std::size_t const along_limit = steep ? height_ : width_, across_limit = steep ? width_ : height_;
    for (std::size_t along = clamped(a.x, along_limit); along < clamped(std::ceil(b.x), along_limit);
         ++along) {
        double const middle = a.y + slope * (static_cast<double>(along) + 0.5 - a.x);
        for (std::size_t across = clamped(middle - reach, across_limit);
             across < clamped(middle + reach + 1, across_limit); ++across) {
            double const distance = std::abs(static_cast<double>(across) + 0.5 - middle) * straight;
            double const share = std::clamp(0.5 + half - distance, 0.0, 1.0);
            if (share > 0) blend(steep ? across : along, steep ? along : across, color, share);
        }
    }
}

void RasterCanvas::text(double x, double y, std::string_view text, TextStyle const& style) {
    double const unit = style.size / glyph_units;
    if (style.anchor != Anchor::start)
        x -= text_width(text, style.size) * (style.anchor == Anchor::middle ? 0.5 : 1.0);
    std::vector<Point> points;
    for (char const c : text) {
        points.clear();
        auto const lines = glyph(c);
        for (std::size_t i = 0; i + 3 < lines.size();) {
            auto const at = [&](std::size_t k) {
                return Point{(x + digit(lines[k]) * unit) * scale_,
                             (y - (digit(lines[k + 1]) - glyph_baseline) * unit) * scale_};
            };
            points.push_back(at(i));
            points.push_back(at(i + 2));
            i += 2;
            if (i + 2 < lines.size() && lines[i + 2] == ' ') i += 3;
        }
        stroke(points, style.size * (style.bold ? 0.145 : 0.1) * scale_, style.color);
        x += glyph_advance(c) * unit;
    }
}

Color RasterCanvas::pixel(std::size_t x, std::size_t y) const {
    std::uint8_t const* const p = &pixels_[(y * width_ + x) * 3];
    return {p[0], p[1], p[2]};
}

std::string RasterCanvas::finish() {
    return png(width_, height_, pixels_);
}

} // namespace espalier::trace
