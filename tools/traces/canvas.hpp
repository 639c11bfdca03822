// What pictures are drawn on: rectangles, lines and text, in points from the top left corner. One canvas
// writes SVG, the other paints pixels and makes a PNG of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
    /// `y` is the line that the letters stand on. Letters outside ASCII may show as '?'.
    virtual void text(double x, double y, std::string_view text, TextStyle const& style) = 0;
    /// How fine the canvas is: pixels in a point.
    [[nodiscard]] virtual double resolution() const = 0;
    /// The finished file.
    virtual std::string finish() = 0;
};

/// About as wide as the text will be.
double text_width(std::string_view text, double size);

class SvgCanvas final : public Canvas {
  public:
    SvgCanvas(double width, double height);
    void rectangle(double x, double y, double width, double height, Color color) override;
    void line(double x1, double y1, double x2, double y2, double width, Color color) override;
    void text(double x, double y, std::string_view text, TextStyle const& style) override;
    [[nodiscard]] double resolution() const override { return 2; }
    std::string finish() override;

  private:
    void number(char const* name, double value);
    void color(char const* name, Color color);
    std::string svg_;
};

class RasterCanvas final : public Canvas {
  public:
    /// `scale` pixels in a point. Error{usage} for more than 2^28 pixels.
    RasterCanvas(double width, double height, double scale);
    void rectangle(double x, double y, double width, double height, Color color) override;
    void line(double x1, double y1, double x2, double y2, double width, Color color) override;
    void text(double x, double y, std::string_view text, TextStyle const& style) override;
    [[nodiscard]] double resolution() const override { return scale_; }
    std::string finish() override;

    [[nodiscard]] Color pixel(std::size_t x, std::size_t y) const;

  private:
    struct Point {
        double x, y;
    };
    void blend(std::size_t x, std::size_t y, Color color, double share);
    /// All segments (pairs of points) at once, round at their ends, in pixels.
    void stroke(std::vector<Point> const& points, double width, Color color);

    double scale_;
    std::size_t width_, height_; ///< Pixels.
    std::vector<std::uint8_t> pixels_;
};

/// A PNG file of rows of red, green and blue.
std::string png(std::size_t width, std::size_t height, std::vector<std::uint8_t> const& pixels);

} // namespace espalier::trace
