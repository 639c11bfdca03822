#include "tools/traces/gantt.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "tools/traces/canvas.hpp"
#include "tools/traces/coverage.hpp"
#include "tools/traces/gantt_layout.hpp"

namespace espalier::trace {
namespace {

constexpr Color background{236, 236, 236}, ink{32, 32, 32}, pale_ink{110, 110, 110}, grid{216, 216, 216},
    area{120, 144, 170}, message_color{190, 30, 45}, steal_color{110, 60, 160};

// Draws all panels.
class Painter {
  public:
    Painter(std::vector<GanttPanel> const& panels, GanttOptions const& options, GanttLayout const& layout,
            Canvas& canvas)
        : panels_(panels), options_(options), layout_(layout), canvas_(canvas),
          classes_(panels, options.color_by), covered_(classes_.size(), 0) {
        for (GanttPanel const& panel : panels) span_ = std::max(span_, panel.window.end - panel.window.begin);
    }

    // Returns the file.
    std::string draw() {
        for (std::size_t p = 0; p < panels_.size(); ++p) draw_panel(p);
        draw_axis();
        draw_legend();
        return canvas_.finish();
    }

  private:
    [[nodiscard]] double x_of(Nanoseconds since_begin) const {
        return layout_.left +
               layout_.plot_width * static_cast<double>(since_begin) / static_cast<double>(span_);
    }

    void draw_grid(LayoutPanel const& place) {
        for (auto const& tick : time_ticks(span_, layout_.plot_width))
            canvas_.line(x_of(tick.time), place.title_y + 10, x_of(tick.time), place.bottom, 1, grid);
    }

    void draw_axis() {
        for (auto const& tick : time_ticks(span_, layout_.plot_width)) {
            double const x = x_of(tick.time);
            canvas_.line(x, layout_.plot_bottom, x, layout_.plot_bottom + 4, 1, pale_ink);
            canvas_.text(x, layout_.plot_bottom + 17, tick.label, {11, ink, Anchor::middle});
        }
        canvas_.line(layout_.left, layout_.plot_bottom, layout_.left + layout_.plot_width,
                     layout_.plot_bottom, 1, pale_ink);
    }

    void draw_panel(std::size_t p) {
        GanttPanel const& panel = panels_[p];
        LayoutPanel const& place = layout_.panels[p];
        draw_grid(place);
        canvas_.text(10, place.title_y, place.title, {15, ink, Anchor::start, true});
        canvas_.text(10 + text_width(place.title, 15, true) + 16, place.title_y, describe(panel),
                     {12, pale_ink});
        for (auto const& bracket : place.brackets) {
            canvas_.line(bracket.x, bracket.top, bracket.x, bracket.bottom, 2, {180, 180, 180});
            canvas_.text(bracket.x + 6, (bracket.top + bracket.bottom) / 2 + 4, bracket.name,
                         {11, ink, Anchor::start, bracket.bold});
        }
        for (auto const& row : place.rows) {
            if (row.labeled)
                canvas_.text(layout_.left - 7,
                             row.y + row.height / 2 + (row.variable >= 0 ? -2 : row.label_size * 0.36),
                             row.label, {row.label_size, ink, Anchor::end});
            if (row.variable >= 0)
                draw_variable(panel, row);
            else
                draw_states(p, row);
        }
        if (place.hidden_threads > 0)
            canvas_.text(layout_.left, place.bottom - 3,
                         fmt::format("and {} more threads", place.hidden_threads), {11, pale_ink});
        draw_links(panel, place);
    }

    static std::string describe(GanttPanel const& panel) {
        Statistics const numbers = statistics(*panel.trace, panel.window);
        Nanoseconds const length = panel.window.end - panel.window.begin;
        std::int64_t const workers = std::ssize(numbers.threads) - numbers.progress_threads();
        double const busy = workers == 0 ? 0.0
                                         : 100 * static_cast<double>(numbers.total().busy) /
                                               (static_cast<double>(length) * static_cast<double>(workers));
        std::string about(panel.trace->about("matrix").substr(0, 80));
        auto const processes = panel.trace->at(Place::process);
        auto const phase =
            processes.empty() ? "" : phase_around(*panel.trace, processes.front(), panel.window);
        for (std::string const& part : {phase, counted(workers, "thread")})
            if (!part.empty()) about += (about.empty() ? "" : ", ") + part;
        return fmt::format("{}, {}, {:.1f}% busy", about, readable_time(length), busy);
    }

