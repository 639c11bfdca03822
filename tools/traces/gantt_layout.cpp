#include "tools/traces/gantt_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "espalier/types.hpp"
#include "tools/traces/canvas.hpp"
#include "trace/kinds.hpp"

namespace espalier::trace {
namespace {

constexpr double phase_height = 15, curve_height = 34, title_height = 34, legend_height = 72;
constexpr double node_gap = 5, process_gap = 12, panel_gap = 14;
constexpr std::size_t most_curves = 8;

double row_height(std::size_t threads) {
    return threads <= 8 ? 26 : threads <= 24 ? 18 : threads <= 64 ? 12 : threads <= 200 ? 6 : 3;
}

// Builds a panel from top to bottom.
class PanelBuilder {
  public:
    PanelBuilder(GanttPanel const& panel, GanttOptions const& options, double top, double height,
                 std::array<double, 2> bracket_x)
        : trace_(*panel.trace), window_(panel.window), options_(options), y_(top + title_height),
          row_height_(height), bracket_x_(bracket_x) {
        result_.title = panel.title.empty() ? std::string(trace_.about("origin")) : panel.title;
        if (result_.title.empty()) result_.title = "trace";
        result_.title_y = top + 20;
        for (Sample const& sample : trace_.samples())
            ++curves_[{process_of(sample.container), sample.variable}];
    }

    LayoutPanel build() {
        for (std::int32_t const thread : trace_.at(Place::thread))
            threads_of_[process_of(thread)][trace_.ancestor(thread, Place::node)].push_back(thread);
        for (std::int32_t const process : trace_.at(Place::process)) add_process(process);
        result_.bottom = y_ + (result_.hidden_threads > 0 ? 16 : 0);
        return std::move(result_);
    }

  private:
    [[nodiscard]] std::int32_t process_of(std::int32_t container) const {
        return trace_.ancestor(container, Place::process);
    }

    // The window has several phases, or time without a phase.
    [[nodiscard]] bool has_phases(std::int32_t process) const {
        auto const states = trace_.states_of(process);
        return !states.empty() && phase_around(trace_, process, window_).empty();
    }

    void add_process(std::int32_t process) {
        double const top = y_;
        if (has_phases(process)) add_row(process, phase_height, 2).phase = true;
        for (auto const& [node, threads] : threads_of_[process]) add_node(node, threads);
        for (auto const& [key, samples] : curves_) {
            if (key.first != process || curves_.size() > most_curves) continue;
            LayoutRow& row = add_row(process, curve_height, 4);
            row.variable = key.second;
            row.label = trace_.variables()[key.second].name;
            row.label_size = 10;
        }
        if (y_ == top) return;
        result_.brackets.push_back(
            {bracket_x_[0], top, y_ - node_gap / 2, trace_.containers()[process].name, true});
        y_ += process_gap;
    }

    void add_node(std::int32_t node, std::vector<std::int32_t> const& threads) {
        double const top = y_;
        double const gap = row_height_ >= 12 ? 2 : row_height_ >= 6 ? 1 : 0;
        // A label needs 9 points.
        auto const every = static_cast<int>(std::ceil(9 / (row_height_ + gap)));
        for (int i = 0; i < std::ssize(threads); ++i) {
            if (num_threads_ == options_.max_threads) {
                ++result_.hidden_threads;
                continue;
            }
            ++num_threads_;
            LayoutRow& row = add_row(threads[i], row_height_, gap);
            row.label_size = row_height_ >= 12 ? 11 : 8;
            row.labeled = i % every == 0;
        }
        if (y_ == top) return;
        result_.brackets.push_back({bracket_x_[1], top, y_ - gap, trace_.containers()[node].name, false});
        y_ += node_gap;
    }

    LayoutRow& add_row(std::int32_t container, double height, double gap) {
        LayoutRow& row = result_.rows.emplace_back();
        row.container = container;
        row.y = y_;
        row.height = height;
        if (trace_.containers()[container].place == Place::thread)
            row.label = trace_.containers()[container].name;
        y_ += height + gap;
        return row;
    }

