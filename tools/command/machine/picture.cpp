// The picture of the NUMA factors. Each kernel has two heat maps with a common row for each core. On the
// left, one core works alone, and columns are the nodes of its data. On the right, all cores work at once,
// and columns are placements of their data. All maps share one logarithmic scale of colors, which begins
// at 1.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "parts.hpp"
#include "tools/traces/canvas.hpp"
#include "trace/kinds.hpp"

namespace espalier::command {

namespace {

using trace::Anchor;
using trace::Canvas;
using trace::Color;
using trace::text_width;

constexpr Color ink{32, 32, 32}, pale_ink{110, 110, 110}, white{255, 255, 255}, bracket{150, 150, 150};

// Colors from 1 to the largest factor.
constexpr std::array<Color, 6> palette{
    {{255, 250, 224}, {254, 224, 139}, {253, 174, 97}, {244, 109, 67}, {200, 40, 50}, {110, 10, 45}}};

Color color_at(double t) {
    return trace::ramp_color(palette, t);
}

bool is_dark(Color c) {
    return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue < 135;
}

// One heat map: the heads of its columns, and the value in row i, column j.
struct HeatMap {
    std::string title, axis;
    std::vector<std::string> heads;
    std::function<double(std::size_t, std::size_t)> value;
};

constexpr double margin = 24, gap_of_maps = 22, gap_of_kernels = 44, gap_of_nodes = 5, widest = 1500,
                 narrowest_cell = 40;
constexpr double labels_width = 74, head_height = 62;

class Picture {
  public:
    Picture(NumaFactors const& factors, Topology const& topology) : factors_(factors), topology_(topology) {
        for (KernelFactors const& kernel : factors.kernels) {
            maps_.push_back({"one core alone", "data on NUMA node", {}, [&](std::size_t i, std::size_t j) {
                                 return kernel.alone[i * factors.nodes + j];
                             }});
            for (int node = 0; node < factors.nodes; ++node)
                maps_.back().heads.push_back(std::to_string(node));
            maps_.push_back({"all cores at once",
                             "place of the data",
                             {"local", "on node 0", "farthest"},
                             [&](std::size_t i, std::size_t j) {
                                 return (j == 0 ? kernel.local : j == 1 ? kernel.one_node : kernel.worst)[i];
                             }});
            for (auto const* const times : {&kernel.alone, &kernel.local, &kernel.one_node, &kernel.worst})
                for (double const time : *times) largest_ = std::max(largest_, time);
        }
        row_height_ = std::clamp(1000 / static_cast<double>(factors.cores.size()), 11.0, 26.0);
        title_ =
            "NUMA factors of " + (topology.machine_name().empty() ? "this machine" : topology.machine_name());
        subtitle_ = fmt::format("{}{}{}; each walks through {} of memory", topology.cpu_model(),
                                topology.cpu_model().empty() ? "" : "; ", factors.which_cores,
                                format_bytes(factors.region_bytes));
        place();
    }

    std::string draw(bool svg) const {
        auto const owner = trace::new_canvas(svg, width_, height_);
        Canvas& canvas = *owner;
        canvas.text(margin, margin + 14, title_, {18, ink, Anchor::start, true});
        canvas.text(margin, margin + 34, subtitle_, {12, pale_ink});
        for (std::size_t k = 0; k < factors_.kernels.size(); ++k) draw_kernel(canvas, k);
        draw_scale(canvas);
        double y = scale_y_ + 60;
        for (std::string const& remark : factors_.remarks) {
            canvas.text(margin, y, "Note: " + remark + ".", {12, pale_ink});
            y += 17;
        }
        return canvas.finish();
    }

  private:
    [[nodiscard]] int node_of_row(std::size_t row) const {
        return topology_.cores()[factors_.cores[row]].node;
    }
    [[nodiscard]] std::size_t num_rows() const { return factors_.cores.size(); }

    [[nodiscard]] static double cell_width(HeatMap const& map) {
        double least = narrowest_cell;
        for (std::string const& head : map.heads) least = std::max(least, text_width(head, 11) + 10);
        return std::max(least, (text_width(map.title, 12) + 12) / static_cast<double>(map.heads.size()));
    }
    [[nodiscard]] static double map_width(HeatMap const& map) {
        return cell_width(map) * static_cast<double>(map.heads.size());
    }

    void place() {
        double y = 0;
        for (std::size_t row = 0; row < num_rows(); ++row) {
            if (row > 0 && node_of_row(row) != node_of_row(row - 1)) y += gap_of_nodes;
            row_y_.push_back(y);
            y += row_height_;
        }
        rows_height_ = y;
        // Kernels stand side by side, or below each other if the picture becomes too wide.
        double right = margin, x = margin, top = margin + 80 + head_height;
        for (std::size_t m = 0; m < maps_.size(); m += 2) {
            double const width = labels_width + map_width(maps_[m]) + gap_of_maps + map_width(maps_[m + 1]);
            if (m > 0 && x + width > widest) {
                x = margin;
                top += rows_height_ + head_height + 40;
            }
            kernel_x_.push_back(x);
            rows_top_.push_back(top);
            map_x_.push_back(x + labels_width);
            map_x_.push_back(x + labels_width + map_width(maps_[m]) + gap_of_maps);
            right = std::max(right, x + width);
            x += width + gap_of_kernels;
        }
        width_ = std::max({right, margin + text_width(title_, 18, true), margin + text_width(subtitle_, 12),
                           400.0}) +
                 margin;
        for (std::string const& remark : factors_.remarks)
            width_ = std::max(width_, text_width("Note: " + remark + ".", 12) + 2 * margin);
        scale_y_ = top + rows_height_ + 36;
        auto const remarks = static_cast<double>(factors_.remarks.size());
        height_ = scale_y_ + 32 + margin + (remarks > 0 ? 10 + 17 * remarks : 0);
    }

