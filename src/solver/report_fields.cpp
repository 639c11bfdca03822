// The report as a flat list with the names of the JSON, for interfaces to other languages.
#include "espalier/report.hpp"

#include "solver/report_table.hpp"

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

} // namespace

std::vector<ReportField> report_fields(Report const& report) {
    std::vector<ReportField> fields;
    visit_fields(report, [&fields](std::string group, char const* name, auto const& member, auto...) {
        if (!group.empty()) group += '.';
        fields.push_back({group + name, value_of(member)});
    });
    return fields;
}

} // namespace espalier
