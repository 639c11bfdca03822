#include "record.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "tools/command/common/numbers.hpp"

namespace espalier::command {

namespace {

std::vector<double> of_all(std::vector<CompareSample> const& runs, double CompareSample::* member) {
    std::vector<double> values;
    for (CompareSample const& run : runs) values.push_back(run.*member);
    return values;
}

using Value = std::optional<double>;

auto median_of(double CompareSample::* member) {
    return [member](CompareRecord const&, CompareRow const& row) -> Value { return row.median(member); };
}

// The median of a number that simulations do not have.
auto measured(double CompareSample::* member) {
    return [member](CompareRecord const& record, CompareRow const& row) {
        return record.asked.is_simulated() ? std::nullopt : Value(row.median(member));
    };
}

// A number that all runs of a row share.
template <class Member> auto of_row(Member CompareRow::* member) {
    return [member](CompareRecord const&, CompareRow const& row) -> Value { return row.*member; };
}

// The fastest or the slowest of several measured runs.
auto extreme(double (CompareRow::*reduce)(double CompareSample::*) const) {
    return [reduce](CompareRecord const& record, CompareRow const& row) {
        bool const has_spread = record.asked.repeat > 1 && !record.asked.is_simulated();
        return has_spread ? Value((row.*reduce)(&CompareSample::factor_s)) : std::nullopt;
    };
}

Value ratio_to_base(CompareRecord const& record, CompareRow const& row) {
    double const unit = record.base()->median(&CompareSample::factor_s);
    return unit > 0 ? Value(row.median(&CompareSample::factor_s) / unit) : std::nullopt;
}

Value gflops(CompareRecord const&, CompareRow const& row) {
    double const seconds = row.median(&CompareSample::factor_s);
    return seconds > 0 ? Value(row.flops / seconds / 1e9) : std::nullopt;
}

Value local_share(CompareRecord const&, CompareRow const& row) {
    bool const known = row.least(&CompareSample::local_share) >= 0;
    return known ? Value(row.median(&CompareSample::local_share)) : std::nullopt;
}

Value backward_error(CompareRecord const& record, CompareRow const& row) {
    return record.asked.is_simulated() ? std::nullopt : Value(row.most(&CompareSample::backward_error));
}

bool is_same_simulation(CompareRow const& a, CompareRow const& b) {
    auto const results = [](CompareRow const& row) {
        return std::tie(row.runs, row.tasks, row.messages, row.message_bytes, row.memory_bytes,
                        row.idle_share);
    };
    return a.status == Status::ok && b.status == Status::ok && results(a) == results(b);
}

} // namespace

std::string CompareRow::name(std::vector<Variation> const& vary) const {
    std::string text;
    for (std::size_t k = 0; k < vary.size(); ++k)
        text += fmt::format("{}{}={}", k == 0 ? "" : ", ", vary[k].name, values[k]);
    return text;
}

double CompareRow::median(double CompareSample::* member) const {
    return command::median(of_all(runs, member));
}

double CompareRow::least(double CompareSample::* member) const {
    return runs.empty() ? 0 : std::ranges::min(of_all(runs, member));
}

double CompareRow::most(double CompareSample::* member) const {
    return runs.empty() ? 0 : std::ranges::max(of_all(runs, member));
}

double CompareRow::spread() const {
    double const middle = median(&CompareSample::factor_s);
    return middle <= 0 ? 0 : (most(&CompareSample::factor_s) - least(&CompareSample::factor_s)) / middle;
}

CompareRow const* CompareRecord::base() const {
    for (CompareRow const& row : rows)
        if (!row.runs.empty()) return &row;
    return nullptr;
}

CompareRow const* CompareRecord::first_failure() const {
    for (CompareRow const& row : rows)
        if (row.status != Status::ok) return &row;
    return nullptr;
}

std::vector<std::string> CompareRecord::without_difference() const {
    std::vector<std::string> names;
    if (!asked.is_simulated()) return names;
    std::size_t stride = rows.size(); // between rows with successive values of the option
    for (Variation const& variation : asked.vary) {
        std::size_t const count = variation.values.size();
        stride /= count;
        bool is_equal = count > 1;
        for (std::size_t r = 0; r < rows.size() && is_equal; ++r)
            is_equal = is_same_simulation(rows[r], rows[r - r / stride % count * stride]);
        if (is_equal) names.push_back(variation.name);
    }
    return names;
}

std::vector<CompareColumn> const& compare_columns() {
    using enum ColumnForm;
    static std::vector<CompareColumn> const columns{
        {"factor_s", "factor [s]", seconds, true, median_of(&CompareSample::factor_s)},
        {"factor_fastest_s", "fastest", seconds, true, extreme(&CompareRow::least)},
        {"factor_slowest_s", "slowest", seconds, true, extreme(&CompareRow::most)},
        {"ratio", "ratio", ratio, true, ratio_to_base},
        {"gflops", "GF/s", rate, true, gflops},
        {"predicted_s", "predicted", seconds, true, of_row(&CompareRow::predicted_s)},
        {"assembly_s", "assembly", seconds, true, measured(&CompareSample::assembly_s)},
        {"solve_s", "solve", seconds, true, median_of(&CompareSample::solve_s)},
        {"predicted_solve_s", "", seconds, true, of_row(&CompareRow::predicted_solve_s)},
        {"refine_s", "refine", seconds, false, measured(&CompareSample::refine_s)},
        {"idle_share", "idle %", percent, true, of_row(&CompareRow::idle_share)},
        {"tasks", "tasks", count, true, of_row(&CompareRow::tasks)},
        {"steals", "steals", count, true, median_of(&CompareSample::steals)},
        {"local_share", "local %", percent, true, local_share},
        {"messages", "messages", count, false, of_row(&CompareRow::messages)},
        {"message_bytes", "sent MiB", megabytes, false, of_row(&CompareRow::message_bytes)},
        {"memory_bytes", "", megabytes, true, of_row(&CompareRow::memory_bytes)},
        {"analysis_s", "", seconds, true, of_row(&CompareRow::analysis_s)},
        {"backward_error", "error", error, true, backward_error}};
    return columns;
}

} // namespace espalier::command
