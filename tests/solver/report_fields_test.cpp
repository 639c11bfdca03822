// The flat report contains every member with its name and value.
#include <gtest/gtest.h>

#include <map>

#include "espalier/report.hpp"
#include "factor/factor_results.hpp"

namespace espalier {
namespace {

std::map<std::string, decltype(ReportField::value)> as_map(Report const& report) {
    std::map<std::string, decltype(ReportField::value)> map;
    for (ReportField const& field : report_fields(report))
        EXPECT_TRUE(map.emplace(field.name, field.value).second) << field.name << " appears twice";
    return map;
}

TEST(ReportFields, CarryTheValuesOfTheirMembers) {
    Report report;
    report.factorization = Factorization::ldlt;
    report.scalar = Scalar::c;
    report.threads = 3;
    report.analysis.flops = 1e18;
    report.analysis.matched = true;
    report.analysis.memory_bytes = std::uint64_t{1} << 40;
    report.factor.scalar = Scalar::s;
    report.factor.pivots_replaced = 7;
    report.solve_s = 0.5;
    report.nrhs = 4;
    report.refine.history = {1, 0.5};
    report.refine.status = Status::inaccurate;
    report.refine.backward_error = 1e-3;
    report.notes = {"one", "two"};
    auto const fields = as_map(report);
    EXPECT_EQ(std::get<std::string>(fields.at("settings.factorization")), "ldlt");
    EXPECT_EQ(std::get<std::string>(fields.at("matrix.scalar")), "c");
    EXPECT_EQ(std::get<std::int64_t>(fields.at("threads")), 3);
    EXPECT_EQ(std::get<double>(fields.at("analysis.flops")), 1e18);
    EXPECT_TRUE(std::get<bool>(fields.at("analysis.matched")));
    EXPECT_EQ(std::get<std::int64_t>(fields.at("analysis.memory_bytes")), std::int64_t{1} << 40);
    EXPECT_EQ(std::get<std::int64_t>(fields.at("analysis.structural_rank")), -1);
    EXPECT_EQ(std::get<std::string>(fields.at("factor.scalar")), "s");
    EXPECT_EQ(std::get<std::int64_t>(fields.at("factor.pivots_replaced")), 7);
    EXPECT_EQ(std::get<double>(fields.at("solve.time_s")), 0.5);
    EXPECT_EQ(std::get<std::int64_t>(fields.at("solve.nrhs")), 4);
    EXPECT_EQ(std::get<std::vector<double>>(fields.at("refine.history")), report.refine.history);
    EXPECT_EQ(std::get<std::string>(fields.at("refine.status")), "inaccurate");
    EXPECT_EQ(std::get<double>(fields.at("backward_error")), 1e-3);
    EXPECT_EQ(std::get<std::vector<std::string>>(fields.at("notes")), report.notes);
}

FactorResult result(std::string machine, std::vector<int> nodes, std::vector<double> node_bytes,
                    double touched, double local_share) {
    FactorResult one;
    one.machine = std::move(machine);
    one.nodes = std::move(nodes);
    one.placement = {.node_bytes = std::move(node_bytes),
                     .touched_bytes = touched,
                     .local_share = local_share,
                     .local_share_of_worker = {local_share}};
    return one;
}

TEST(FactorResults, AddUpByTheNodesOfEachComputer) {
    // Two processes of one computer have a node each and some bytes elsewhere. A third process is on another
    // computer.
    std::vector<FactorResult> all{result("b", {1}, {10, 1}, 100, 0.5), result("a", {0, 1}, {7, 8}, 300, 1),
                                  result("b", {0}, {20, 2}, 0, -1)};
    FactorizeStats &first = all[0].stats, &second = all[1].stats, &third = all[2].stats;
    first.time_s = 2, second.time_s = 3, third.time_s = 1;
    first.busy_s = 2, second.busy_s = 4, third.busy_s = 1;
    second.steals_by_distance = {0, 3}, third.steals_by_distance = {0, 1, 4};
    second.exchange.messages_sent = 5, third.exchange.messages_sent = 6;
    FactorReport report;
    report.time_s = 10; // the time of another attempt
    report.busy_s_of_process = {1, 2, 3};
    add_up(all, 2, report);
    EXPECT_EQ(report.time_s, 13);
    EXPECT_EQ(report.busy_s_of_process, (std::vector<double>{2, 4, 1}));
    EXPECT_EQ(report.waiting_s_of_process, (std::vector<double>{4, 2, 5}));
    EXPECT_EQ(report.busy_s + report.waiting_s, 18);
    EXPECT_EQ(report.steals_by_distance, (std::vector<double>{0, 4, 4}));
    EXPECT_EQ(report.messages, 11);
    EXPECT_EQ(report.node_bytes, (std::vector<double>{20, 10, 7, 8, 3}));
    EXPECT_EQ(report.local_share, 0.875);
    EXPECT_EQ(report.local_share_of_process, (std::vector<double>{0.5, 1, -1}));
    EXPECT_EQ(report.local_share_of_worker, (std::vector<double>{0.5, 1, -1}));
}

} // namespace
} // namespace espalier
