// The table of a comparison as text and as CSV.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "record.hpp"
#include "tools/command/common/numbers.hpp"

namespace espalier::command {

namespace {

// A column of cells; the first is its head.
struct Cells {
    std::vector<std::string> text;
    bool left = false; ///< Aligned left (words), not right (numbers).
};

// Decimals for all times of a column: the largest has at least three digits, the smallest at least two.
int decimals_for(std::vector<std::optional<double>> const& times) {
    double smallest = 100, largest = 1e-4;
    for (auto const& time : times)
        if (time && *time > 0) {
            smallest = std::min(smallest, *time);
            largest = std::max(largest, *time);
        }
    auto const decimals = [](double time, int digits) {
        return digits - 1 - static_cast<int>(std::floor(std::log10(time) + 1e-9));
    };
    return std::clamp(std::max(decimals(smallest, 2), decimals(largest, 3)), 0, 6);
}

std::string cell(std::optional<double> const& value, ColumnForm form, int decimals) {
    if (!value) return "-";
    if (form == ColumnForm::count) return with_separators(std::llround(*value));
    if (form == ColumnForm::error) return fmt::format("{:.1e}", *value);
    double const unit = form == ColumnForm::percent ? 100 : form == ColumnForm::megabytes ? 1.0 / 1048576 : 1;
    int const digits = form == ColumnForm::seconds ? decimals
                       : form == ColumnForm::ratio ? 3
                       : form == ColumnForm::rate  ? 2
                                                   : 1;
    return fmt::format("{:.{}f}", *value * unit, digits);
}

void add_numbers(std::vector<Cells>& table, CompareColumn const& column, CompareRecord const& record) {
    std::vector<std::optional<double>> values;
    for (CompareRow const& row : record.rows) values.push_back(column.value(record, row));
    bool const worth_it = std::any_of(values.begin(), values.end(), [&column](auto const& value) {
        return value && (column.even_if_zero || *value != 0);
    });
    if (column.head.empty() || !worth_it) return;
    int const decimals = decimals_for(values);
    Cells cells{{column.head}, false};
    for (auto const& value : values) cells.text.push_back(cell(value, column.form, decimals));
    table.push_back(std::move(cells));
}

std::vector<Cells> make_table(CompareRecord const& record) {
    std::vector<Cells> table;
    for (std::size_t k = 0; k < record.asked.vary.size(); ++k) {
        Cells cells{{record.asked.vary[k].name}, true};
        for (CompareRow const& row : record.rows) cells.text.push_back(row.values[k]);
        table.push_back(std::move(cells));
    }
    for (CompareColumn const& column : compare_columns()) add_numbers(table, column, record);
    if (record.first_failure()) {
        Cells cells{{"status"}, true};
        for (CompareRow const& row : record.rows) cells.text.emplace_back(to_string(row.status));
        table.push_back(std::move(cells));
    }
    return table;
}

std::string lines_of(std::vector<Cells> const& table) {
    std::vector<std::size_t> widths;
    for (Cells const& cells : table) {
        std::size_t width = 0;
        for (std::string const& text : cells.text) width = std::max(width, text.size());
        widths.push_back(width);
    }
    std::string text;
    for (std::size_t line = 0; line < table.front().text.size(); ++line) {
        std::string row;
        for (std::size_t k = 0; k < table.size(); ++k) {
            if (k > 0) row += "  ";
            row += table[k].left ? fmt::format("{:<{}}", table[k].text[line], widths[k])
                                 : fmt::format("{:>{}}", table[k].text[line], widths[k]);
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

std::string note_on_noise(CompareRecord const& record) {
    std::vector<double> spreads;
    for (CompareRow const& row : record.rows)
        if (row.runs.size() > 1) spreads.push_back(row.spread());
    if (spreads.empty()) return "note        one run for each row: differences may be chance\n";
    return fmt::format(
        "note        medians of {} runs, with the rows in turn; (slowest - fastest) / median is "
        "{:.1f} % in the median over the rows,\n            and {:.1f} % at most: smaller "
        "differences may be chance\n",
        record.asked.repeat, 100 * median(spreads), 100 * std::ranges::max(spreads));
}

// The number of rows with each note.
std::map<std::string, int> rows_with_notes(CompareRecord const& record) {
    std::map<std::string, int> rows;
    for (CompareRow const& row : record.rows)
        for (std::string const& note : row.notes) ++rows[note];
    return rows;
}

std::string quoted(std::string const& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string result = "\"";
    for (char const c : text) result += c == '"' ? "\"\"" : std::string(1, c);
    return result + "\"";
}

} // namespace

std::string compare_text(CompareRecord const& record) {
    std::string text = lines_of(make_table(record));
    if (!record.asked.is_simulated()) {
        text += note_on_noise(record);
        if (!record.kept && record.asked.repeat > 1)
            text += fmt::format("note        the factors of all rows need {}, but {} are available: each run "
                                "allocates them again\n",
                                readable_bytes(record.kept_bytes), readable_bytes(record.spare_bytes));
    }
    for (auto const& [note, rows] : rows_with_notes(record))
        text += fmt::format("note        {} of {}: {}\n", rows, counted(record.rows.size(), "row"), note);
    for (std::string const& name : record.without_difference())
        text += fmt::format(
            "note        --vary {} makes no difference: its values give equal schedules here\n", name);
    for (CompareRow const& row : record.rows)
        if (row.schedule.expected_s >= 0)
            text +=
                fmt::format("chosen      {}: {}\n", row.name(record.asked.vary), schedule_text(row.schedule));
    if (record.base() != nullptr && record.base() != record.rows.data())
        text += fmt::format("note        ratios refer to the row {}, because the rows before it failed\n",
                            record.base()->name(record.asked.vary));
    for (CompareRow const& row : record.rows)
        if (row.status != Status::ok)
            text += fmt::format("failed      {}: {}\n", row.name(record.asked.vary), row.message);
    return text;
}

std::string compare_csv(CompareRecord const& record) {
    std::string text;
    for (Variation const& variation : record.asked.vary) text += quoted(variation.name) + ",";
    text += "runs,";
    for (CompareColumn const& column : compare_columns()) text += column.key + ",";
    text += "status,message\n";
    for (CompareRow const& row : record.rows) {
        for (std::string const& value : row.values) text += quoted(value) + ",";
        text += fmt::format("{},", row.runs.size());
        for (CompareColumn const& column : compare_columns()) {
            auto const value = column.value(record, row);
            text += (value && std::isfinite(*value) ? fmt::format("{}", *value) : "") + ",";
        }
        text += fmt::format("{},{}\n", to_string(row.status), quoted(row.message));
    }
    return text;
}

} // namespace espalier::command
