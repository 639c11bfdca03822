// The picture of a comparison. Each case is a bar as long as its median factorization time, with a line from
// the fastest to the slowest run and a mark at the predicted time. The varied values are in columns on the
// left, the values of the last column have colors, and ratios are on the right.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "record.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/traces/canvas.hpp"
#include "trace/kinds.hpp"

namespace espalier::command {

namespace {

using trace::Anchor;
using trace::Canvas;
using trace::Color;
using trace::text_width;

constexpr Color white{255, 255, 255}, ink{32, 32, 32}, pale_ink{110, 110, 110}, grid{226, 226, 226},
    axis{150, 150, 150}, red{190, 40, 30}, mark{24, 24, 24}, prediction{136, 34, 85};
constexpr double margin = 24, row_height = 25, bar_height = 16, gap_of_groups = 11, gap_within = 4,
                 gap_of_columns = 18, bars_width = 560, letters = 12;
constexpr std::size_t most_letters = 28;

// A light color, so that marks on it are visible.
Color tint(Color color) {
    auto const mix = [](std::uint8_t value) { return static_cast<std::uint8_t>(255 - (255 - value) * 0.62); };
    return {mix(color.red), mix(color.green), mix(color.blue)};
}

// The color of the value `index` of `count` values.
Color bar_color(std::size_t index, std::size_t count) {
    constexpr std::size_t most_colors = 8;
    return tint(trace::distinct_color(count > most_colors ? 0 : index));
}

// A time with three digits.
std::string time_text(double seconds) {
    bool const is_short = seconds < 0.1;
    double const value = is_short ? seconds * 1e3 : seconds;
    int const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
    return fmt::format("{:.{}f} {}", value, decimals, is_short ? "ms" : "s");
}

// Keeps the end of a long name, such as that of a file.
std::string shortened(std::string const& text) {
    return text.size() <= most_letters ? text : "..." + text.substr(text.size() - most_letters + 3);
}

// A step of 1, 2 or 5 times a power of ten; about five of them fit into `largest`.
double step_for(double largest) {
    double const power = std::pow(10.0, std::floor(std::log10(largest / 5)));
    for (double const factor : {1.0, 2.0, 5.0})
        if (largest / (factor * power) <= 7) return factor * power;
    return 10 * power;
}

class Picture {
  public:
    explicit Picture(CompareRecord const& record) : record_(record), vary_(record.asked.vary) {
        for (CompareRow const& row : record.rows) {
            largest_ = std::max(largest_, row.most(&CompareSample::factor_s));
            if (!row.runs.empty() && row.predicted_s) largest_ = std::max(largest_, *row.predicted_s);
            if (!row.runs.empty() && row.predicted_s) has_predictions_ = true;
        }
        if (!(largest_ > 0)) largest_ = 1;
        unit_ = largest_ < 0.2 ? 1e-3 : 1;
        step_ = step_for(largest_);
        has_ranges_ = !record.asked.is_simulated() && record.asked.repeat > 1;
        title_ = "Factorization of " + shortened(record.matrix.description.name);
        subtitle_ = fmt::format("n = {}, {}; {} {}", with_separators(record.matrix.rows),
                                counted(record.matrix.nnz, "nonzero"),
                                record.asked.is_simulated() ? "simulated on" : "on", record.machine);
        place();
    }

    std::string draw(bool svg) const {
        auto const owner = trace::new_canvas(svg, width_, height_);
        Canvas& canvas = *owner;
        canvas.text(margin, margin + 14, title_, {18, ink, Anchor::start, true});
        canvas.text(margin, margin + 34, subtitle_, {letters, pale_ink});
        draw_heads(canvas);
        draw_grid(canvas);
        for (std::size_t k = 0; k < record_.rows.size(); ++k) {
            draw_labels(canvas, k);
            draw_bar(canvas, k);
        }
        draw_legend(canvas);
        return canvas.finish();
    }

