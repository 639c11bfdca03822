// The data of traces that the HTML page needs, as text within its script.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/gantt.hpp"

namespace espalier::trace {

/// A JSON object, in which '<' is escaped:
///
///     {by: "kind", levels: [color, ...], panels: [{title, about, length, kinds: [{name, color, category}],
///       rows: [{name, place, count}], data, links: [[from, to, start, end, kind, bytes], ...],
///       left_out, curves: [{row, name, unit, values}]}]}
///
/// Rows are processes (with their phases), NUMA nodes (without states) and threads, in the order of the
/// machine. Times are nanoseconds since the start of the window. `data` is the base64 code of the states of
/// all rows, one after the other. A state is six numbers of 7 bits a byte, lowest bits first: the time since
/// the end of the state before, the duration, the kind, level + 1, and the differences of cblk and task to
/// the state before, where 0, -1, 1, -2 are written as 0, 1, 2, 3.
std::string gantt_data(std::vector<GanttPanel> const& panels, HtmlOptions const& options);

/// The states of one container, with short neighbors summed up. Bins of length `bin` begin at `begin`.
/// States that lie in the same bin are replaced by one state for each kind and level, without task and cblk,
/// in the place of the first. The time of each kind and level in each bin stays the same.
std::vector<State> sum_up(std::span<State const> states, Nanoseconds begin, Nanoseconds bin);

} // namespace espalier::trace
