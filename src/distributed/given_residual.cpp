#include "distributed/given_residual.hpp"

#include <cmath>
#include <cstring>

#include "distributed/residual_pass.hpp"
#include "matrix/norms.hpp"

namespace espalier {
namespace {

template <class T> using GivenSums = SumsWithNorm<T>;
template <class T> using GivenRow = RowOfPass<GivenSums<T>>;

// The scales of the rows of op(A) and of x: R and C, or C and R if op(A) is transposed. Null: ones.
struct ScalesOfRows {
    double const *row, *x;
};

// The largest values of some rows of the given system, and of the scaled one.
struct GivenLargest {
    Largest given;
    double residual = 0, size = 0, x = 0;

    void take(GivenLargest const& other) {
        given.take(other.given);
        take_scaled(other.residual, other.size, other.x);
    }
    void take_scaled(double other_residual, double other_size, double other_x) {
        residual = larger(residual, other_residual);
        size = larger(size, other_size);
        x = larger(x, other_x);
    }
    // `row_size` is |op(A)| |x| + |b|.
    void take(Index i, double row_residual, double row_size, double row_norm, double row_x, double row_b,
              ScalesOfRows const& scales) {
        given.take(row_residual, row_size, row_x, 1, row_norm, row_x, row_b);
        if (scales.row)
            take_scaled(row_residual * scales.row[i], row_size * scales.row[i], row_x / scales.x[i]);
    }
};

// Takes the largest values of rows that begin with the lanes (product, size, norm, x), like TakeLanes.
struct TakeGivenLanes {
    ESPALIER_INLINE static void run(GivenRow<double> const* rows, IndexRange range,
                                    ScalesOfRows const& scales, double const* b, GivenLargest& to) {
        Largest largest = to.given; // a copy that nothing else refers to
        Lanes given = {}, scaled = {};
        double b_norm = 0;
        for (Index i = range.first; i < range.last; ++i) {
            Lanes moduli;
            std::memcpy(&moduli, static_cast<void const*>(rows + i), sizeof(Lanes));
            moduli = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(moduli) & no_sign);
            given = moduli > given ? moduli : given;
            if (scales.row) {
                double const row = scales.row[i];
                Lanes const converted = moduli * Lanes{row, row, 0, 1 / scales.x[i]};
                scaled = converted > scaled ? converted : scaled;
            }
            double const b_i = __builtin_fabs(b[i]); // std::abs is not inlined into code for AVX2
            b_norm = b_i > b_norm ? b_i : b_norm;
            // These maxima ignore a NaN. A NaN in the matrix or b also is in a residual, which fails this
            // comparison.
            if (moduli[0] <= below_rounding * largest.componentwise * moduli[1] && moduli[3] <= infinity)
                continue;
            largest.take(Largest{moduli[0], relative_error(moduli[0], moduli[1]), moduli[0], moduli[1], 0,
                                 moduli[2], moduli[3], b_i});
        }
        largest.take(Largest{given[0], 0, given[0], given[1], 0, given[2], given[3], b_norm});
        to.given = largest;
        to.take_scaled(scaled[0], scaled[1], scaled[3]);
    }
};

template <class T> void take_rows(GivenRow<T> const* rows, IndexRange range, ScalesOfRows const& scales,
                                  T const* b, GivenLargest& to) {
    GivenLargest largest = to;
    for (Index i = range.first; i < range.last; ++i) {
        GivenSums<T> const& sums = rows[i].sums;
        double const b_i = modulus(b[i]);
        largest.take(i, modulus(sums.product), static_cast<double>(sums.size) + b_i, sums.norm,
                     size_of_entry<T>(rows[i].x), b_i, scales);
    }
    to = largest;
}

} // namespace

template <class T> std::uint64_t GivenResidual<T>::bytes(Index rows, Offset stored, int workers) {
    return static_cast<std::uint64_t>(rows) * sizeof(GivenRow<T>) * parts_of_pass(stored, workers);
}

template <class T> void GivenResidual<T>::prepare(Index rows, Offset stored, RowWorkers const& workers) {
    rows_.grow(bytes(rows, stored, workers.count()));
    touch_rows(rows_, workers);
}

template <class T> std::optional<BackwardErrors>
GivenResidual<T>::errors(CscMatrix<T> const& a, PatternFingerprint const* pattern,
                         ScalesOfSystem const& scales, std::span<T const> x, std::span<T const> b,
                         MatrixOp op, RowWorkers const& workers) {
    using Row = GivenRow<T>;
    if (pattern && (!pattern->has_sizes_of(a) || a.values.size() != a.row_ind.size())) return {};
    rows_.grow(bytes(a.rows, a.stored(), workers.count()));
    auto const data = [](std::span<double const> all) { return all.empty() ? nullptr : all.data(); };
    ScalesOfRows of_rows{data(scales.rows), data(scales.columns)};
    if (op != MatrixOp::none) std::swap(of_rows.row, of_rows.x);
    auto const begin = [&](IndexRange range, Row* rows) {
        for (Index i = range.first; i < range.last; ++i) {
            __builtin_prefetch(rows + i + 64, 1);
            rows[i].x = make_entry<GivenSums<T>>(x[i], 1);
            rows[i].sums.start(-b[i]);
            if constexpr (has_lanes<GivenSums<T>>) rows[i].sums.size = std::abs(b[i]);
        }
    };
    GivenLargest of_part[2];
    auto const finish = [&](int part, IndexRange range, Row const* rows) {
        if constexpr (has_lanes<GivenSums<T>>)
            run_lanes<TakeGivenLanes>(rows, range, of_rows, b.data(), of_part[part]);
        else
            take_rows<T>(rows, range, of_rows, b.data(), of_part[part]);
    };
    Pass<GivenSums<T>, T> const pass(a, rows_.as<Row>(), workers, a.symmetry != Symmetry::general);
    if (!pass.run(op, begin, finish, [&](Index block) { return !pattern || pattern->has_block(a, block); }))
        return {};
    of_part[0].take(of_part[1]);
    GivenLargest const& all = of_part[0];
    double const normwise =
        normwise_backward_error(all.given.norm, all.given.residual, all.given.x, all.given.b);
    // Scaled numbers that underflow tell nothing.
    double const scaled = !of_rows.row           ? normwise
                          : all.size >= 0x1p-900 ? relative_error(all.residual, all.size)
                                                 : infinity;
    return BackwardErrors{normwise, all.given.componentwise, scaled, all.given.b};
}

ESPALIER_INSTANTIATE_CLASS(GivenResidual)

} // namespace espalier