    // The window of the panel may be shorter than the axis.
    void draw_states(std::size_t p, LayoutRow const& row) {
        GanttPanel const& panel = panels_[p];
        Nanoseconds const length = panel.window.end - panel.window.begin;
        std::int64_t const columns =
            std::max(1L, std::lround((x_of(length) - layout_.left) * canvas_.resolution()));
        Coverage coverage(panel.window, columns, classes_.size());
        for (State const& state : panel.trace->states_of(row.container)) {
            if (state.end <= panel.window.begin || state.start >= panel.window.end) continue;
            auto const which = classes_.of(p, state);
            coverage.add(state.start, state.end, which);
            if (!row.phase)
                covered_[which] +=
                    std::min(state.end, panel.window.end) - std::max(state.start, panel.window.begin);
        }
        double const step = 1 / canvas_.resolution();
        canvas_.rectangle(layout_.left, row.y, static_cast<double>(columns) * step, row.height, background);
        auto const& colors = row.phase ? phase_colors(panel) : classes_.colors();
        for (ColorRun const& run : color_runs(coverage, colors, background))
            canvas_.rectangle(layout_.left + static_cast<double>(run.begin) * step, row.y,
                              static_cast<double>(run.end - run.begin) * step, row.height, run.color);
        if (row.phase) label_phases(panel, row);
    }

    // Phases keep the colors of their kinds even if threads are colored by level.
    std::vector<Color> const& phase_colors(GanttPanel const& panel) {
        phase_colors_ = classes_.colors();
        for (StateKind const& kind : panel.trace->kinds()) {
            auto const& names = classes_.names();
            phase_colors_[std::find(names.begin(), names.end(), kind.name) - names.begin()] = kind.color;
        }
        return phase_colors_;
    }

    void label_phases(GanttPanel const& panel, LayoutRow const& row) {
        for (State const& state : panel.trace->states_of(row.container)) {
            double const first = x_of(std::max(state.start, panel.window.begin) - panel.window.begin);
            double const last = x_of(std::min(state.end, panel.window.end) - panel.window.begin);
            auto const& name = panel.trace->kinds()[state.kind].name;
            if (last - first < text_width(name, 10) + 6) continue;
            canvas_.text((first + last) / 2, row.y + row.height - 4, name, {10, ink, Anchor::middle});
        }
    }

    // The height of each column is the largest value in it.
    void draw_variable(GanttPanel const& panel, LayoutRow const& row) {
        auto const columns = static_cast<int>(layout_.plot_width);
        auto const heights = variable_columns(panel, row, span_, columns);
        double const peak = *std::max_element(heights.begin(), heights.end());
        canvas_.line(layout_.left, row.y + row.height, layout_.left + layout_.plot_width, row.y + row.height,
                     1, grid);
        for (int begin = 0, end = 0; peak > 0 && begin < columns; begin = end) {
            while (end < columns && heights[end] == heights[begin]) ++end;
            double const height = heights[begin] / peak * (row.height - 2);
            canvas_.rectangle(layout_.left + begin, row.y + row.height - height, end - begin, height, area);
        }
        auto const& variable = panel.trace->variables()[row.variable];
        canvas_.text(layout_.left - 7, row.y + row.height / 2 + 11, readable_value(peak, variable.unit),
                     {10, pale_ink, Anchor::end});
    }

    void draw_links(GanttPanel const& panel, LayoutPanel const& place) {
        std::vector<double> y(panel.trace->containers().size(), -1);
        for (auto const& row : place.rows)
            if (row.variable < 0 && !row.phase) y[row.container] = row.y + row.height / 2;
        std::vector<Link const*> shown;
        for (Link const& link : panel.trace->links())
            if (link.start >= panel.window.begin && link.end <= panel.window.end && y[link.from] >= 0 &&
                y[link.to] >= 0)
                shown.push_back(&link);
        if (shown.size() > options_.max_links) {
            hidden_links_ += shown.size();
            return;
        }
        for (Link const* const link : shown) {
            (link->kind == LinkKind::message ? shows_messages_ : shows_steals_) = true;
            draw_arrow(x_of(link->start - panel.window.begin), y[link->from],
                       x_of(link->end - panel.window.begin), y[link->to],
                       link->kind == LinkKind::message ? message_color : steal_color);
        }
    }

