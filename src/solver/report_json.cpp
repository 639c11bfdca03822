#include "solver/report_json.hpp"

#include <cmath>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "io/json.hpp"

namespace espalier {

namespace {

std::string json_value(bool value) {
    return value ? "true" : "false";
}
std::string json_value(std::int64_t value) {
    return std::to_string(value);
}
std::string json_value(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
}
std::string json_value(std::string const& value) {
    return Json(value).text();
}

template <class Item> std::string json_value(std::vector<Item> const& items) {
    std::string json = "[";
    for (Item const& item : items) {
        if (json.size() > 1) json += ',';
        json += json_value(item);
    }
    json += ']';
    return json;
}

} // namespace

std::string to_json(std::vector<ReportField> const& fields) {
    std::string json = "{";
    std::string_view object; // the open object; empty for the root
    bool first = true;
    for (ReportField const& field : fields) {
        std::string_view const name = field.name;
        std::size_t const dot = name.find('.');
        std::string_view const owner =
            dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
        if (owner != object && !object.empty()) json += '}';
        if (!first) json += ',';
        if (owner != object && !owner.empty()) json += Json(owner).text() + ":{";
        object = owner;
        first = false;
        json += Json(name.substr(owner.empty() ? 0 : dot + 1)).text() + ':' +
                std::visit([](auto const& value) { return json_value(value); }, field.value);
    }
    return json + (object.empty() ? "}" : "}}");
}

} // namespace espalier