    void draw_kernel(Canvas& canvas, std::size_t k) const {
        KernelFactors const& kernel = factors_.kernels[k];
        double const y = rows_top_[k] - head_height - 8;
        canvas.text(kernel_x_[k], y, kernel.kernel, {15, ink, Anchor::start, true});
        canvas.text(kernel_x_[k] + text_width(kernel.kernel, 15, true) + 8, y,
                    fmt::format("128x128 blocks, 1 = {:.3g} us", kernel.unit_s * 1e6), {12, pale_ink});
        draw_rows(canvas, kernel_x_[k] + labels_width, rows_top_[k]);
        for (std::size_t m = 2 * k; m < 2 * k + 2; ++m) draw_map(canvas, maps_[m], map_x_[m], rows_top_[k]);
    }

    [[nodiscard]] double letter_size() const { return std::min(11.0, row_height_ * 0.75); }
    /// The baseline in the middle of a row, from the top of all rows.
    [[nodiscard]] double line_in(std::size_t row) const {
        return row_y_[row] + row_height_ / 2 + letter_size() * 0.36;
    }

    // The numbers of the cores, and beside them the nodes.
    void draw_rows(Canvas& canvas, double right, double top) const {
        canvas.text(right - 6, top - 8, "core", {11, pale_ink, Anchor::end});
        for (std::size_t first = 0, end = 0; first < num_rows(); first = end) {
            while (end < num_rows() && node_of_row(end) == node_of_row(first)) ++end;
            for (std::size_t row = first; row < end; ++row)
                canvas.text(right - 6, top + line_in(row), std::to_string(factors_.cores[row]),
                            {letter_size(), ink, Anchor::end});
            double const y1 = top + row_y_[first], y2 = top + row_y_[end - 1] + row_height_;
            canvas.line(right - 32, y1 + 1, right - 32, y2 - 1, 1.5, bracket);
            canvas.text(right - 37, (y1 + y2) / 2 + 4, fmt::format("node {}", node_of_row(first)),
                        {11, ink, Anchor::end});
        }
    }

    void draw_map(Canvas& canvas, HeatMap const& map, double left, double top) const {
        constexpr double hair = 1; // between cells
        double const cell = cell_width(map);
        double const middle = left + map_width(map) / 2;
        canvas.text(middle, top - 44, map.title, {12, ink, Anchor::middle});
        canvas.text(middle, top - 26, map.axis, {11, pale_ink, Anchor::middle});
        for (std::size_t j = 0; j < map.heads.size(); ++j) {
            double const x = left + static_cast<double>(j) * cell;
            canvas.text(x + cell / 2, top - 8, map.heads[j], {11, ink, Anchor::middle});
            for (std::size_t i = 0; i < num_rows(); ++i) {
                double const value = map.value(i, j);
                Color const color = color_of(value);
                canvas.rectangle(x, top + row_y_[i], cell - hair, row_height_ - hair, color);
                canvas.text(x + (cell - hair) / 2, top + line_in(i) - hair / 2, factor_text(value),
                            {letter_size(), is_dark(color) ? white : ink, Anchor::middle});
            }
        }
    }

    [[nodiscard]] double top_of_scale() const { return std::max(2.0, largest_); }
    [[nodiscard]] Color color_of(double factor) const {
        return color_at(std::log(factor) / std::log(top_of_scale()));
    }

    void draw_scale(Canvas& canvas) const {
        constexpr double width = 300, height = 12;
        constexpr int steps = 150;
        for (int s = 0; s < steps; ++s)
            canvas.rectangle(margin + s * width / steps, scale_y_, width / steps, height,
                             color_at((s + 0.5) / steps));
        double const top = top_of_scale();
        double next_free = 0;
        for (double const tick : {1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
            if (tick > top) break;
            double const x = margin + width * std::log(tick) / std::log(top);
            if (x < next_free) continue;
            next_free = x + 28;
            canvas.line(x, scale_y_ + height, x, scale_y_ + height + 4, 1, pale_ink);
            canvas.text(x, scale_y_ + height + 16, fmt::format("{:g}", tick), {11, ink, Anchor::middle});
        }
        canvas.text(margin, scale_y_ - 8, "time of a block, as a multiple of the fastest core's alone",
                    {12, ink});
    }

    NumaFactors const& factors_;
    Topology const& topology_;
    std::vector<HeatMap> maps_;
    std::string title_, subtitle_;
    double largest_ = 1;
    double row_height_ = 0, rows_height_ = 0, scale_y_ = 0, width_ = 0, height_ = 0;
    std::vector<double> row_y_;               ///< Relative to the top of all rows.
    std::vector<double> kernel_x_, rows_top_; ///< By kernel.
    std::vector<double> map_x_;
};

} // namespace

std::string numa_factors_picture(NumaFactors const& factors, Topology const& topology, bool svg) {
    return Picture(factors, topology).draw(svg);
}

} // namespace espalier::command