    void draw_arrow(double x1, double y1, double x2, double y2, Color color) {
        double const length = std::hypot(x2 - x1, y2 - y1);
        if (length < 1) return;
        double const dx = (x2 - x1) / length * 5, dy = (y2 - y1) / length * 5;
        canvas_.line(x1, y1, x2, y2, 1, color);
        canvas_.line(x2, y2, x2 - dx - dy * 0.5, y2 - dy + dx * 0.5, 1, color);
        canvas_.line(x2, y2, x2 - dx + dy * 0.5, y2 - dy - dx * 0.5, 1, color);
    }

    void draw_legend() {
        double x = layout_.left, y = layout_.plot_bottom + 40;
        Nanoseconds all = 0;
        for (auto const& panel : panels_)
            all += (panel.window.end - panel.window.begin) *
                   static_cast<Nanoseconds>(panel.trace->at(Place::thread).size());
        auto const entry = [&](Color color, std::string const& name, std::string const& note,
                               double height = 12) {
            double const width = 20 + text_width(name + note, 12) + 18;
            if (x > layout_.left && x + width > layout_.left + layout_.plot_width) x = layout_.left, y += 20;
            canvas_.rectangle(x, y - 4 - height / 2, 14, height, color);
            canvas_.text(x + 20, y, name, {12, ink});
            canvas_.text(x + 20 + text_width(name, 12), y, note, {12, pale_ink});
            x += width;
        };
        for (std::size_t c = 0; c < classes_.first_level(); ++c)
            if (covered_[c] > 0) {
                double const share = 100 * static_cast<double>(covered_[c]) / static_cast<double>(all);
                entry(classes_.colors()[c], classes_.names()[c],
                      panels_.size() == 1 ? fmt::format("  {:.1f}%", share) : "");
            }
        if (std::accumulate(covered_.begin(), covered_.end(), Nanoseconds(0)) < all)
            entry(background, "not recorded", "");
        if (shows_messages_) entry(message_color, "message", "", 2);
        if (shows_steals_) entry(steal_color, "steal", "", 2);
        if (hidden_links_ > 0) entry(background, fmt::format("{} arrows not drawn", hidden_links_), "", 2);
        if (classes_.first_level() < classes_.size()) draw_level_legend(x, y);
    }

    // Levels are shown as a ramp, not as a list.
    void draw_level_legend(double x, double y) {
        std::size_t const levels = classes_.size() - classes_.first_level();
        double const ramp = 160, step = ramp / static_cast<double>(levels);
        std::string const last = fmt::format("level {}", classes_.deepest());
        if (x + ramp + text_width("root" + last, 12) + 20 > layout_.left + layout_.plot_width)
            x = layout_.left, y += 20;
        canvas_.text(x, y, "root", {12, ink});
        x += text_width("root", 12) + 5;
        for (std::size_t l = 0; l < levels; ++l)
            canvas_.rectangle(x + static_cast<double>(l) * step, y - 10, step, 12,
                              classes_.colors()[classes_.first_level() + l]);
        canvas_.text(x + ramp + 6, y, last, {12, ink});
    }

    std::vector<GanttPanel> const& panels_;
    GanttOptions const& options_;
    GanttLayout const& layout_;
    Canvas& canvas_;
    GanttClasses classes_;
    std::vector<Nanoseconds> covered_; ///< The time of all threads in each class.
    std::vector<Color> phase_colors_;
    bool shows_messages_ = false, shows_steals_ = false;
    std::size_t hidden_links_ = 0; ///< The links of panels that have too many.
    Nanoseconds span_ = 0;
};

} // namespace

std::string gantt_svg(std::vector<GanttPanel> const& panels, GanttOptions const& options) {
    GanttLayout const layout = lay_out(panels, options);
    return Painter(panels, options, layout, *svg_canvas(layout.width, layout.height)).draw();
}

std::string gantt_png(std::vector<GanttPanel> const& panels, GanttOptions const& options) {
    GanttLayout const layout = lay_out(panels, options);
    auto const canvas = png_canvas(layout.width, layout.height, options.scale);
    return Painter(panels, options, layout, *canvas).draw();
}

} // namespace espalier::trace
