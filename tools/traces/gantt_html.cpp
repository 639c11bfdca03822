#include "tools/traces/gantt.hpp"
#include "tools/traces/gantt_data.hpp"
#include "tools/traces/gantt_layout.hpp"
#include "tools/traces/gantt_page.hpp"

namespace espalier::trace {

std::string gantt_html(std::vector<GanttPanel> const& panels, HtmlOptions const& options) {
    lay_out(panels, {}); // For its checks.
    std::string page(page_head);
    page += gantt_data(panels, options);
    return page += page_tail;
}

} // namespace espalier::trace
