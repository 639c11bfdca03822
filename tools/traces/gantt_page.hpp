// The HTML page of a Gantt chart, before and after the data that its script is given.
#pragma once

#include <string_view>

namespace espalier::trace {

extern std::string_view const page_head;
extern std::string_view const page_tail;

} // namespace espalier::trace
