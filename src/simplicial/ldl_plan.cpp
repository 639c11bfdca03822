#include "simplicial/ldl_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/inverse_permutation.hpp"
#include "minimum_degree/minimum_degree.hpp"
#include "simplicial/rates.hpp"

namespace espalier {

namespace {

// Entries below `weak_entry` times the largest entry of their row are weak, and those above `strong_entry`
// times it are strong.
constexpr double weak_entry = 0.05, strong_entry = 0.3;

constexpr Offset most_positions = std::numeric_limits<std::int32_t>::max() / 4;

// Measured on optimality systems, and on grids, meshes and power networks of order 66 to 5000.
struct LdlRates {
    Rates factorization, with_solve, supernodal;
};
constexpr LdlRates indefinite_rates = {{5e-9, 0, 1 / 3e9}, {8e-9, 0, 1 / 3e9}, {6.5e-9, 0.85e-6, 1 / 30e9}};
constexpr LdlRates definite_rates = {
    {1.5e-9, 8e-9, 1 / 3.6e9}, {2.5e-9, 11e-9, 1 / 3.6e9}, {4.1e-9, 0.1e-6, 1 / 30e9}};

constexpr LdlRates const& rates_of(bool is_definite) {
    return is_definite ? definite_rates : indefinite_rates;
}

double seconds_of(LdlPlan const& plan, Rates const& rates) {
    return rates.seconds(static_cast<double>(plan.nnz_factor), static_cast<double>(plan.order()), plan.flops);
}

template <class T> bool has_small_positions(CscMatrix<T> const& a) {
    return a.cols <= most_positions && a.stored() <= most_positions;
}

// Makes a plan step by step. Both triangles of the scaled moduli are stored by columns.
template <class T> class LdlPlanner {
  public:
    LdlPlanner(CscMatrix<T> const& a, bool only_if_faster)
        : a_(a), n_(static_cast<std::int32_t>(a.cols)), only_if_faster_(only_if_faster) {}

    PlanResult<LdlPlan> run_without_pairs() {
        plan_.is_definite = true;
        list_neighbors();
        partner_.assign(n_, -1);
        return plan_blocks();
    }

    PlanResult<LdlPlan> run(MatchedRows const* matched) {
        list_neighbors();
        if (matched) {
            take_pairs(*matched);
        } else {
            find_sizes();
            if (!pair_rows()) return NoPlan::impossible;
        }
        return plan_blocks();
    }

  private:
    using Size = Real<T>;

    PlanResult<LdlPlan> plan_blocks() {
        if (!order_blocks()) return NoPlan::slower;
        place_entries();
        if (!find_pattern()) return NoPlan::impossible;
        LdlRates const& rates = rates_of(plan_.is_definite);
        if (only_if_faster_ && seconds_of(plan_, rates.with_solve) > seconds_of(plan_, rates.supernodal))
            return NoPlan::slower;
        list_rows();
        return std::move(plan_);
    }

    void list_neighbors() {
        ptr_.assign(n_ + 1, 0);
        for (std::int32_t j = 0; j < n_; ++j)
            for (Offset const p : a_.entries_of(j))
                if (auto const i = static_cast<std::int32_t>(a_.row_ind[p]); i != j) {
                    ++ptr_[i + 1];
                    ++ptr_[j + 1];
                }
        for (std::int32_t j = 0; j < n_; ++j) ptr_[j + 1] += ptr_[j];
        neighbor_.resize(ptr_[n_]);
        std::vector<std::int32_t> next(ptr_.begin(), ptr_.end() - 1);
        for (std::int32_t j = 0; j < n_; ++j)
            for (Offset const p : a_.entries_of(j))
                if (auto const i = static_cast<std::int32_t>(a_.row_ind[p]); i != j) {
                    neighbor_[next[i]++] = j;
                    neighbor_[next[j]++] = i;
                }
    }

    // The scaled moduli of all entries; the order is that of `neighbor_`.
    void find_sizes() {
        std::vector<Real<T>> scales(n_, Real<T>(1));
        symmetric_scales(a_, scales);
        size_.resize(ptr_[n_]);
        diagonal_.assign(n_, Size(0));
        std::vector<std::int32_t> next(ptr_.begin(), ptr_.end() - 1);
        for (std::int32_t j = 0; j < n_; ++j)
            for (Offset const p : a_.entries_of(j)) {
                auto const i = static_cast<std::int32_t>(a_.row_ind[p]);
                Size const size = abs1(a_.values[p]) * scales[i] * scales[j];
                if (i == j)
                    diagonal_[j] += size;
                else
                    size_[next[i]++] = size_[next[j]++] = size;
            }
    }

    void take_pairs(MatchedRows const& matched) {
        plan_.is_matched = true;
        plan_.scale.assign(matched.scale.begin(), matched.scale.end());
        partner_.assign(n_, -1);
        for (auto const& [i, j] : matched.pairs) {
            partner_[i] = static_cast<std::int32_t>(j);
            partner_[j] = static_cast<std::int32_t>(i);
        }
    }

    // Rows of few entries choose first, because they have the fewest partners. Among strong entries, the
    // partner with the fewest neighbors causes the least fill. Without one, the largest entry is taken. A
    // weak entry would let entries grow. Returns whether all rows with weak diagonals have partners.
    bool pair_rows() {
        partner_.assign(n_, -1);
        std::vector<std::int32_t> weak;
        std::vector<Size> largest(n_, Size(0));
        for (std::int32_t i = 0; i < n_; ++i) {
            for (std::int32_t p = ptr_[i]; p < ptr_[i + 1]; ++p) largest[i] = std::max(largest[i], size_[p]);
            if (!(diagonal_[i] > static_cast<Size>(weak_entry) * largest[i])) weak.push_back(i);
        }
        auto const degree = [&](std::int32_t i) { return ptr_[i + 1] - ptr_[i]; };
        std::ranges::stable_sort(weak, {}, degree);
        for (std::int32_t const i : weak) {
            if (partner_[i] >= 0) continue;
            Size const strong = static_cast<Size>(strong_entry) * largest[i];
            std::int32_t best = -1;
            Size size_of_best = 0;
            for (std::int32_t p = ptr_[i]; p < ptr_[i + 1]; ++p) {
                std::int32_t const j = neighbor_[p];
                Size const size = std::min(size_[p], strong); // all strong entries are equal
                bool const is_better =
                    size > size_of_best || (size == size_of_best && best >= 0 && degree(j) < degree(best));
                if (partner_[j] >= 0 || !is_better) continue;
                best = j;
                size_of_best = size;
            }
            if (!(size_of_best > static_cast<Size>(weak_entry) * largest[i])) return false;
            partner_[i] = best;
            partner_[best] = i;
        }
        return true;
    }

    // Columns of c entries have at least c^2 operations, so f operations belong to at most sqrt(n f) entries.
    [[nodiscard]] double most_flops() const {
        if (!only_if_faster_) return infinity;
        LdlRates const& rates = rates_of(plan_.is_definite);
        return most_useful_flops(rates.with_solve, rates.supernodal, n_, n_,
                                 std::sqrt(static_cast<double>(n_)));
    }

    // Returns false if more operations than most_flops() are needed.
    bool order_blocks() {
        std::vector<std::int32_t> block_of(n_), leader;
        for (std::int32_t i = 0; i < n_; ++i) {
            bool const leads = partner_[i] < 0 || i < partner_[i];
            block_of[i] = leads ? static_cast<std::int32_t>(leader.size()) : block_of[partner_[i]];
            if (leads) leader.push_back(i);
        }
        auto const blocks = static_cast<std::int32_t>(leader.size());
        // Both rows of a pair may have the same neighbor.
        std::vector<std::int32_t> ptr(1, 0), ind, mark(blocks, -1), order(blocks);
        ind.reserve(neighbor_.size());
        for (std::int32_t b = 0; b < blocks; ++b) {
            for (std::int32_t i = leader[b]; i >= 0; i = i == leader[b] ? partner_[i] : -1)
                for (std::int32_t p = ptr_[i]; p < ptr_[i + 1]; ++p)
                    if (std::int32_t const c = block_of[neighbor_[p]]; c != b && mark[c] != b) {
                        mark[c] = b;
                        ind.push_back(c);
                    }
            ptr.push_back(static_cast<std::int32_t>(ind.size()));
        }
        double const most = 2 * most_flops(); // minimum_degree() counts those of lu
        if (!minimum_degree({ptr, ind, true}, order, most)) return false;
        plan_.row.reserve(n_);
        plan_.first.reserve(blocks + 1);
        for (std::int32_t const b : order) {
            plan_.first.push_back(static_cast<std::int32_t>(plan_.row.size()));
            plan_.row.push_back(leader[b]);
            if (partner_[leader[b]] >= 0) plan_.row.push_back(partner_[leader[b]]);
        }
        plan_.first.push_back(n_);
        return true;
    }

    void place_entries() {
        block_at_.resize(n_);
        for (std::int32_t k = 0; k < plan_.num_blocks(); ++k)
            std::fill(block_at_.begin() + plan_.first[k], block_at_.begin() + plan_.first[k + 1], k);
        auto const place = inverse_permutation(plan_.row);
        plan_.entry_ptr.assign(plan_.num_blocks() + 1, 0);
        auto const for_each = [&](auto const& body) {
            for (std::int32_t j = 0; j < n_; ++j)
                for (Offset const p : a_.entries_of(j)) {
                    std::int32_t const row = place[a_.row_ind[p]], column = place[j];
                    body(std::max(row, column), std::min(row, column), static_cast<std::int32_t>(p),
                         row < column);
                }
        };
        for_each([&](std::int32_t row, std::int32_t, std::int32_t, bool) {
            ++plan_.entry_ptr[block_at_[row] + 1];
        });
        for (std::int32_t k = 0; k < plan_.num_blocks(); ++k) plan_.entry_ptr[k + 1] += plan_.entry_ptr[k];
        plan_.entries.resize(a_.stored());
        std::vector<std::int32_t> next(plan_.entry_ptr.begin(), plan_.entry_ptr.end() - 1);
        for_each([&](std::int32_t row, std::int32_t column, std::int32_t p, bool is_transposed) {
            std::int32_t const k = block_at_[row];
            plan_.entries[next[k]++] = {p, column, static_cast<std::int8_t>(row - plan_.first[k]),
                                        is_transposed};
        });
    }

    // Row subtrees of the elimination tree (Liu 1990): from each entry of A up to a block that was reached
    // before.
    bool find_pattern() {
        std::int32_t const blocks = plan_.num_blocks();
        std::vector<std::int32_t> parent(blocks, -1), mark(blocks, -1), row(blocks);
        below_.assign(blocks, 0);
        plan_.pattern_ptr.assign(1, 0);
        plan_.nnz_factor = n_;
        for (std::int32_t k = 0; k < blocks; ++k) {
            mark[k] = k;
            std::int32_t first = blocks; // of the pattern in `row`, which is filled from its end
            for (std::int32_t p = plan_.entry_ptr[k]; p < plan_.entry_ptr[k + 1]; ++p) {
                std::int32_t length = 0;
                for (std::int32_t j = block_at_[plan_.entries[p].column]; mark[j] != k; j = parent[j]) {
                    mark[j] = k;
                    row[length++] = j;
                    if (parent[j] < 0) parent[j] = k;
                }
                // A path ends below blocks of earlier paths, so it is put before them.
                while (length > 0) row[--first] = row[--length];
            }
            plan_.pattern.insert(plan_.pattern.end(), row.begin() + first, row.end());
            int const width = plan_.width(k);
            plan_.nnz_factor += width - 1;
            for (std::int32_t q = first; q < blocks; ++q) {
                std::int32_t const j = row[q];
                double const columns = plan_.width(j);
                plan_.flops += 2 * width * columns * (below_[j] + width + 1);
                below_[j] += width;
                plan_.nnz_factor += width * plan_.width(j);
            }
            if (plan_.nnz_factor > most_positions) return false;
            plan_.pattern_ptr.push_back(static_cast<std::int32_t>(plan_.pattern.size()));
        }
        return true;
    }

    void list_rows() {
        std::int32_t const blocks = plan_.num_blocks();
        plan_.row_ptr.assign(1, 0);
        plan_.value_ptr.assign(1, 0);
        for (std::int32_t k = 0; k < blocks; ++k) {
            plan_.row_ptr.push_back(plan_.row_ptr[k] + below_[k]);
            plan_.value_ptr.push_back(plan_.value_ptr[k] + below_[k] * plan_.width(k));
        }
        plan_.rows.resize(plan_.row_ptr[blocks]);
        std::vector<std::int32_t> next(plan_.row_ptr.begin(), plan_.row_ptr.end() - 1);
        for (std::int32_t k = 0; k < blocks; ++k)
            for (std::int32_t p = plan_.pattern_ptr[k]; p < plan_.pattern_ptr[k + 1]; ++p)
                for (std::int32_t i = plan_.first[k]; i < plan_.first[k + 1]; ++i)
                    plan_.rows[next[plan_.pattern[p]]++] = i;
    }

    CscMatrix<T> const& a_;
    std::int32_t n_;
    bool only_if_faster_;
    LdlPlan plan_;
    std::vector<std::int32_t> ptr_, neighbor_;  // both triangles without the diagonal
    std::vector<Size> size_, diagonal_;         // scaled moduli
    std::vector<std::int32_t> partner_;         // by row of A, or -1
    std::vector<std::int32_t> block_at_;        // by position
    std::vector<std::int32_t> below_;           // the number of rows below each block
};

// A power of two near 1 / sqrt(size), and 1 for zero and for numbers that are not finite.
template <class R> R scale_for(R size) {
    if (!(size > 0) || size > std::numeric_limits<R>::max()) return R(1);
    return std::ldexp(R(1), -std::ilogb(size) / 2);
}

} // namespace

std::uint64_t LdlPlan::bytes(std::size_t scalar_bytes) const {
    auto const n = static_cast<std::uint64_t>(order());
    return entries.size() * sizeof(Entry) + scale.size() * sizeof(double) +
           (pattern.size() + rows.size() + 6 * n) * sizeof(std::int32_t) +
           (static_cast<std::uint64_t>(nnz_factor) + 10 * n) * scalar_bytes;
}

template <class T> void symmetric_scales(CscMatrix<T> const& a, std::vector<Real<T>>& scales) {
    using R = Real<T>;
    std::vector<R> largest(a.cols);
    for (int step = 0; step < 2; ++step) {
        std::ranges::fill(largest, R(0));
        for (Index j = 0; j < a.cols; ++j)
            for (Offset const p : a.entries_of(j)) {
                Index const i = a.row_ind[p];
                R const size = abs1(a.values[p]) * scales[i] * scales[j];
                largest[i] = std::max(largest[i], size);
                largest[j] = std::max(largest[j], size);
            }
        for (Index i = 0; i < a.cols; ++i) scales[i] *= scale_for(largest[i]);
    }
}

template <class T> void diagonal_scales(CscMatrix<T> const& a, std::vector<Real<T>>& scales) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j))
            if (a.row_ind[p] == j) {
                scales[j] *= scale_for(abs1(a.values[p]) * scales[j] * scales[j]);
                break;
            }
}

template <class T> PlanResult<LdlPlan> plan_simplicial_cholesky(CscMatrix<T> const& a, bool only_if_faster) {
    if (!has_small_positions(a)) return NoPlan::impossible;
    return LdlPlanner<T>(a, only_if_faster).run_without_pairs();
}

template <class T> PlanResult<LdlPlan> plan_simplicial_ldl(CscMatrix<T> const& a, MatchedRows const* matched,
                                                           bool only_if_faster) {
    if (!has_small_positions(a)) return NoPlan::impossible;
    return LdlPlanner<T>(a, only_if_faster).run(matched);
}

double predicted_seconds(LdlPlan const& plan) {
    return seconds_of(plan, rates_of(plan.is_definite).factorization);
}

ESPALIER_INSTANTIATE_FUNCTION(symmetric_scales)
ESPALIER_INSTANTIATE_FUNCTION(diagonal_scales)
ESPALIER_INSTANTIATE_FUNCTION(plan_simplicial_cholesky)
ESPALIER_INSTANTIATE_FUNCTION(plan_simplicial_ldl)

} // namespace espalier
