#include "tasks/diagonal_stages.hpp"

#include <algorithm>

#include "core/block_division.hpp"

namespace espalier {

namespace {

double area(Index rows, Index cols) {
    return static_cast<double>(rows) * static_cast<double>(cols);
}

// Flops of the pieces; a serial stage also has the columns whose pivots it computes, and their entries.
struct Stage {
    std::vector<double> flops;
    double columns = 0;
    double entries = 0;
};

class StageList {
  public:
    StageList(Index width, Index least_columns) : width_(width), sizes_(least_columns) {}

    // The diagonal block of n columns.
    void add_cholesky(Index n) {
        if (!sizes_.divide(n)) return add_serial(n, n, area(n, n) * static_cast<double>(n) / 3);
        Index const left = (n / 2 + 7) / 8 * 8, right = n - left;
        add_cholesky(left);
        Stage& solve = stages_.emplace_back();
        for (int r = 0; r < sizes_.num_ranges(right); ++r)
            solve.flops.push_back(area(sizes_.size_of_range(right, r), left) * static_cast<double>(left));
        add_lower(right, left);
        add_cholesky(right);
    }

    // Columns [first, first + n) with the rows from `first` on.
    void add_lu(Index first, Index n) {
        Index const rows = width_ - first;
        if (!sizes_.divide(n)) {
            auto const columns = static_cast<double>(n);
            return add_serial(n, rows, area(n, n) * (static_cast<double>(rows) - columns / 3));
        }
        Index const left = (n / 2 + 7) / 8 * 8, right = n - left;
        add_lu(first, left);
        Stage& update = stages_.emplace_back();
        for (int r = 0; r < sizes_.num_ranges(right); ++r)
            update.flops.push_back(area(sizes_.size_of_range(right, r), left) *
                                   static_cast<double>(left + 2 * (rows - left)));
        add_lu(first + left, right);
    }

    void add_ldl() {
        if (!sizes_.divide(width_)) return add_cholesky(width_);
        for (Index k = 0; k < width_; k += ldl_panel_columns) {
            Index const n = std::min(ldl_panel_columns, width_ - k), right = width_ - k - n;
            add_serial(n, width_ - k, area(n, n) * static_cast<double>(width_ - k));
            if (right > 0) add_lower(right, n);
        }
    }

    // The times of all pieces. Flops have one price in all stages, and entries that no serial stage has are
    // those of the divided ones.
    [[nodiscard]] std::vector<std::vector<double>> seconds(CostModel const& model) const {
        PerTerm<PanelTerm> counts = panel_counts(model.kernels, width_, 0);
        double all_flops = 0, divided_flops = 0, serial_entries = 0;
        for (Stage const& stage : stages_) {
            for (double const flops : stage.flops) {
                all_flops += flops;
                if (stage.columns == 0) divided_flops += flops;
            }
            serial_entries += stage.entries;
        }
        double const whole = model.panel(width_, 0), alone = seconds_of(counts, model.panel_seconds);
        double const slowdown = alone > 0 ? whole / alone : 1; // by contention
        auto const term = [&](PanelTerm t) { return counts[t] * model.panel_seconds[t] * slowdown; };
        double const entries = std::max(area(width_, width_), serial_entries);
        double const divided_entries = entries - serial_entries;
        double const of_columns = term(PanelTerm::call) + term(PanelTerm::column);
        std::vector<std::vector<double>> result;
        for (Stage const& stage : stages_) {
            std::vector<double>& pieces = result.emplace_back();
            bool const serial = stage.columns > 0;
            for (double const flops : stage.flops) {
                double const own_entries = serial ? stage.entries : divided_entries * flops / divided_flops;
                pieces.push_back(term(PanelTerm::diagonal_flop) * flops / all_flops +
                                 term(PanelTerm::diagonal_entry) * own_entries / entries +
                                 of_columns * stage.columns / static_cast<double>(width_));
            }
        }
        return result;
    }

  private:
    void add_serial(Index columns, Index rows, double flops) {
        stages_.push_back({{flops}, static_cast<double>(columns), area(rows, columns)});
    }
    // The update of a lower triangle of n columns by a product of the given depth.
    void add_lower(Index n, Index depth) {
        Stage& update = stages_.emplace_back();
        for (LowerPart const& part : sizes_.lower_parts(n)) {
            double const entries =
                part.row == part.col ? area(part.rows, part.cols + 1) / 2 : area(part.rows, part.cols);
            update.flops.push_back(2 * entries * static_cast<double>(depth));
        }
    }

    Index width_;
    PartSizes sizes_;
    std::vector<Stage> stages_;
};

} // namespace

std::vector<std::vector<double>> diagonal_stages(CostModel const& model, Index width, Index least_columns) {
    StageList stages(width, least_columns);
    switch (model.kernels.kind) {
    case KernelKind::cholesky:
        stages.add_cholesky(width);
        break;
    case KernelKind::ldl:
        stages.add_ldl();
        break;
    case KernelKind::lu:
        stages.add_lu(0, width);
        break;
    }
    return stages.seconds(model);
}

} // namespace espalier
