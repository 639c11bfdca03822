// Where everything of a Gantt chart stands, in points, before anything is drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/traces/gantt.hpp"

namespace espalier::trace {

struct LayoutRow {
    std::size_t container = 0;
    std::int32_t variable = -1; ///< A curve; else states.
    bool phase = false;         ///< The states of a process.
    double y = 0, height = 0;
    std::string label;
    double label_size = 11;
    bool labelled = true;
};

/// A process or NUMA node beside its rows.
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
    double left = 0, plot_width = 0; ///< Of the time axis.
    double plot_bottom = 0;
    std::vector<LayoutPanel> panels;
};

/// Error{usage} for no panel, a window without extent, or less than 300 points of width.
GanttLayout lay_out(std::vector<GanttPanel> const& panels, GanttOptions const& options);

/// The phase of the process in which the whole window lies, or "".
std::string phase_around(Trace const& trace, std::size_t process, Window window);

struct Tick {
    Nanoseconds time = 0;
    std::string label;
};

/// Round times from 0 to `span`, some 100 points apart on an axis of this width.
std::vector<Tick> time_ticks(Nanoseconds span, double width);

/// Of a row that is a curve: the largest value in each of `columns` that share `span`, summed over the NUMA
/// nodes or threads of the process.
std::vector<double> variable_columns(GanttPanel const& panel, LayoutRow const& row, Nanoseconds span,
                                     std::size_t columns);

} // namespace espalier::trace
