// The outcome of a comparison: a row for each case, with all its runs; and its columns, which the table, the
// CSV and the JSON have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "tools/command/solve/report.hpp"

namespace espalier::command {

/// Of one run. A simulation has only the first two.
struct CompareSample {
    double factor_s = 0;
    double steals = 0;
    double assembly_s = 0;
    double solve_s = 0;
    double refine_s = 0;
    double local_share = -1; ///< Of the bytes that tasks touched; -1: not known, or there is one NUMA node.
    double backward_error = 0;
};

struct CompareRow {
    std::vector<std::string> values; ///< By variation.
    Status status = Status::ok;      ///< That of the first failure.
    std::string message;             ///< Of the failure.
    std::vector<CompareSample> runs; ///< Those that were finished.
    double analysis_s = 0;           ///< Not compared.
    double flops = 0;
    double memory_bytes = 0; ///< Of the factorization; simulated: of the process that needs most.
    double tasks = 0;
    double messages = 0;
    double message_bytes = 0;
    std::optional<double> predicted_s; ///< Of a measured factorization.
    std::optional<double> idle_share;  ///< Of the workers' time, simulated.

    /// In words: "schedule=static, threads=2".
    [[nodiscard]] std::string name(std::vector<Variation> const& vary) const;
    [[nodiscard]] double median(double CompareSample::*member) const;
    [[nodiscard]] double least(double CompareSample::*member) const;
    [[nodiscard]] double most(double CompareSample::*member) const;
    /// (slowest - fastest) / median factorization.
    [[nodiscard]] double spread() const;
};

struct CompareRecord {
    CompareOptions asked;
    MatrixFacts matrix;
    Scalar scalar = Scalar::d;
    Index nrhs = 0;         ///< The most that a case has; 0: nothing was solved.
    std::string machine;    ///< Where it ran, or what was simulated.
    bool kept = true;       ///< Every case kept its factors from run to run, else they were made anew.
    double kept_bytes = 0;  ///< What keeping takes ...
    double spare_bytes = 0; ///< ... and what there was for it.
    std::vector<CompareRow> rows;

    /// The row that ratios refer to: the first that has a time; null when none has.
    [[nodiscard]] CompareRow const* base() const;
    /// The first row that failed; null when none did.
    [[nodiscard]] CompareRow const* first_failure() const;
};

enum class ColumnForm { seconds, ratio, rate, count, percent, megabytes, error };

struct CompareColumn {
    std::string key;  ///< In CSV and JSON: seconds, bytes, shares from 0 to 1.
    std::string head; ///< In the table; empty: not there.
    ColumnForm form = ColumnForm::count;
    bool even_if_zero = true; ///< The table has the column although it holds nothing but zeros.
    std::function<std::optional<double>(CompareRecord const&, CompareRow const&)> value;
};

std::vector<CompareColumn> const& compare_columns();

/// The table and the notes under it.
std::string compare_text(CompareRecord const& record);
std::string compare_csv(CompareRecord const& record);
std::string compare_json(CompareRecord const& record);
/// Bars: an SVG file, or else a PNG.
std::string compare_picture(CompareRecord const& record, bool svg);

} // namespace espalier::command
