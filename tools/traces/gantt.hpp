// Gantt charts of traces: a row for each thread, time to the right, states in the colour of their kind or of
// their level in the tree, idle in black. States narrower than a pixel are mixed by the time they take and
// not dropped, so the picture is right at any number of states. As SVG, as PNG, and as an HTML page in which
// one can zoom and ask every state what it is.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/statistics.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

enum class ColorBy { kind, level };

/// One trace of a picture. Several are drawn one above the other on the same axis, each window beginning at
/// its left end: a prediction above the run, say.
struct GanttPanel {
    Trace const* trace = nullptr;
    Window window;     ///< What is shown; see whole() and phase().
    std::string title; ///< The trace's "origin" when empty.
};

struct GanttOptions {
    ColorBy color_by = ColorBy::kind;
    double width = 1200; ///< Points.
    double scale = 2;    ///< Pixels in a point of a PNG.
    /// Arrows are left out of a panel that has more, where they would hide everything.
    std::size_t max_links = 400;
    /// What is more is not drawn, and the picture says so.
    std::size_t max_threads = 1024;
};

/// Error{usage} for no panel, a window without extent, or a picture out of all proportion.
std::string gantt_svg(std::vector<GanttPanel> const& panels, GanttOptions const& options = {});
/// The bytes of the file. Errors as above.
std::string gantt_png(std::vector<GanttPanel> const& panels, GanttOptions const& options = {});

struct HtmlOptions {
    ColorBy color_by = ColorBy::kind; ///< To begin with; the page can change it.
    /// Traces with more states have the shortest neighbours summed up, kind by kind, until they have not.
    std::size_t max_states = 2'000'000;
    std::size_t max_links = 100'000;
};

/// A page that needs nothing else; some 9 bytes a state. Errors as above.
std::string gantt_html(std::vector<GanttPanel> const& panels, HtmlOptions const& options = {});

} // namespace espalier::trace
