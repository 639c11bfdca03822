#include <array>
#include <charconv>
#include <cmath>

#include "tools/traces/canvas.hpp"
#include "tools/traces/stroke_font.hpp"

namespace espalier::trace {
namespace {

// With at most two digits after the point.
void append_number(std::string& text, double value) {
    std::array<char, 32> digits;
    double const rounded = std::round(value * 100) / 100;
    auto const end = std::to_chars(digits.begin(), digits.end(), rounded, std::chars_format::fixed);
    text.append(digits.data(), end.ptr);
}

bool is_allowed(unsigned char c) {
    return c >= ' ' && c < 0x7F;
}

} // namespace

double text_width(std::string_view text, double size) {
    double units = 0;
    for (char const c : text) units += glyph_advance(c);
    return units * size / glyph_units;
}

SvgCanvas::SvgCanvas(double width, double height) {
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"";
    number("width", width);
    number("height", height);
    svg_ += " font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" shape-rendering=\"crispEdges\">\n";
    rectangle(0, 0, width, height, {255, 255, 255});
}

void SvgCanvas::number(char const* name, double value) {
    svg_ += ' ';
    svg_ += name;
    svg_ += "=\"";
    append_number(svg_, value);
    svg_ += '"';
}

void SvgCanvas::color(char const* name, Color color) {
    constexpr char hex[] = "0123456789abcdef";
    svg_ += ' ';
    svg_ += name;
    svg_ += "=\"#";
    for (unsigned const part : {color.red, color.green, color.blue})
        svg_ += hex[part >> 4], svg_ += hex[part & 15];
    svg_ += '"';
}

void SvgCanvas::rectangle(double x, double y, double width, double height, Color fill) {
    svg_ += "<rect";
    number("x", x), number("y", y), number("width", width), number("height", height);
    color("fill", fill);
    svg_ += "/>\n";
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, double width, Color stroke) {
    svg_ += "<line";
    number("x1", x1), number("y1", y1), number("x2", x2), number("y2", y2), number("stroke-width", width);
    color("stroke", stroke);
    if (x1 != x2 && y1 != y2) svg_ += " shape-rendering=\"auto\"";
    svg_ += "/>\n";
}

void SvgCanvas::text(double x, double y, std::string_view text, TextStyle const& style) {
    svg_ += "<text";
    number("x", x), number("y", y), number("font-size", style.size);
    color("fill", style.color);
    if (style.anchor != Anchor::start)
        svg_ += style.anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
    if (style.bold) svg_ += " font-weight=\"bold\"";
    svg_ += '>';
    for (char const c : text) {
        if (c == '&' || c == '<' || c == '>')
            svg_ += c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;";
        else
            svg_ += is_allowed(static_cast<unsigned char>(c)) ? c : '?';
    }
    svg_ += "</text>\n";
}

std::string SvgCanvas::finish() {
    return std::move(svg_) + "</svg>\n";
}

} // namespace espalier::trace