  private:
    void place() {
        double x = margin;
        for (std::size_t c = 0; c < vary_.size(); ++c) {
            double width = text_width(vary_[c].name, letters, true);
            for (std::string const& value : vary_[c].values)
                width = std::max(width, text_width(shortened(value), letters));
            label_x_.push_back(x);
            x += width + gap_of_columns;
        }
        bars_x_ = x;
        double y = margin + 74;
        for (std::size_t k = 0; k < record_.rows.size(); ++k) {
            if (k > 0 && starts_group(k))
                y += gap_of_groups;
            else if (k > 0 && vary_.size() > 2 && !repeats(k, vary_.size() - 2))
                y += gap_within;
            row_y_.push_back(y);
            y += row_height;
        }
        rows_end_ = y;
        ratio_x_ = bars_x_ + bars_width + 150;
        width_ = std::max({ratio_x_, margin + text_width(title_, 18, true),
                           margin + text_width(subtitle_, letters)}) +
                 margin;
        height_ = rows_end_ + 66 + margin;
    }

    // Whether the first of several variations changes its value here.
    [[nodiscard]] bool starts_group(std::size_t k) const {
        return vary_.size() > 1 && record_.rows[k].values[0] != record_.rows[k - 1].values[0];
    }
    // Whether the row above shows the same value.
    [[nodiscard]] bool repeats(std::size_t k, std::size_t column) const {
        if (k == 0 || column + 1 == vary_.size()) return false;
        for (std::size_t c = 0; c <= column; ++c)
            if (record_.rows[k].values[c] != record_.rows[k - 1].values[c]) return false;
        return true;
    }
    [[nodiscard]] double x_of(double seconds) const { return bars_x_ + bars_width * seconds / largest_; }
    [[nodiscard]] static double line_of(double y) { return y + row_height / 2 + letters * 0.36; }

    void draw_heads(Canvas& canvas) const {
        double const y = row_y_.front() - 10;
        for (std::size_t c = 0; c < vary_.size(); ++c)
            canvas.text(label_x_[c], y, vary_[c].name, {letters, ink, Anchor::start, true});
        canvas.text(ratio_x_, y, "ratio", {letters, ink, Anchor::end, true});
    }

    void draw_grid(Canvas& canvas) const {
        double const top = row_y_.front() - 2, bottom = rows_end_ + 4;
        int decimals = 0;
        while (decimals < 6 && std::abs(step_ / unit_ * std::pow(10, decimals) -
                                        std::round(step_ / unit_ * std::pow(10, decimals))) > 1e-6)
            ++decimals;
        for (int tick = 0; tick * step_ <= largest_ * (1 + 1e-9); ++tick) {
            double const x = x_of(tick * step_);
            canvas.line(x, top, x, bottom, 1, tick == 0 ? axis : grid);
            canvas.text(x, bottom + 15, fmt::format("{:.{}f}", tick * step_ / unit_, decimals),
                        {11, pale_ink, Anchor::middle});
        }
        canvas.text(bars_x_ + bars_width + 20, bottom + 15, unit_ < 1 ? "milliseconds" : "seconds",
                    {11, pale_ink});
        if (CompareRow const* const base = record_.base()) {
            double const x = x_of(base->median(&CompareSample::factor_s));
            canvas.line(x, top, x, bottom, 1, axis);
        }
    }

    void draw_labels(Canvas& canvas, std::size_t k) const {
        if (k > 0 && starts_group(k)) {
            double const y = row_y_[k] - gap_of_groups / 2;
            canvas.line(margin, y, ratio_x_, y, 1, grid);
        }
        for (std::size_t c = 0; c < vary_.size(); ++c)
            if (!repeats(k, c))
                canvas.text(label_x_[c], line_of(row_y_[k]), shortened(record_.rows[k].values[c]),
                            {letters, ink});
    }

    [[nodiscard]] Color color_of(CompareRow const& row) const {
        if (vary_.size() < 2) return bar_color(0, 1);
        auto const& values = vary_.back().values;
        auto const found = std::find(values.begin(), values.end(), row.values.back());
        return bar_color(found - values.begin(), values.size());
    }

