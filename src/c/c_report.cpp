// The getters of the report in the C interface.
#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "c/c_handle.hpp"
#include "options/report_table.hpp"

namespace {

using namespace espalier;

using Value = decltype(ReportField::value);

char const* const type_names[] = {"a truth value", "a whole number", "a number",
                                  "a text",        "numbers",        "texts"}; // by the index of Value
static_assert(std::variant_size_v<Value> == std::size(type_names));
static_assert(
    std::is_same_v<std::variant_alternative_t<ESPALIER_FIELD_STRINGS, Value>, std::vector<std::string>>);

ReportSnapshot& snapshot(espalier_solver& self) {
    if (self.report.made) return self.report;
    ReportSnapshot next;
    next.fields = report_fields(self.session->report());
    next.texts.resize(next.fields.size());
    for (std::size_t k = 0; k < next.fields.size(); ++k)
        if (auto const* texts = std::get_if<std::vector<std::string>>(&next.fields[k].value))
            for (std::string const& text : *texts) next.texts[k].push_back(text.c_str());
    next.made = true;
    self.report = std::move(next); // the strings stay where they are: they are in the memory of the vector
    return self.report;
}

std::size_t place_of(ReportSnapshot const& report, char const* name) {
    require_pointer(name, "name");
    auto const found = std::ranges::find(report.fields, name, &ReportField::name);
    if (found == report.fields.end())
        throw Error(Status::usage,
                    fmt::format("the report has no field '{}'; espalier_report_field lists them", name));
    return static_cast<std::size_t>(found - report.fields.begin());
}

// The value of a field. Error{usage} unless it is a T.
template <class T> T const& value_of(ReportSnapshot const& report, char const* name, int type) {
    Value const& value = report.fields[place_of(report, name)].value;
    if (T const* typed = std::get_if<T>(&value)) return *typed;
    throw Error(Status::usage, fmt::format("field '{}' of the report is {}, not {}", name,
                                           type_names[value.index()], type_names[type]));
}

} // namespace

espalier_status espalier_report_count(espalier_solver* solver, int64_t* count) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(count, "count");
        *count = std::ssize(snapshot(self).fields);
    });
}

espalier_status espalier_report_field(espalier_solver* solver, int64_t k, char const** name,
                                      espalier_field_type* type) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        auto const& fields = snapshot(self).fields;
        if (k < 0 || k >= std::ssize(fields))
            throw Error(Status::usage, fmt::format("field {} is outside of 0 .. {}", k, fields.size() - 1));
        ReportField const& field = fields[k];
        if (name) *name = field.name.c_str();
        if (type) *type = static_cast<espalier_field_type>(field.value.index());
    });
}

espalier_status espalier_report_bool(espalier_solver* solver, char const* name, int* value) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(value, "value");
        *value = value_of<bool>(snapshot(self), name, ESPALIER_FIELD_BOOL);
    });
}

espalier_status espalier_report_int(espalier_solver* solver, char const* name, int64_t* value) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(value, "value");
        *value = value_of<std::int64_t>(snapshot(self), name, ESPALIER_FIELD_INT);
    });
}

espalier_status espalier_report_real(espalier_solver* solver, char const* name, double* value) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(value, "value");
        ReportSnapshot const& report = snapshot(self);
        auto const* whole = std::get_if<std::int64_t>(&report.fields[place_of(report, name)].value);
        *value = whole ? static_cast<double>(*whole) : value_of<double>(report, name, ESPALIER_FIELD_REAL);
    });
}

espalier_status espalier_report_string(espalier_solver* solver, char const* name, char const** value) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(value, "value");
        *value = value_of<std::string>(snapshot(self), name, ESPALIER_FIELD_STRING).c_str();
    });
}

espalier_status espalier_report_reals(espalier_solver* solver, char const* name, int64_t* count,
                                      double const** values) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(count, "count");
        require_pointer(values, "values");
        auto const& found = value_of<std::vector<double>>(snapshot(self), name, ESPALIER_FIELD_REALS);
        static double const nothing = 0;
        *count = std::ssize(found);
        *values = found.empty() ? &nothing : found.data();
    });
}

espalier_status espalier_report_strings(espalier_solver* solver, char const* name, int64_t* count,
                                        char const* const** values) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(count, "count");
        require_pointer(values, "values");
        ReportSnapshot const& report = snapshot(self);
        value_of<std::vector<std::string>>(report, name, ESPALIER_FIELD_STRINGS);
        auto const& found = report.texts[place_of(report, name)];
        static char const* const nothing = "";
        *count = std::ssize(found);
        *values = found.empty() ? &nothing : found.data();
    });
}

espalier_status espalier_report_json(espalier_solver* solver, char const** json) {
    return guarded_reading(solver, [&](espalier_solver& self) {
        require_pointer(json, "json");
        ReportSnapshot& report = snapshot(self);
        if (report.json.empty()) report.json = to_json(report.fields);
        *json = report.json.c_str();
    });
}
