// The JSON form of the report. Keys are stable: docs/report.md.
#include "report.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "options/report_table.hpp"
#include "runtime/other_runtime.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string const& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

// A number, or null for 0: no value was given.
template <class Number> Json or_null(Number number) {
    return number == 0 ? Json(nullptr) : Json(number);
}

Json matrix_json(RunRecord const& record) {
    MatrixFacts const& matrix = record.matrix;
    MatrixDescription const& description = matrix.description;
    return {{"name", description.name},
            {"n", matrix.rows},
            {"nnz", matrix.nnz},
            {"symmetry", to_string(matrix.symmetry)},
            {"scalar", to_string(record.report.scalar)},
            {"scalar_in_file", to_string(matrix.read_as)},
            {"format", description.format},
            {"declared", description.declared},
            {"entries_in_file", description.entries_in_file},
            {"duplicates_summed", description.duplicates_summed},
            {"notes", description.notes}};
}

// The settings without those of the schedule that the library chose.
Json settings_json(RunRecord const& record) {
    RunOptions const& asked = record.asked;
    Options const& library = asked.library;
    Report const& report = record.report;
    Json settings = {
        {"method", to_string(report.method)},
        {"method_asked", to_string(library.method)},
        {"factorization", to_string(report.factorization)},
        {"factorization_asked", to_string(library.factorization)},
        {"precision", to_string(report.scalar)},
        {"supernodes", to_string(library.supernodes)},
        {"factor_path", report.factor_path},
        {"matching", to_string(library.matching)},
        {"scaling", to_string(library.scaling)},
        {"pivoting", spellings<Pivoting>[static_cast<std::size_t>(library.pivoting)]},
        {"pivot_tolerance", library.pivot_tolerance},
        {"ordering", to_string(report.ordering)},
        {"ordering_asked", to_string(library.ordering)},
        {"ordering_file", text_or_null(library.ordering_file)},
        {"levels", library.levels},
        {"block_size", or_null(library.block_size)},
        {"coarsen", library.coarsen},
        {"runtime", spellings<TaskRuntime>[static_cast<std::size_t>(library.runtime)]},
        {"threads", report.threads},
        {"schedule", to_string(library.schedule)},
        {"push_init", to_string(library.push_init)},
        {"push", to_string(library.push)},
        {"select", to_string(library.select)},
        {"strict", library.strict},
        {"seed", library.seed},
        {"alloc", to_string(library.allocation)},
        {"comm_threads", report.comm_threads},
        {"comm_own_core", to_string(library.comm_own_core)},
        {"split", to_string(library.splitting)},
        {"split_width", library.split_width},
        {"split_rows", library.split_rows},
        {"split_idle", library.split_idle},
        {"split_seconds", library.split_seconds},
        {"subtrees_per_worker", library.subtrees_per_worker},
        {"max_block_width", or_null(library.max_block_width)},
        {"min_block_width", or_null(library.min_block_width)},
        {"max_memory_bytes", or_null(library.max_memory)},
        {"topology", text_or_null(library.topology)},
        {"calibration", to_string(library.calibration)},
        {"input", asked.read_by_parts ? "distributed" : "root"},
        {"trace", text_or_null(asked.trace)},
        {"json", text_or_null(asked.json)},
        {"quiet", asked.quiet},
        {"verbose", asked.verbose},
    };
    if (record.numbers) {
        settings["operation"] = to_string(asked.op);
        settings["mixed_precision"] = library.mixed_precision;
        settings["condition"] = library.condition;
        settings["null_space"] = text_or_null(asked.null_space);
        settings["rhs"] = asked.rhs;
        settings["nrhs"] = report.nrhs;
        settings["refine"] = to_string(report.refine.method);
        settings["refine_asked"] = to_string(library.refine);
        settings["max_refine_iterations"] = or_null(library.max_refine_iterations);
        settings["tolerance"] = record.tolerance;
        settings["output"] = text_or_null(asked.output);
    }
    return settings;
}

// A part of the report: an object with its fields.
template <class Part> Json fields_json(Part const& part);

