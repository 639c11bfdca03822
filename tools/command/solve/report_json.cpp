// The JSON form of the report. Keys are stable: docs/report.md.
#include "report.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "tools/command/common/version.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(std::string const& text) {
    return text.empty() ? Json(nullptr) : Json(text);
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

Json settings_json(RunRecord const& record) {
    RunOptions const& asked = record.asked;
    Options const& library = asked.library;
    Report const& report = record.report;
    Json settings = {
        {"factorization", to_string(report.factorization)},
        {"factorization_asked", to_string(library.factorization)},
        {"precision", to_string(report.scalar)},
        {"matching", to_string(library.matching)},
        {"scaling", to_string(library.scaling)},
        {"ordering", to_string(library.ordering)},
        {"ordering_file", text_or_null(library.ordering_file)},
        {"threads", report.threads},
        {"schedule", to_string(library.schedule)},
        {"push_init", to_string(library.push_init)},
        {"push", to_string(library.push)},
        {"select", to_string(library.select)},
        {"strict", library.strict},
        {"seed", library.seed},
        {"alloc", to_string(library.allocation)},
        {"comm_threads", report.comm_threads},
        {"split", to_string(library.splitting)},
        {"split_width", library.split_width},
        {"split_rows", library.split_rows},
        {"max_block_width", library.max_block_width},
        {"min_block_width", library.min_block_width},
        {"max_memory_bytes", library.max_memory == 0 ? Json(nullptr) : Json(library.max_memory)},
        {"topology", text_or_null(library.topology)},
        {"calibration", to_string(library.calibration)},
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
        settings["tolerance"] = record.tolerance;
        settings["output"] = text_or_null(asked.output);
    }
    return settings;
}

Json analysis_json(AnalysisReport const& analysis) {
    return {
        {"ordering_s", analysis.ordering_s},
        {"symbolic_s", analysis.symbolic_s},
        {"mapping_s", analysis.mapping_s},
        {"total_s", analysis.total_s},
        {"matched", analysis.matched},
        {"scaled", analysis.scaled},
        {"structural_rank", analysis.structural_rank < 0 ? Json(nullptr) : Json(analysis.structural_rank)},
        {"compressed_vertices", analysis.compressed_vertices},
        {"nnz_factor", analysis.nnz_factor},
        {"nnz_stored", analysis.nnz_stored},
        {"flops", analysis.flops},
        {"flops_stored", analysis.flops_stored},
        {"supernodes", analysis.supernodes},
        {"cblks", analysis.cblks},
        {"bloks", analysis.bloks},
        {"tree_height", analysis.tree_height},
        {"tree_depth", analysis.tree_depth},
        {"factor_bytes", analysis.factor_bytes},
        {"memory_bytes", analysis.memory_bytes},
        {"memory_bytes_of_process", analysis.memory_bytes_of_process},
        {"predicted_factor_s", analysis.predicted_factor_s},
        {"cost_model", analysis.cost_model}};
}

Json estimate_or_null(double value) {
    return value < 0 ? Json(nullptr) : Json(value);
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

Json factor_json(FactorReport const& factor) {
    auto const shares = [](std::vector<double> const& of_each) {
        Json list = Json::array();
        for (double const share : of_each) list.push_back(estimate_or_null(share));
        return list;
    };
    return {{"assembly_s", factor.assembly_s},
            {"time_s", factor.time_s},
            {"gflops", factor.gflops},
            {"scalar", to_string(factor.scalar)},
            {"pivots_replaced", factor.pivots_replaced},
            {"negative_pivots", factor.negative_pivots},
            {"rcond", estimate_or_null(factor.rcond)},
            {"numerically_singular", factor.numerically_singular},
            {"condition_estimate", factor.condition_estimate},
            {"tasks", factor.tasks},
            {"steals", factor.steals},
            {"steals_by_distance", factor.steals_by_distance},
            {"messages", factor.messages},
            {"message_bytes", factor.message_bytes},
            {"busy_s", factor.busy_s},
            {"waiting_s", factor.waiting_s},
            {"communication_s", factor.communication_s},
            {"busy_s_of_process", factor.busy_s_of_process},
            {"waiting_s_of_process", factor.waiting_s_of_process},
            {"communication_s_of_process", factor.communication_s_of_process},
            {"messages_of_process", factor.messages_of_process},
            {"message_bytes_of_process", factor.message_bytes_of_process},
            {"local_share", estimate_or_null(factor.local_share)},
            {"local_share_of_process", shares(factor.local_share_of_process)},
            {"local_share_of_worker", shares(factor.local_share_of_worker)},
            {"node_bytes", factor.node_bytes},
            {"fell_back", factor.fell_back},
            {"precision_fell_back", factor.precision_fell_back}};
}

Json prediction_json(Prediction const& prediction) {
    Json processes = Json::array();
    for (ProcessPrediction const& process : prediction.process)
        processes.push_back({{"cblks", process.cblks},
                             {"busy_s", process.busy_s},
                             {"memory_bytes", process.memory_bytes},
                             {"fan_in_bytes", process.fan_in_bytes},
                             {"sent_bytes", process.sent_bytes},
                             {"received_bytes", process.received_bytes},
                             {"messages_sent", process.messages_sent},
                             {"messages_received", process.messages_received},
                             {"steals", process.steals},
                             {"local_share", process.local_share}});
    return {{"processes", prediction.processes},
            {"threads", prediction.threads},
            {"factor_s", prediction.factor_s},
            {"critical_path_s", prediction.critical_path_s},
            {"work_s", prediction.work_s},
            {"memory_s", prediction.memory_s},
            {"efficiency", prediction.efficiency},
            {"tasks", prediction.tasks},
            {"steals", prediction.steals},
            {"steals_by_distance", prediction.steals_by_distance},
            {"local_share", prediction.local_share},
            {"messages", prediction.messages},
            {"message_bytes", prediction.message_bytes},
            {"idle_s", prediction.idle_s},
            {"process", processes}};
}

Json refine_json(RefineReport const& refine) {
    return {{"method", to_string(refine.method)},
            {"iterations", refine.iterations},
            {"time_s", refine.time_s},
            {"history", refine.history},
            {"forward_error", estimate_or_null(refine.forward_error)},
            {"converged", refine.converged},
            {"status", to_string(refine.status)}};
}

} // namespace

std::vector<std::pair<std::string, std::string>> settings_list(RunRecord const& record) {
    std::vector<std::pair<std::string, std::string>> list;
    Json const settings = settings_json(record); // a named object: items() refers to it
    for (auto const& [key, value] : settings.items()) {
        if (value.is_null() || key.ends_with("_asked")) continue;
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
    Json root = {{"espalier", version},
                 {"matrix", matrix_json(record)},
                 {"settings", settings_json(record)},
                 {"processes", report.processes},
                 {"threads", report.threads},
                 {"blas", {{"config", record.blas.config}, {"core", record.blas.core}}},
                 {"read_s", record.read_s},
                 {"analysis", analysis_json(report.analysis)}};
    if (record.simulation)
        root["simulation"] = {{"machine", record.simulation->machine},
                              {"simulate_s", record.simulation->simulate_s}};
    if (record.prediction) root["prediction"] = prediction_json(*record.prediction);
    if (record.numbers) {
        root["factor"] = factor_json(report.factor);
        root["solve"] = {{"time_s", report.solve_s}, {"nrhs", report.nrhs}};
        root["refine"] = refine_json(report.refine);
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
    // File names are bytes, not always UTF-8.
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace espalier::command
