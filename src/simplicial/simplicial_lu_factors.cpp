// The factors of SimplicialLu as sparse matrices. Inside a diagonal block they are those of the
// elimination. The entries of B between the blocks were not eliminated, and become those of U by solves with
// the blocks of L.
#include <algorithm>
#include <functional>
#include <queue>

#include "simplicial/simplicial_lu.hpp"

namespace espalier {

namespace {

// The columns of a matrix with sorted rows, one after the other.
template <class T> class SortedColumns {
  public:
    explicit SortedColumns(Index n) { matrix_.rows = matrix_.cols = n; }
    void put(Index row, T value) { column_.emplace_back(row, value); }
    void end_column() {
        std::ranges::sort(column_, {}, &std::pair<Index, T>::first);
        for (auto const& [row, value] : column_) {
            matrix_.row_ind.push_back(row);
            matrix_.values.push_back(value);
        }
        matrix_.col_ptr.push_back(std::ssize(matrix_.row_ind));
        column_.clear();
    }
    CscMatrix<T> take() { return std::move(matrix_); }

  private:
    CscMatrix<T> matrix_;
    std::vector<std::pair<Index, T>> column_;
};

} // namespace

template <class T> Factors<T> SimplicialLu<T>::explicit_factors(Interrupt* interrupt) const {
    auto const n = static_cast<std::int32_t>(pivot_.size());
    std::vector<std::int32_t> const& column = plan_->form.column;
    SortedColumns<T> lower(n), upper(n);
    std::vector<T> x(n, T(0));
    std::vector<char> is_reached(n, 0);
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>>
        reached; // rows between the blocks
    auto const reach = [&](std::int32_t row) {
        if (!is_reached[row]) reached.push(row);
        is_reached[row] = 1;
    };
    constexpr std::int32_t columns_between_checks = 64;
    for (std::int32_t k = 0; k < n; ++k) {
        if (k % columns_between_checks == 0) check(interrupt);
        // L = S^-1 L_B S and U = S^-1 U_B C^-1 with the scales S of rows and C of columns, powers of two.
        lower.put(k, T(1));
        for (Offset p = lower_.ptr[k]; p < lower_.ptr[k + 1]; ++p)
            lower.put(lower_.ind[p], lower_.values[p] * (scale_[k] / scale_[lower_.ind[p]]));
        lower.end_column();
        auto const put_upper = [&](std::int32_t row, T value) {
            upper.put(row, value / scale_[row] / column_scale_[column[k]]);
        };
        put_upper(k, pivot_[k]);
        for (Offset p = upper_.ptr[k]; p < between_[k]; ++p) put_upper(upper_.ind[p], upper_.values[p]);
        for (Offset p = between_[k]; p < upper_.ptr[k + 1]; ++p) {
            x[upper_.ind[p]] = upper_.values[p];
            reach(upper_.ind[p]);
        }
        for (; !reached.empty(); reached.pop()) {
            std::int32_t const j = reached.top();
            for (Offset p = lower_.ptr[j]; p < lower_.ptr[j + 1]; ++p) {
                x[lower_.ind[p]] -= lower_.values[p] * x[j];
                reach(lower_.ind[p]);
            }
            put_upper(j, x[j]);
            x[j] = T(0);
            is_reached[j] = 0;
        }
        upper.end_column();
    }
    Factors<T> factors;
    factors.lower = lower.take();
    factors.upper = upper.take();
    factors.row_permutation.assign(row_.begin(), row_.end());
    factors.column_permutation.assign(column.begin(), column.end());
    return factors;
}

#define ESPALIER_INSTANTIATE(T) template Factors<T> SimplicialLu<T>::explicit_factors(Interrupt*) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
