// Each sweep divides every row and column by the square root of its largest modulus, all at once. Once no
// modulus is above 1, a maximum m becomes at least sqrt(m): its logarithm halves in each sweep. Logarithms of
// base 2 in single precision suffice, because the result is rounded to powers of two.
//
// Scales of rows and columns with largest moduli of 1 are not unique. If A = D B E with a well scaled B and
// diagonal matrices D and E of a very wide range, the sweeps find other scales than those of B, for which
// most entries are tiny. Then they start again from the scales of a least squares fit, which are those of B.
#include "scaling/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scaling/log_fit.hpp"
#include "scaling/scaled_value.hpp"

namespace espalier {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
// Halving the exponent of the widest range of doubles, 2^2100, reaches less than 2 in 12 sweeps.
constexpr int max_sweeps = 12;
// Maxima this close to 1 (in binary digits) are within the error of the final rounding.
constexpr float tolerance = 0.5f;
// Scales whose logarithms differ more than this start from a fit.
constexpr float wide_range = 32;
// The fit is good, and B is well scaled, if it leaves entries that deviate from 1 by at most this on average.
constexpr double good_fit = 8;

using Logs = std::vector<float>;

template <class T> Logs logs_of_moduli(CscMatrix<T> const& a) {
    double const bits = 1 / std::log(2.0);
    Logs logs;
    logs.reserve(a.stored());
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k : a.entries_of(j)) {
            require_finite(a.values[k], a.row_ind[k], j);
            logs.push_back(static_cast<float>(bits * log_modulus(a.values[k])));
        }
    return logs;
}

// Subtracts half the logarithm of each maximum from its scale. Returns the largest modulus of these
// logarithms, without empty rows.
float correct(Logs& scale, Logs const& maxima) {
    float worst = 0;
    for (Index i = 0; i < std::ssize(scale); ++i) {
        if (maxima[i] == minus_infinity) continue;
        scale[i] -= maxima[i] / 2;
        worst = std::max(worst, std::abs(maxima[i]));
    }
    return worst;
}

std::vector<double> powers_of_two(Logs const& logs) {
    std::vector<double> scales;
    scales.reserve(logs.size());
    for (float const log : logs)
        scales.push_back(std::ldexp(1.0, static_cast<int>(std::clamp(std::round(log), -1000.0f, 1000.0f))));
    return scales;
}

// Adapts given scales.
template <class T> void sweep(CscMatrix<T> const& a, Logs const& logs, Logs& rows, Logs& columns) {
    bool const mirrored = a.symmetry != Symmetry::general;
    float worst = 2 * tolerance;
    for (int k = 0; k < max_sweeps && worst > tolerance; ++k) {
        Logs row_maxima(a.rows, minus_infinity), column_maxima(a.cols, minus_infinity);
        for (Index j = 0; j < a.cols; ++j)
            for (Offset p : a.entries_of(j)) {
                Index const i = a.row_ind[p];
                float const log = logs[p] + (rows[i] + columns[j]);
                row_maxima[i] = std::max(row_maxima[i], log);
                column_maxima[j] = std::max(column_maxima[j], log);
            }
        if (mirrored) {
            for (Index i = 0; i < a.rows; ++i) row_maxima[i] = std::max(row_maxima[i], column_maxima[i]);
            column_maxima = row_maxima;
        }
        worst = std::max(correct(rows, row_maxima), correct(columns, column_maxima));
    }
}

bool has_wide_range(Logs const& scales) {
    if (scales.empty()) return false;
    auto const [least, most] = std::ranges::minmax(scales);
    return most - least > wide_range;
}

} // namespace

template <class T> Scaling equilibrate(CscMatrix<T> const& a) {
    Logs const logs = logs_of_moduli(a);
    Logs rows(a.rows, 0), columns(a.cols, 0);
    sweep(a, logs, rows, columns);
    if (a.symmetry == Symmetry::general && has_wide_range(rows) && has_wide_range(columns)) {
        auto fit = fit_logarithms(a, logs, columns);
        if (fit.deviation <= good_fit) {
            rows = std::move(fit.rows);
            columns = std::move(fit.columns);
            sweep(a, logs, rows, columns);
        }
    }
    return {powers_of_two(rows), powers_of_two(columns)};
}

ESPALIER_INSTANTIATE_FUNCTION(equilibrate)

} // namespace espalier