    void draw_bar(Canvas& canvas, std::size_t k) const {
        CompareRow const& row = record_.rows[k];
        double const y = row_y_[k], line = line_of(y);
        if (row.runs.empty()) {
            write(canvas, bars_x_ + 6, line, fmt::format("failed: {}", to_string(row.status)), red);
            return;
        }
        double const median = row.median(&CompareSample::factor_s);
        canvas.rectangle(bars_x_, y + (row_height - bar_height) / 2, x_of(median) - bars_x_, bar_height,
                         color_of(row));
        double right = x_of(median);
        if (has_ranges_) {
            double const slowest = x_of(row.most(&CompareSample::factor_s));
            range_mark(canvas, x_of(row.least(&CompareSample::factor_s)), slowest, y + row_height / 2);
            right = std::max(right, slowest);
        }
        if (row.predicted_s) {
            prediction_mark(canvas, x_of(*row.predicted_s), y + row_height / 2);
            right = std::max(right, x_of(*row.predicted_s));
        }
        std::string const time = time_text(median);
        write(canvas, right + 7, line, time, ink);
        if (row.status != Status::ok)
            write(canvas, right + 15 + text_width(time, letters), line, to_string(row.status), red);
        CompareRow const& base = *record_.base();
        double const unit = base.median(&CompareSample::factor_s);
        bool const is_base = &row == &base;
        if (unit > 0)
            canvas.text(ratio_x_, line, fmt::format("{:.2f}", median / unit),
                        {letters, is_base ? pale_ink : ink, Anchor::end});
    }

    // The background is white, as grid lines may be there.
    static void write(Canvas& canvas, double x, double y, std::string const& text, Color color) {
        canvas.rectangle(x - 3, y - 10, text_width(text, letters) + 6, 13, white);
        canvas.text(x, y, text, {letters, color});
    }

    static void range_mark(Canvas& canvas, double left, double right, double y) {
        canvas.line(left, y, right, y, 1.5, mark);
        canvas.line(left, y - 4, left, y + 4, 1.5, mark);
        canvas.line(right, y - 4, right, y + 4, 1.5, mark);
    }

    static void prediction_mark(Canvas& canvas, double x, double y) {
        canvas.line(x, y - bar_height / 2 - 3, x, y + bar_height / 2 + 3, 2.5, prediction);
    }

    void draw_legend(Canvas& canvas) const {
        double const y = rows_end_ + 50;
        double x = bars_x_;
        auto const say = [&](std::string const& text) {
            canvas.text(x, y + 4, text, {11, pale_ink});
            x += text_width(text, 11) + 26;
        };
        canvas.rectangle(x, y - 5, 18, 10, vary_.size() > 1 ? tint(pale_ink) : bar_color(0, 1));
        x += 24;
        say(record_.asked.is_simulated() ? "simulated"
            : has_ranges_                ? fmt::format("median of {} runs", record_.asked.repeat)
                                         : "one run");
        if (has_ranges_) {
            range_mark(canvas, x, x + 18, y);
            x += 24;
            say("fastest to slowest");
        }
        if (has_predictions_) {
            prediction_mark(canvas, x + 4, y);
            x += 12;
            say("predicted");
        }
    }

    CompareRecord const& record_;
    std::vector<Variation> const& vary_;
    std::string title_, subtitle_;
    double largest_ = 0, unit_ = 1,
           step_ = 1; ///< In seconds: the right end, the unit, and the tick distance.
    bool has_ranges_ = false, has_predictions_ = false;
    double bars_x_ = 0, ratio_x_ = 0, rows_end_ = 0, width_ = 0, height_ = 0;
    std::vector<double> label_x_; ///< Indexed by variation.
    std::vector<double> row_y_;
};

} // namespace

std::string compare_picture(CompareRecord const& record, bool svg) {
    return Picture(record).draw(svg);
}

} // namespace espalier::command
