#include "trace/gantt.hpp"
#include "trace/gantt_data.hpp"
#include "trace/gantt_layout.hpp"
#include "trace/gantt_page.hpp"

namespace espalier::trace {

std::string gantt_html(std::vector<GanttPanel> const& panels, HtmlOptions const& options) {
    lay_out(panels, {}); // For its checks.
    std::string page(page_head);
    page += gantt_data(panels, options);
    return page += page_tail;
}

} // namespace espalier::trace
