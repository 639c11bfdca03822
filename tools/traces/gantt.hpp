// Gantt charts of traces as SVG, PNG and interactive HTML. Each thread is a row, time runs to the right, and
// states have the color of their kind or of their level in the tree; idle is black. The colors of states
// narrower than a pixel are mixed by their times, so the picture is right for any number of states.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/statistics.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

enum class ColorBy { kind, level };

/// One trace of a picture, which may show several below each other, such as a prediction above the run. All
/// windows begin at the left end of the common axis.
struct GanttPanel {
    Trace const* trace = nullptr;
    Window window;     ///< The time that is shown; see whole() and phase().
    std::string title; ///< If empty, the "origin" of the trace.
};

struct GanttOptions {
    ColorBy color_by = ColorBy::kind;
    double width = 1200; ///< Points.
    double scale = 2;    ///< Pixels per point of a PNG.
    /// Panels with more links show no arrows, which would hide the states.
    std::size_t max_links = 400;
    /// Further threads are omitted, with a note in the picture.
    std::size_t max_threads = 1024;
};

/// Error{usage} for zero panels, an empty window, or a picture that is too large.
std::string gantt_svg(std::vector<GanttPanel> const& panels, GanttOptions const& options = {});
/// The bytes of the file. The errors are the same.
std::string gantt_png(std::vector<GanttPanel> const& panels, GanttOptions const& options = {});

struct HtmlOptions {
    ColorBy color_by = ColorBy::kind; ///< The initial choice, which the page can change.
    /// In traces with more states, short neighbors are summed up by kind.
    std::size_t max_states = 2'000'000;
    std::size_t max_links = 100'000;
};

/// A self-contained page of about 9 bytes per state. The errors are the same.
std::string gantt_html(std::vector<GanttPanel> const& panels, HtmlOptions const& options = {});

} // namespace espalier::trace
