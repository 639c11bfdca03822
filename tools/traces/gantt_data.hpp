// What an HTML page needs to know of traces, as text that a script can hold.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/gantt.hpp"

namespace espalier::trace {

/// A JavaScript object literal:
///
///     {by: "kind", levels: [color, ...], panels: [{title, about, length, kinds: [{name, color, category}],
///       rows: [{name, place, bytes, count}], data, links: [[from, to, start, end, kind, bytes], ...],
///       left_out, curves: [{row, name, unit, values}]}]}
///
/// Rows are processes (their phases), NUMA nodes (without states) and threads in the order of the machine;
/// times are nanoseconds since the window's begin. `data` is base64 of all rows' states, one after the other,
/// each as six numbers of 7 bits a byte, the lowest first: the time since the end of the one before, its
/// duration, kind, level + 1, and the differences of cblk and task to the one before, where 0, -1, 1, -2 are
/// 0, 1, 2, 3.
std::string gantt_data(std::vector<GanttPanel> const& panels, HtmlOptions const& options);

/// States of one container with those shorter than `bin` summed up: where several neighbours lie in the same
/// of the bins that `begin` starts, their times stand one after the other in their place, one state for each
/// kind and level, without task and cblk. What each kind and level covers of each bin stays the same.
std::vector<State> sum_up(std::span<State const> states, Nanoseconds begin, Nanoseconds bin);

} // namespace espalier::trace
