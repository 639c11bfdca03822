#include "api/report_json.hpp"

#include <variant>

#include <nlohmann/json.hpp>

namespace espalier {

std::string to_json(std::vector<ReportField> const& fields) {
    nlohmann::ordered_json root;
    for (ReportField const& field : fields) {
        std::size_t const dot = field.name.find('.');
        auto& owner = dot == std::string::npos ? root : root[field.name.substr(0, dot)];
        auto& place = owner[dot == std::string::npos ? field.name : field.name.substr(dot + 1)];
        std::visit([&place](auto const& value) { place = value; }, field.value);
    }
    // Names may be bytes that are no UTF-8. Numbers that are not finite become null.
    return root.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace espalier
