#include "simplicial/simplicial_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/inverse_permutation.hpp"
#include "ordering/minimum_degree.hpp"

namespace espalier {

namespace {

// Orders the diagonal blocks one after the other.
class BlockOrderer {
  public:
    BlockOrderer(PatternView const& pattern, SimplicialPlan& plan)
        : pattern_(pattern), plan_(plan), form_(plan.form), place_(inverse_permutation(form_.row)) {
        ptr_.reserve(form_.row.size() + 1);
        ind_.reserve(pattern.ind.size());
    }

    void run(bool ordered) {
        Offset inside = 0;
        for (Index b = 0; b < form_.num_blocks(); ++b) {
            std::int32_t const size = form_.start[b + 1] - form_.start[b];
            plan_.largest_block = std::max<Index>(plan_.largest_block, size);
            if (size == 1) {
                ++inside; // also if the entry is missing
                continue;
            }
            take_block(form_.start[b], size);
            inside += std::ssize(ind_);
            order_block(form_.start[b], size, ordered && size > 2);
        }
        plan_.nnz_factor += plan_.order() + 2 * plan_.nnz_lower + (std::ssize(pattern_.ind) - inside);
    }

  private:
    // The pattern of the block, in positions from 0.
    void take_block(std::int32_t first, std::int32_t size) {
        ptr_.assign(1, 0);
        ind_.clear();
        for (std::int32_t k = first; k < first + size; ++k) {
            Offset const end = pattern_.ptr[form_.column[k] + 1];
            for (Offset p = pattern_.ptr[form_.column[k]]; p < end; ++p)
                if (std::int32_t const i = place_[pattern_.ind[p]] - first; i >= 0) ind_.push_back(i);
            ptr_.push_back(static_cast<std::int32_t>(std::ssize(ind_)));
        }
    }

    void order_block(std::int32_t first, std::int32_t size, bool ordered) {
        order_.resize(size);
        MinimumDegree const found = minimum_degree(ptr_, ind_, order_);
        plan_.nnz_lower += found.nnz_lower;
        plan_.flops += found.flops;
        if (!ordered) return;
        auto const apply = [&](std::vector<std::int32_t>& list) {
            moved_.assign(list.begin() + first, list.begin() + first + size);
            for (std::int32_t k = 0; k < size; ++k) list[first + k] = moved_[order_[k]];
        };
        apply(form_.row);
        apply(form_.column);
    }

    PatternView const& pattern_;
    SimplicialPlan& plan_;
    BlockTriangularForm& form_;
    std::vector<std::int32_t> place_, ptr_, ind_, order_, moved_;
};

constexpr double flops_per_second = 3.5e9; // the rate of a refactorization without supernodes

double seconds_of_solve(SimplicialPlan const& plan) {
    return 3e-9 * static_cast<double>(plan.nnz_factor);
}

// The sum of a refactorization, a solve and a tenth of the analysis with supernodes. A column costs 0.4 us in
// a refactorization, 0.15 us in a solve and 3 us in an analysis.
double supernodal_seconds(SimplicialPlan const& plan) {
    return 13e-9 * static_cast<double>(plan.nnz_factor) + 0.85e-6 * static_cast<double>(plan.order()) +
           plan.flops / 30e9;
}

} // namespace

std::uint64_t SimplicialPlan::bytes(std::size_t scalar_bytes, Offset nnz) const {
    auto const n = static_cast<std::uint64_t>(order());
    return static_cast<std::uint64_t>(nnz_factor) * (scalar_bytes + 4) +
           static_cast<std::uint64_t>(nnz) * 12 + n * (96 + 8 * scalar_bytes);
}

std::optional<SimplicialPlan> plan_simplicial_lu(PatternView const& pattern, bool ordered) {
    constexpr Offset most =
        std::numeric_limits<std::int32_t>::max() / 2; // minimum_degree() needs fewer than 2^30 vertices
    if (std::ssize(pattern.ptr) > most || std::ssize(pattern.ind) > most) return std::nullopt;
    auto form = block_triangular_form(pattern);
    if (!form) return std::nullopt;
    SimplicialPlan plan;
    plan.form = std::move(*form);
    BlockOrderer(pattern, plan).run(ordered);
    return plan;
}

double predicted_seconds(SimplicialPlan const& plan) {
    return 7e-9 * static_cast<double>(plan.nnz_factor) + plan.flops / flops_per_second;
}

bool prefers_no_supernodes(SimplicialPlan const& plan) {
    return predicted_seconds(plan) + seconds_of_solve(plan) <= supernodal_seconds(plan);
}

// With r times the planned entries, the operations are about r^2 times the planned ones.
Offset most_entries(SimplicialPlan const& plan) {
    double const by_flops = plan.flops / flops_per_second,
                 by_entries = predicted_seconds(plan) - by_flops + seconds_of_solve(plan);
    double const allowed = supernodal_seconds(plan);
    double const ratio =
        2 * allowed / (by_entries + std::sqrt(by_entries * by_entries + 4 * by_flops * allowed));
    return static_cast<Offset>(std::max(1.25, ratio) * static_cast<double>(plan.nnz_factor));
}

} // namespace espalier
