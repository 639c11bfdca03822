#include <fmt/format.h>

#include "tools/traces/canvas.hpp"

namespace espalier::trace {
namespace {

// With at most two digits after the point.
std::string number(double value) {
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string hex(Color color) {
    return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

class SvgCanvas final : public Canvas {
  public:
    SvgCanvas(double width, double height) {
        svg_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"Helvetica, "
            "Arial, 'DejaVu Sans', sans-serif\" shape-rendering=\"crispEdges\">\n",
            number(width), number(height));
        rectangle(0, 0, width, height, {255, 255, 255});
    }

    void rectangle(double x, double y, double width, double height, Color color) override {
        svg_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", number(x),
                            number(y), number(width), number(height), hex(color));
    }
    void line(double x1, double y1, double x2, double y2, double width, Color color) override {
        svg_ += fmt::format(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke-width=\"{}\" stroke=\"{}\"{}/>\n",
            number(x1), number(y1), number(x2), number(y2), number(width), hex(color),
            x1 != x2 && y1 != y2 ? " shape-rendering=\"auto\"" : "");
    }
    void text(double x, double y, std::string_view text, TextStyle const& style) override {
        char const* const anchor = style.anchor == Anchor::start    ? ""
                                   : style.anchor == Anchor::middle ? " text-anchor=\"middle\""
                                                                    : " text-anchor=\"end\"";
        svg_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{}{}>", number(x), number(y),
                            number(style.size), hex(style.color), anchor,
                            style.bold ? " font-weight=\"bold\"" : "");
        for (char const c : printable(text))
            svg_ += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
        svg_ += "</text>\n";
    }
    [[nodiscard]] double resolution() const override { return 2; }
    std::string finish() override { return std::move(svg_) + "</svg>\n"; }

  private:
    std::string svg_;
};

} // namespace

std::unique_ptr<Canvas> svg_canvas(double width, double height) {
    return std::make_unique<SvgCanvas>(width, height);
}

std::string printable(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c < ' ' || c > '~') c = '?';
    return result;
}

} // namespace espalier::trace
