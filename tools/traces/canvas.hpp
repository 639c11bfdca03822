// A surface for pictures: rectangles, lines and text, in points from the top left corner.
//
// PNG files are drawn by cairo. SVG files are written here, as cairo's SVG surface turns text into outlines,
// which cannot be searched or copied, and blurs the edges between neighboring states.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace espalier::trace {

enum class Anchor : std::uint8_t { start, middle, end };

struct TextStyle {
    double size = 12;
    Color color{32, 32, 32};
    Anchor anchor = Anchor::start;
    bool bold = false;
};

class Canvas {
  public:
    virtual ~Canvas() = default;
    virtual void rectangle(double x, double y, double width, double height, Color color) = 0;
    virtual void line(double x1, double y1, double x2, double y2, double width, Color color) = 0;
    /// `y` is the baseline. '?' replaces each byte that is not printable ASCII.
    virtual void text(double x, double y, std::string_view text, TextStyle const& style) = 0;
    /// Pixels in a point.
    [[nodiscard]] virtual double resolution() const = 0;
    /// The bytes of the file. The canvas cannot be used afterwards.
    virtual std::string finish() = 0;
};

/// A white canvas of a size in points.
std::unique_ptr<Canvas> svg_canvas(double width, double height);
/// Error{usage} if the picture has more than 2^28 pixels, or more than 32767 in a row or column.
std::unique_ptr<Canvas> png_canvas(double width, double height, double pixels_per_point = 2);

inline std::unique_ptr<Canvas> new_canvas(bool svg, double width, double height) {
    return svg ? svg_canvas(width, height) : png_canvas(width, height);
}

/// The width of a text in points, in the font of PNG files. Other fonts of SVG viewers are similar or
/// narrower.
double text_width(std::string_view text, double size, bool bold = false);

/// The text with '?' in place of each byte that is not printable ASCII.
std::string printable(std::string_view text);

} // namespace espalier::trace
