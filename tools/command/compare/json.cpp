// The comparison as JSON: docs/report.md describes every field.
#include <cmath>

#include <nlohmann/json.hpp>

#include "record.hpp"
#include "tools/command/common/processes.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

// An integer for a count; the text of a value that is not finite is null.
Json number(std::optional<double> value, ColumnForm form) {
    constexpr double most_whole = 9e15;
    if (!value) return nullptr;
    bool const counts = form == ColumnForm::count || form == ColumnForm::megabytes;
    if (counts && std::abs(*value) < most_whole) return std::llround(*value);
    return *value;
}

Json row_json(CompareRecord const& record, CompareRow const& row) {
    Json settings = Json::object(), times = Json::array();
    for (std::size_t k = 0; k < row.values.size(); ++k) settings[record.asked.vary[k].name] = row.values[k];
    for (CompareSample const& run : row.runs) times.push_back(run.factor_s);
    Json solves = Json::array();
    for (CompareSample const& run : row.runs) solves.push_back(run.solve_s);
    Json json = {{"settings", settings}, {"factor_times_s", times}, {"solve_times_s", solves}};
    for (CompareColumn const& column : compare_columns())
        json[column.key] = number(column.value(record, row), column.form);
    json["schedule_chosen"] = row.runs.empty() ? Json(nullptr) : Json(to_string(row.schedule.policy));
    json["split_chosen"] = row.runs.empty() ? Json(nullptr) : Json(to_string(row.schedule.splitting));
    json["narrowest_block"] = row.schedule.narrowest_block;
    json["widest_block"] = row.schedule.widest_block;
    json["schedule_expected_s"] = row.schedule.expected_s < 0 ? Json(nullptr) : Json(row.schedule.expected_s);
    json["schedule_default_s"] = row.schedule.default_s < 0 ? Json(nullptr) : Json(row.schedule.default_s);
    json["notes"] = row.notes;
    json["status"] = to_string(row.status);
    json["message"] = row.message.empty() ? Json(nullptr) : Json(row.message);
    return json;
}

} // namespace

std::string compare_json(CompareRecord const& record) {
    Json vary = Json::object(), common = Json::object(), rows = Json::array();
    RunOptions const& run = record.asked.run;
    for (Variation const& variation : record.asked.vary) vary[variation.name] = variation.values;
    for (std::string_view const name : option_names())
        if (!vary.contains(std::string(name))) common[std::string(name)] = get_option(run.library, name);
    bool const solved = !record.asked.is_simulated();
    common["precision"] = to_string(record.scalar);
    common["input"] = run.read_by_parts ? "distributed" : "root";
    if (!vary.contains("processes"))
        common["processes"] = run.processes.value_or(solved ? num_processes() : 1);
    common["operation"] = solved ? Json(to_string(run.op)) : Json(nullptr);
    common["rhs"] = solved ? Json(run.rhs) : Json(nullptr);
    if (!vary.contains("nrhs")) common["nrhs"] = record.nrhs > 0 ? Json(record.nrhs) : Json(nullptr);
    for (CompareRow const& row : record.rows) rows.push_back(row_json(record, row));
    CompareRow const* const base = record.base();
    CompareRow const* const failure = record.first_failure();
    Json const json = {{"espalier", ESPALIER_VERSION},
                       {"matrix",
                        {{"name", record.matrix.description.name},
                         {"n", record.matrix.rows},
                         {"nnz", record.matrix.nnz},
                         {"symmetry", to_string(record.matrix.symmetry)},
                         {"scalar", to_string(record.scalar)}}},
                       {"simulated", record.asked.is_simulated()},
                       {"machine", record.machine},
                       {"repeat", record.asked.is_simulated() ? 1 : record.asked.repeat},
                       {"factors_kept", record.asked.is_simulated() ? Json(nullptr) : Json(record.kept)},
                       {"vary", vary},
                       {"settings", common},
                       {"ratio_to_row", base ? Json(base - record.rows.data()) : Json(nullptr)},
                       {"rows", rows},
                       {"status", to_string(failure ? failure->status : Status::ok)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace espalier::command
