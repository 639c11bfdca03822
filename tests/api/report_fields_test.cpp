// The flat report: every member under its own name, with its value.
#include <gtest/gtest.h>

#include <map>

#include "espalier/report.hpp"

namespace espalier {
namespace {

std::map<std::string, decltype(ReportField::value)> as_map(Report const& report) {
    std::map<std::string, decltype(ReportField::value)> map;
    for (ReportField const& field : report_fields(report))
        EXPECT_TRUE(map.emplace(field.name, field.value).second) << field.name << " is there twice";
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

} // namespace
} // namespace espalier
