// The best r for given c is r_i = -mean_j (log |a_ij| + c_j). With this r, the sum is a quadratic function of
// c, whose minimum conjugate gradients find. They are preconditioned by the numbers of entries in the
// columns.
#include "scaling/log_fit.hpp"

#include <cmath>
#include <numeric>

#include "core/scalar.hpp"

namespace espalier {
namespace {

constexpr int most_steps = 50;
constexpr double small_correction = 0.1; // of a scale, root mean square, in binary digits

using Vector = std::vector<double>;

template <class T> class LeastSquares {
  public:
    LeastSquares(CscMatrix<T> const& a, std::vector<float> const& logs)
        : a_(a), logs_(logs), in_row_(a.rows, 0.0), in_column_(a.cols, 0.0) {
        for_each([&](Index i, Index j, double) {
            ++in_row_[i];
            ++in_column_[j];
        });
    }

    LogFit run(Vector c) const {
        Vector direction(a_.cols, 0.0);
        Vector residual = down_hill(c, 1);
        double before = 1;
        for (int step = 0; step < most_steps; ++step) {
            double size = 0;
            for (Index j = 0; j < a_.cols; ++j)
                if (in_column_[j] > 0) size += residual[j] * residual[j] / in_column_[j];
            if (size <= small_correction * small_correction * static_cast<double>(a_.cols)) break;
            for (Index j = 0; j < a_.cols; ++j) {
                direction[j] *= step > 0 ? size / before : 0;
                if (in_column_[j] > 0) direction[j] += residual[j] / in_column_[j];
            }
            Vector const change = down_hill(direction, 0);
            double const slope = -std::inner_product(change.begin(), change.end(), direction.begin(), 0.0);
            if (!(slope > 0)) break;
            for (Index j = 0; j < a_.cols; ++j) {
                c[j] += size / slope * direction[j];
                residual[j] += size / slope * change[j];
            }
            before = size;
        }
        return fit_for(c);
    }

  private:
    /// Calls visit(i, j, log |a_ij|) for the nonzero entries.
    template <class Visit> void for_each(Visit const& visit) const {
        for (Index j = 0; j < a_.cols; ++j)
            for (Offset const k : a_.entries_of(j))
                if (std::isfinite(logs_[k])) visit(a_.row_ind[k], j, static_cast<double>(logs_[k]));
    }
    /// mean_j (weight * log |a_ij| + c_j).
    [[nodiscard]] Vector means_of_rows(Vector const& c, double weight) const {
        Vector means(a_.rows, 0.0);
        for_each([&](Index i, Index j, double log) { means[i] += weight * log + c[j]; });
        for (Index i = 0; i < a_.rows; ++i)
            if (in_row_[i] > 0) means[i] /= in_row_[i];
        return means;
    }
    [[nodiscard]] LogFit fit_for(Vector const& c) const {
        Vector const means = means_of_rows(c, 1);
        LogFit fit{{}, {c.begin(), c.end()}};
        for (double const mean : means) fit.rows.push_back(static_cast<float>(-mean));
        double squares = 0, count = 0;
        for_each([&](Index i, Index j, double log) {
            squares += (log + c[j] - means[i]) * (log + c[j] - means[i]);
            ++count;
        });
        fit.deviation = count > 0 ? std::sqrt(squares / count) : 0;
        return fit;
    }
    /// Half the negative gradient: -sum_i (weight * log |a_ij| + c_j + r_i) with the best r.
    [[nodiscard]] Vector down_hill(Vector const& c, double weight) const {
        Vector const means = means_of_rows(c, weight);
        Vector gradient(a_.cols, 0.0);
        for_each([&](Index i, Index j, double log) { gradient[j] -= weight * log + c[j] - means[i]; });
        return gradient;
    }

    CscMatrix<T> const& a_;
    std::vector<float> const& logs_;
    Vector in_row_, in_column_; // the numbers of nonzero entries
};

} // namespace

template <class T> LogFit fit_logarithms(CscMatrix<T> const& a, std::vector<float> const& logs,
                                         std::vector<float> const& columns) {
    return LeastSquares<T>(a, logs).run({columns.begin(), columns.end()});
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template LogFit fit_logarithms(CscMatrix<T> const&, std::vector<float> const&, std::vector<float> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
