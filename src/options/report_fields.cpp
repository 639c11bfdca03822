// The report as a flat list with the names of the JSON, for interfaces to other languages, and as JSON.
#include "espalier/report.hpp"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "io/json.hpp"
#include "options/report_table.hpp"

namespace espalier {

namespace {

using Value = decltype(ReportField::value);

template <class Member> Value value_of(Member const& member) {
    if constexpr (std::is_enum_v<Member>)
        return std::string(to_string(member));
    else if constexpr (std::is_integral_v<Member> && !std::is_same_v<Member, bool>)
        return static_cast<std::int64_t>(member);
    else
        return member;
}

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

std::vector<ReportField> report_fields(Report const& report) {
    std::vector<ReportField> fields;
    visit_fields(report, [&fields](std::string group, char const* name, auto const& member, auto...) {
        if (!group.empty()) group += '.';
        fields.push_back({group + name, value_of(member)});
    });
    return fields;
}

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
