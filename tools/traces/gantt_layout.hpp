// The positions of the parts of a Gantt chart, in points.
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
    double left = 0, plot_width = 0; ///< The left end and the length of the time axis.
    double plot_bottom = 0;
    std::vector<LayoutPanel> panels;
};

/// Error{usage} for zero panels, an empty window, or a width outside of 300 to 20000 points.
GanttLayout lay_out(std::vector<GanttPanel> const& panels, GanttOptions const& options);

/// The phase of the process that contains the whole window, or "".
std::string phase_around(Trace const& trace, std::int32_t process, Window window);

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
