// Each sweep divides every row and column by the square root of its largest modulus, all at once. Once no
// modulus is above 1, a maximum m becomes at least sqrt(m): its logarithm halves in each sweep. Logarithms of
// base 2 in single precision suffice, because the result is rounded to powers of two.
#include "scaling/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scaling/scaled_value.hpp"

namespace espalier {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
// Halving the exponent of the widest range of doubles, 2^2100, reaches less than 2 in 12 sweeps.
constexpr int max_sweeps = 12;
// Maxima this close to 1 (in binary digits) are within the error of the final rounding.
constexpr float tolerance = 0.5f;

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

} // namespace

template <class T> Scaling equilibrate(CscMatrix<T> const& a) {
    bool const mirrored = a.symmetry != Symmetry::general;
    Logs const logs = logs_of_moduli(a);
    Logs rows(a.rows, 0), columns(a.cols, 0);
    float worst = 2 * tolerance;
    for (int sweep = 0; sweep < max_sweeps && worst > tolerance; ++sweep) {
        Logs row_maxima(a.rows, minus_infinity), column_maxima(a.cols, minus_infinity);
        for (Index j = 0; j < a.cols; ++j)
            for (Offset k : a.entries_of(j)) {
                Index const i = a.row_ind[k];
                float const log = logs[k] + (rows[i] + columns[j]);
                row_maxima[i] = std::max(row_maxima[i], log);
                column_maxima[j] = std::max(column_maxima[j], log);
            }
        if (mirrored) {
            for (Index i = 0; i < a.rows; ++i) row_maxima[i] = std::max(row_maxima[i], column_maxima[i]);
            column_maxima = row_maxima;
        }
        worst = std::max(correct(rows, row_maxima), correct(columns, column_maxima));
    }
    return {powers_of_two(rows), powers_of_two(columns)};
}

ESPALIER_INSTANTIATE_FUNCTION(equilibrate)

} // namespace espalier
