#include "simplicial/lu_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/inverse_permutation.hpp"
#include "minimum_degree/minimum_degree.hpp"
#include "simplicial/rates.hpp"

namespace espalier {

namespace {

// Measured on circuits and grids of resistors. A column takes 0.4 us in a refactorization with supernodes,
// 0.15 us in a solve and 3 us in an analysis.
constexpr Rates refactorization_rates = {7e-9, 0, 1 / 3.5e9}, solve_rates = {3e-9, 0, 0},
                supernodal_rates = {13e-9, 0.85e-6, 1 / 30e9};
constexpr Rates single_rates = {refactorization_rates.entry + solve_rates.entry, 0,
                                refactorization_rates.flop};

double seconds_of(LuPlan const& plan, Rates const& rates) {
    return rates.seconds(static_cast<double>(plan.nnz_factor), static_cast<double>(plan.order()), plan.flops);
}

// Columns of c entries have at least 2 c^2 operations, so f operations belong to at most sqrt(2 n f) entries
// of L + U inside of diagonal blocks.
double most_useful_flops(PatternView const& pattern) {
    auto const n = static_cast<double>(std::ssize(pattern.ptr) - 1);
    return most_useful_flops(single_rates, supernodal_rates, n,
                             n + static_cast<double>(std::ssize(pattern.ind)), std::sqrt(2 * n));
}

// The cost of eliminating the rows of a square pattern A + A^T in their order. Each row of L consists of the
// paths in the elimination tree that begin at its entries (Liu 1986). Takes time for each entry of L.
EliminationCost cost_of_order(std::span<std::int32_t const> ptr, std::span<std::int32_t const> ind) {
    auto const n = static_cast<std::int32_t>(std::ssize(ptr) - 1);
    auto const for_each_pair = [&](auto const& body) { // of a row and an earlier one
        for (std::int32_t k = 0; k < n; ++k)
            for (std::int32_t p = ptr[k]; p < ptr[k + 1]; ++p)
                if (ind[p] != k) body(std::max(ind[p], k), std::min(ind[p], k));
    };
    std::vector<std::int32_t> begin(n + 1, 0);
    for_each_pair([&](std::int32_t row, std::int32_t) { ++begin[row + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::int32_t> next(begin.begin(), begin.end() - 1), earlier(begin[n]);
    for_each_pair([&](std::int32_t row, std::int32_t column) { earlier[next[row]++] = column; });
    std::vector<std::int32_t> parent(n, -1), last_row(n, -1), count(n, 0);
    for (std::int32_t row = 0; row < n; ++row) {
        last_row[row] = row;
        for (std::int32_t p = begin[row]; p < begin[row + 1]; ++p)
            for (std::int32_t j = earlier[p]; last_row[j] != row; j = parent[j]) {
                last_row[j] = row;
                ++count[j];
                if (parent[j] < 0) parent[j] = row;
            }
    }
    EliminationCost cost;
    for (double const rows : count) {
        cost.nnz_lower += static_cast<Offset>(rows);
        cost.flops += rows + 2 * rows * rows;
    }
    return cost;
}

// Orders the diagonal blocks one after the other.
class BlockOrderer {
  public:
    BlockOrderer(PatternView const& pattern, LuPlan& plan)
        : pattern_(pattern), plan_(plan), form_(plan.form), place_(inverse_permutation(form_.row)) {
        ptr_.resize(form_.row.size() + 1);
        ind_.resize(pattern.ind.size());
    }

    /// Returns false if more than `most_flops` operations are expected; the plan is then incomplete.
    bool run(bool ordered, double most_flops) {
        Offset inside = 0;
        for (Index b = 0; b < form_.num_blocks(); ++b) {
            std::int32_t const size = form_.start[b + 1] - form_.start[b];
            plan_.largest_block = std::max<Index>(plan_.largest_block, size);
            if (size == 1) {
                ++inside; // also if the entry is missing
                continue;
            }
            take_block(form_.start[b], size);
            inside += ptr_[size];
            if (!order_block(form_.start[b], size, ordered, most_flops - plan_.flops)) return false;
        }
        plan_.nnz_factor += plan_.order() + 2 * plan_.nnz_lower + (std::ssize(pattern_.ind) - inside);
        return true;
    }

  private:
    // The pattern of the block, in positions from 0.
    void take_block(std::int32_t first, std::int32_t size) {
        std::int32_t entries = 0;
        for (std::int32_t k = 0; k < size; ++k) {
            std::int32_t const column = form_.column[first + k];
            for (Offset p = pattern_.ptr[column]; p < pattern_.ptr[column + 1]; ++p) {
                std::int32_t const i = place_[pattern_.ind[p]] - first;
                ind_[entries] = i; // kept if it is in the block
                entries += i >= 0 ? 1 : 0;
            }
            ptr_[k + 1] = entries;
        }
    }

    bool order_block(std::int32_t first, std::int32_t size, bool ordered, double most_flops) {
        order_.resize(size);
        std::span const ptr(ptr_.data(), size + 1), ind(ind_.data(), ptr_[size]);
        std::optional<EliminationCost> const found =
            ordered ? minimum_degree({ptr, ind, form_.is_symmetric}, order_, most_flops)
                    : cost_of_order(ptr, ind);
        if (!found || found->flops > most_flops) return false;
        plan_.nnz_lower += found->nnz_lower;
        plan_.flops += found->flops;
        if (!ordered || size <= 2) return true;
        auto const apply = [&](std::vector<std::int32_t>& list) {
            moved_.assign(list.begin() + first, list.begin() + first + size);
            for (std::int32_t k = 0; k < size; ++k) list[first + k] = moved_[order_[k]];
        };
        apply(form_.row);
        apply(form_.column);
        return true;
    }

    PatternView const& pattern_;
    LuPlan& plan_;
    BlockTriangularForm& form_;
    std::vector<std::int32_t> place_, ptr_, ind_, order_, moved_;
};

} // namespace

std::uint64_t LuPlan::bytes(std::size_t scalar_bytes, Offset nnz) const {
    auto const n = static_cast<std::uint64_t>(order());
    return static_cast<std::uint64_t>(nnz_factor) * (scalar_bytes + 4) +
           static_cast<std::uint64_t>(nnz) * 12 + n * (96 + 8 * scalar_bytes);
}

PlanResult<LuPlan> plan_simplicial_lu(PatternView const& pattern, bool ordered, bool only_if_faster) {
    constexpr Offset most =
        std::numeric_limits<std::int32_t>::max() / 2; // minimum_degree() needs fewer than 2^30 vertices
    if (std::ssize(pattern.ptr) > most || std::ssize(pattern.ind) > most) return NoPlan::impossible;
    auto form = only_if_faster ? block_triangular_form(pattern) : block_triangular_form(pattern, infinity);
    if (!form) return NoPlan::slower;
    LuPlan plan;
    plan.form = std::move(*form);
    double const most_flops = only_if_faster ? most_useful_flops(pattern) : infinity;
    if (!BlockOrderer(pattern, plan).run(ordered, most_flops)) return NoPlan::slower;
    if (only_if_faster && seconds_of(plan, single_rates) > seconds_of(plan, supernodal_rates))
        return NoPlan::slower;
    return plan;
}

double predicted_seconds(LuPlan const& plan) {
    return seconds_of(plan, refactorization_rates);
}

// With r times the planned entries, the operations are about r^2 times the planned ones.
Offset most_entries(LuPlan const& plan) {
    double const by_flops = single_rates.flop * plan.flops,
                 by_entries = single_rates.entry * static_cast<double>(plan.nnz_factor);
    double const allowed = seconds_of(plan, supernodal_rates);
    double const ratio =
        2 * allowed / (by_entries + std::sqrt(by_entries * by_entries + 4 * by_flops * allowed));
    return static_cast<Offset>(std::max(1.25, ratio) * static_cast<double>(plan.nnz_factor));
}

} // namespace espalier