// A value of the report; null for a number that is not known.
template <class Value> Json json_of(Value const& value, bool unknown_if_negative) {
    if constexpr (std::is_enum_v<Value>)
        return to_string(value);
    else if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
        return unknown_if_negative && value < Value(0) ? Json(nullptr) : Json(value);
    else if constexpr (std::is_same_v<Value, ProcessPrediction>)
        return fields_json(value);
    else
        return value;
}
template <class Value> Json json_of(std::vector<Value> const& values, bool unknown_if_negative) {
    Json list = Json::array();
    for (Value const& value : values) list.push_back(json_of(value, unknown_if_negative));
    return list;
}

template <class Part> Json fields_json(Part const& part) {
    Json json = Json::object();
    visit_fields(part, [&json](char const* name, auto const& value, auto... mark) {
        json[name] = json_of(value, sizeof...(mark) > 0);
    });
    return json;
}

Json knowledge_json(MatrixKnowledge const& known) {
    Json json = {{"determinant", {{"is_zero", known.determinant_is_zero}}}, {"inertia", nullptr}};
    if (!known.determinant_is_zero) {
        json["determinant"]["log_modulus"] = known.determinant_log;
        json["determinant"]["phase"] = known.determinant_phase;
    }
    if (known.inertia)
        json["inertia"] = {{"positive", known.inertia->positive},
                           {"negative", known.inertia->negative},
                           {"zero", known.inertia->zero}};
    return json;
}

} // namespace

std::vector<std::pair<std::string, std::string>> settings_list(RunRecord const& record) {
    std::vector<std::pair<std::string, std::string>> list;
    Json const settings = settings_json(record); // a named object: items() refers to it
    for (auto const& [key, value] : settings.items()) {
        bool const is_found = key == "factor_path"; // by the analysis
        if (value.is_null() || key.ends_with("_asked") || is_found) continue;
        std::string name = key;
        std::replace(name.begin(), name.end(), '_', '-');
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_boolean()) text = value.get<bool>() ? "on" : "off";
        if (name == "threads" && text == "0") text = "the cores available";
        if (name == "nrhs" && text == "0") text = "the columns of the file";
        list.emplace_back(std::move(name), std::move(text));
    }
    return list;
}

std::string json_report(RunRecord const& record) {
    Report const& report = record.report;
    Json settings = settings_json(record);
    settings.update(fields_json(report.schedule));
    Json root = {{"espalier", ESPALIER_VERSION},
                 {"matrix", matrix_json(record)},
                 {"settings", settings},
                 {"processes", report.processes},
                 {"threads", report.threads},
                 {"blas", {{"config", record.blas.config}, {"core", record.blas.core}}},
                 {"read_s", record.read_s},
                 {"analysis", fields_json(report.analysis)}};
    if (report.method == SolveMethod::ilu) root["incomplete"] = fields_json(report.incomplete);
    if (record.simulation)
        root["simulation"] = {{"machine", record.simulation->machine},
                              {"simulate_s", record.simulation->simulate_s}};
    if (record.prediction) root["prediction"] = fields_json(*record.prediction);
    if (record.numbers) {
        root["factor"] = fields_json(report.factor);
        root["solve"] = {{"time_s", report.solve_s}, {"nrhs", report.nrhs}};
        root["refine"] = fields_json(report.refine);
        root["backward_error"] = report.refine.backward_error;
        root["componentwise_error"] = report.refine.componentwise_error;
    }
    if (record.knowledge) root["knowledge"] = knowledge_json(*record.knowledge);
    if (record.null_space)
        root["null_space"] = {{"rank", record.null_space->rank},
                              {"nullity", record.null_space->nullity},
                              {"singular_values", record.null_space->singular_values}};
    root["notes"] = report.notes;
    root["peak_memory_bytes"] = report.peak_memory_bytes;
    root["peak_memory_of_process"] = report.peak_memory_of_process;
    root["total_s"] = record.total_s;
    root["status"] = to_string(record.status);
    // File names may contain bytes that are not UTF-8.
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace espalier::command
