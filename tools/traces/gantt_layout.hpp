// The positions of the parts of a Gantt chart, in points, and the classes of its states.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/traces/gantt.hpp"

namespace espalier::trace {

struct LayoutRow {
    std::int32_t container = 0;
    std::int32_t variable = -1; ///< The variable of a curve; -1 for a row of states.
    bool phase = false;         ///< A row with the phases of a process.
    double y = 0, height = 0;
    std::string label;
    double label_size = 11;
    bool labeled = true;
};

/// The label of a process or NUMA node next to its rows.
struct LayoutBracket {
    double x = 0, top = 0, bottom = 0;
    std::string name;
    bool bold = false;
};

struct LayoutPanel {
    std::string title;
    double title_y = 0;
    std::vector<LayoutRow> rows;
    std::vector<LayoutBracket> brackets;
    double bottom = 0;
    std::size_t hidden_threads = 0;
};

struct GanttLayout {
    double width = 0, height = 0;
    double left = 0, plot_width = 0; ///< The left end and the length of the time axis.
    double plot_bottom = 0;
    std::vector<LayoutPanel> panels;
};

/// Error{usage} for zero panels, an empty window, or a width outside of 300 to 20000 points.
GanttLayout lay_out(std::vector<GanttPanel> const& panels, GanttOptions const& options);

/// The phase of the process that contains the whole window, or "".
std::string phase_around(Trace const& trace, std::int32_t process, Window window);

/// The classes of states in a picture, with the colors and names of the legend.
class GanttClasses {
  public:
    /// ColorBy::kind: a class for each name of a kind. ColorBy::level: also a class for each level, or for
    /// several neighboring levels if there are more than 256; the classes of kinds hold the states without
    /// level.
    GanttClasses(std::vector<GanttPanel> const& panels, ColorBy color_by);

    [[nodiscard]] std::size_t of(std::size_t panel, State const& state) const {
        bool const by_level = color_by_ == ColorBy::level && state.level >= 0;
        return by_level ? first_level_ + state.level / levels_in_class_ : class_of_kind_[panel][state.kind];
    }
    [[nodiscard]] std::size_t size() const { return colors_.size(); }
    [[nodiscard]] std::vector<Color> const& colors() const { return colors_; }
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
    /// The largest level of any state; -1 if no state has a level.
    [[nodiscard]] int deepest() const { return deepest_; }
    /// The class of the root, the first class of levels.
    [[nodiscard]] std::size_t first_level() const { return first_level_; }

  private:
    ColorBy color_by_;
    std::vector<std::vector<std::size_t>> class_of_kind_; ///< By panel and kind.
    std::vector<Color> colors_;
    std::vector<std::string> names_;
    std::size_t first_level_ = 0;
    int deepest_ = -1;
    int levels_in_class_ = 1;
};

struct Tick {
    Nanoseconds time = 0;
    std::string label;
};

/// Round times from 0 to `span`, about 100 points apart on an axis of this width.
std::vector<Tick> time_ticks(Nanoseconds span, double width);

/// The values of a row that is a curve: the largest value in each of the `columns` of `span`, summed over the
/// NUMA nodes or threads of the process.
std::vector<double> variable_columns(GanttPanel const& panel, LayoutRow const& row, Nanoseconds span,
                                     int columns);

} // namespace espalier::trace
