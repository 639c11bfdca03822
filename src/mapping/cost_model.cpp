#include "mapping/cost_model.hpp"

namespace espalier {

double CostModel::panel(Cblk const& cblk) const {
    double const w = static_cast<double>(cblk.width());
    double const rows = static_cast<double>(cblk.rows_below());
    return sides * (w * w * w / 3 + rows * w * w) / panel_rate + 2 * call_overhead;
}

double CostModel::update(Index rows, Index cols, Index depth) const {
    double const area = static_cast<double>(rows) * static_cast<double>(cols);
    return sides * (2 * area * static_cast<double>(depth) / gemm_rate + area / scatter_rate + call_overhead);
}

std::vector<double> cblk_costs(BlockStructure const& structure, CostModel const& model) {
    std::vector<double> costs(structure.cblks.size(), 0.0);
    for (std::size_t k = 0; k < static_cast<std::size_t>(structure.first_kept_cblk); ++k) {
        Cblk const& cblk = structure.cblks[k];
        double cost = model.panel(cblk);
        for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok; ++b) {
            Blok const& blok = structure.bloks[static_cast<std::size_t>(b)];
            cost += model.update(cblk.stride - blok.panel_row, blok.height(), cblk.width());
        }
        costs[k] = cost;
    }
    return costs;
}

} // namespace espalier