    Trace const& trace_;
    Window window_;
    GanttOptions const& options_;
    double y_, row_height_;
    std::array<double, 2> bracket_x_;
    std::map<std::pair<std::int32_t, std::int32_t>, int> curves_; ///< Samples by process and variable.
    /// By process and node.
    std::map<std::int32_t, std::map<std::int32_t, std::vector<std::int32_t>>> threads_of_;
    std::size_t num_threads_ = 0;
    LayoutPanel result_;
};

// The width of the widest name at a place, at most 120 points.
double name_width(std::vector<GanttPanel> const& panels, Place place) {
    double widest = 0;
    for (GanttPanel const& panel : panels)
        for (auto const& container : panel.trace->containers())
            if (container.place == place) widest = std::max(widest, text_width(container.name, 11));
    return std::min(widest, 120.0);
}

void check(std::vector<GanttPanel> const& panels, GanttOptions const& options) {
    if (panels.empty()) throw Error(Status::usage, "trace: a picture needs at least one trace");
    if (!(options.width >= 300 && options.width <= 20000))
        throw Error(
            Status::usage,
            fmt::format("trace: a picture cannot be {} points wide; it can be 300 to 20000", options.width));
    for (GanttPanel const& panel : panels)
        if (panel.window.end <= panel.window.begin) throw Error(Status::usage, "trace: the window is empty");
}

} // namespace

GanttLayout lay_out(std::vector<GanttPanel> const& panels, GanttOptions const& options) {
    check(panels, options);
    std::size_t threads = 0;
    for (GanttPanel const& panel : panels)
        threads = std::max(threads, std::min(options.max_threads, panel.trace->at(Place::thread).size()));

    GanttLayout layout;
    layout.width = options.width;
    std::array<double, 2> const bracket_x{12, 12 + 16 + name_width(panels, Place::process)};
    double const labels = bracket_x[1] + 16 + name_width(panels, Place::node) +
                          std::max(name_width(panels, Place::thread), text_width("ready tasks", 10)) + 12;
    layout.left = std::ceil(labels / 4) * 4; // on a whole pixel at every scale
    layout.plot_width = std::floor(options.width - layout.left - 30);
    double top = 8;
    for (GanttPanel const& panel : panels) {
        layout.panels.push_back(PanelBuilder(panel, options, top, row_height(threads), bracket_x).build());
        top = layout.panels.back().bottom + panel_gap;
    }
    layout.plot_bottom = layout.panels.back().bottom;
    layout.height = layout.plot_bottom + legend_height;
    return layout;
}

std::string phase_around(Trace const& trace, std::int32_t process, Window window) {
    for (State const& state : trace.states_of(process))
        if (state.start <= window.begin && state.end >= window.end) return trace.kinds()[state.kind].name;
    return "";
}

GanttClasses::GanttClasses(std::vector<GanttPanel> const& panels, ColorBy color_by) : color_by_(color_by) {
    constexpr Color gray{150, 150, 150};
    constexpr int most_classes = 256;
    for (GanttPanel const& panel : panels) {
        auto& classes = class_of_kind_.emplace_back();
        for (StateKind const& kind : panel.trace->kinds()) {
            auto const found = std::find(names_.begin(), names_.end(), kind.name);
            classes.push_back(found - names_.begin());
            if (found != names_.end()) continue;
            names_.push_back(kind.name);
            // Colors of kinds could be mistaken for colors of levels.
            colors_.push_back(color_by == ColorBy::level && kind.category == Category::work ? gray
                                                                                            : kind.color);
        }
        for (State const& state : panel.trace->states()) deepest_ = std::max<int>(deepest_, state.level);
    }
    first_level_ = names_.size();
    if (color_by == ColorBy::kind) return;
    levels_in_class_ = deepest_ / most_classes + 1;
    for (int level = 0; level <= deepest_; level += levels_in_class_) {
        names_.push_back(level == 0 ? "root" : "level " + std::to_string(level));
        colors_.push_back(level_color(level, deepest_));
    }
}

std::vector<Tick> time_ticks(Nanoseconds span, double width) {
    double const wanted = static_cast<double>(span) / std::max(2.0, width / 100);
    Nanoseconds step = 1;
    for (Nanoseconds power = 1; static_cast<double>(step) < wanted; power *= 10)
        for (Nanoseconds const digit : {1, 2, 5, 10})
            if (static_cast<double>(step) < wanted) step = digit * power;

    // The largest unit in which the end of the axis is at least one.
    Nanoseconds unit = 1;
    for (Nanoseconds const size : {1'000, 1'000'000, 1'000'000'000})
        if (span >= size) unit = size;
    char const* const name = unit == 1 ? "ns" : unit == 1'000 ? "us" : unit == 1'000'000 ? "ms" : "s";
    int decimals = 0;
    for (Nanoseconds size = unit; step % size != 0; size /= 10) ++decimals;

    std::vector<Tick> ticks;
    for (Nanoseconds time = 0; time <= span; time += step) {
        double const value = static_cast<double>(time) / static_cast<double>(unit);
        ticks.push_back({time, fmt::format("{:.{}f} {}", value, time == 0 ? 0 : decimals, name)});
    }
    return ticks;
}

std::vector<double> variable_columns(GanttPanel const& panel, LayoutRow const& row, Nanoseconds span,
                                     int columns) {
    std::vector<double> heights(columns, 0);
    std::map<std::int32_t, double> now; // by container
    double sum = 0;
    int filled = 0; // columns before this one have their initial value
    auto const column_of = [&](Nanoseconds time) {
        double const share = static_cast<double>(time - panel.window.begin) / static_cast<double>(span);
        return static_cast<int>(std::clamp(share, 0.0, 1.0) * columns);
    };
    auto const fill = [&](int end) {
        for (; filled < std::min(end, columns); ++filled) heights[filled] = std::max(heights[filled], sum);
    };
    for (Sample const& sample : panel.trace->samples()) {
        if (sample.time > panel.window.end) break;
        if (sample.variable != row.variable ||
            panel.trace->ancestor(sample.container, Place::process) != row.container)
            continue;
        int const column = column_of(sample.time);
        fill(column + 1);
        double& value = now[sample.container];
        sum += sample.value - value;
        value = sample.value;
        if (column < columns) heights[column] = std::max(heights[column], sum);
    }
    fill(column_of(panel.window.end));
    return heights;
}

} // namespace espalier::trace
