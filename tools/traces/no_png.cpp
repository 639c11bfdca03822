// Takes the place of canvas_png.cpp in builds without cairo.
#include "espalier/types.hpp"
#include "tools/traces/canvas.hpp"

namespace espalier::trace {

std::unique_ptr<Canvas> png_canvas(double, double, double) {
    throw Error(Status::unsupported,
                "this build has no cairo, which draws PNG files; write SVG or HTML instead");
}

// Somewhat wider than the mean letter of a sans-serif font.
double text_width(std::string_view text, double size, bool bold) {
    return (bold ? 0.65 : 0.6) * size * static_cast<double>(text.size());
}

} // namespace espalier::trace
