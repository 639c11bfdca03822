#include <algorithm>
#include <cmath>

#include <cairo.h>
#include <fmt/format.h>

#include "espalier/types.hpp"
#include "tools/traces/canvas.hpp"

namespace espalier::trace {
namespace {

constexpr double most_pixels = 1 << 28, most_pixels_in_a_row = 32767;

struct Release {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Context = std::unique_ptr<cairo_t, Release>;

Context new_context(cairo_format_t format, double width, double height) {
    cairo_surface_t* const surface =
        cairo_image_surface_create(format, static_cast<int>(width), static_cast<int>(height));
    Context context(cairo_create(surface));
    cairo_surface_destroy(surface); // the context keeps it
    // Letters have the same widths at every scale, and no colored edges.
    cairo_font_options_t* const font = cairo_font_options_create();
    cairo_font_options_set_antialias(font, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(font, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(font, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(context.get(), font);
    cairo_font_options_destroy(font);
    return context;
}

void set_font(cairo_t* context, double size, bool bold) {
    cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(context, size);
}

double width_of(cairo_t* context, std::string const& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(context, text.c_str(), &extents);
    return extents.x_advance;
}

class PngCanvas final : public Canvas {
  public:
    PngCanvas(double width, double height, double scale) : scale_(scale) {
        double const columns = std::floor(width * scale), rows = std::floor(height * scale);
        if (!(columns >= 1 && rows >= 1 && std::max(columns, rows) <= most_pixels_in_a_row &&
              columns * rows <= most_pixels))
            throw Error(Status::usage,
                        fmt::format("a picture of {} x {} pixels is too large or empty; at most {} are "
                                    "possible in a row or column, and {} in total",
                                    columns, rows, most_pixels_in_a_row, most_pixels));
        context_ = new_context(CAIRO_FORMAT_RGB24, columns, rows);
        cairo_scale(cairo(), scale, scale);
        rectangle(0, 0, width + 1, height + 1, {255, 255, 255});
    }

    void rectangle(double x, double y, double width, double height, Color color) override {
        set_color(color);
        cairo_rectangle(cairo(), x, y, width, height);
        cairo_fill(cairo());
    }
    void line(double x1, double y1, double x2, double y2, double width, Color color) override {
        set_color(color);
        cairo_set_line_width(cairo(), width);
        cairo_move_to(cairo(), x1, y1);
        cairo_line_to(cairo(), x2, y2);
        cairo_stroke(cairo());
    }
    void text(double x, double y, std::string_view text, TextStyle const& style) override {
        std::string const shown = printable(text);
        set_color(style.color);
        set_font(cairo(), style.size, style.bold);
        if (style.anchor != Anchor::start)
            x -= width_of(cairo(), shown) * (style.anchor == Anchor::middle ? 0.5 : 1.0);
        cairo_move_to(cairo(), x, y);
        cairo_show_text(cairo(), shown.c_str());
    }
    [[nodiscard]] double resolution() const override { return scale_; }
    std::string finish() override {
        auto const append = [](void* file, unsigned char const* bytes, unsigned count) noexcept {
            try {
                static_cast<std::string*>(file)->append(reinterpret_cast<char const*>(bytes), count);
                return CAIRO_STATUS_SUCCESS;
            } catch (std::exception const&) {
                return CAIRO_STATUS_NO_MEMORY;
            }
        };
        std::string file;
        cairo_status_t status = cairo_status(cairo());
        if (status == CAIRO_STATUS_SUCCESS)
            status = cairo_surface_write_to_png_stream(cairo_get_target(cairo()), append, &file);
        if (status != CAIRO_STATUS_SUCCESS)
            throw Error(status == CAIRO_STATUS_NO_MEMORY ? Status::out_of_memory : Status::internal,
                        fmt::format("cannot draw a picture: {}", cairo_status_to_string(status)));
        return file;
    }

  private:
    [[nodiscard]] cairo_t* cairo() const { return context_.get(); }
    void set_color(Color color) {
        cairo_set_source_rgb(cairo(), color.red / 255.0, color.green / 255.0, color.blue / 255.0);
    }

    double scale_;
    Context context_;
};

} // namespace

std::unique_ptr<Canvas> png_canvas(double width, double height, double pixels_per_point) {
    return std::make_unique<PngCanvas>(width, height, pixels_per_point);
}

double text_width(std::string_view text, double size, bool bold) {
    thread_local Context const context = new_context(CAIRO_FORMAT_A8, 1, 1);
    set_font(context.get(), size, bold);
    return width_of(context.get(), printable(text));
}

} // namespace espalier::trace
