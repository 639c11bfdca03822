// Batches against solutions of the systems one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "core/status_of.hpp"
#include "espalier/batch.hpp"
#include "espalier/espalier.hpp"
#include "matrix/dense_reference.hpp"

namespace espalier {
namespace {

using namespace test;

// Systems of one pattern, with the values of a random matrix that are disturbed from one to the next.
template <class T> struct Systems {
    Systems(Symmetry symmetry, Index size, Index nrhs) {
        a.rows = a.cols = n;
        a.symmetry = symmetry;
        for (Index j = 0; j < n; ++j) {
            for (Index i = symmetry == Symmetry::general ? 0 : j; i < n; ++i) {
                if (i != j && (i + 2 * j) % 5 != 0) continue;
                a.row_ind.push_back(i);
                a.values.push_back(T(i == j ? 8 : 1));
            }
            a.col_ptr.push_back(std::ssize(a.row_ind));
        }
        std::vector<T> const noise = random_vector<T>(size * a.stored(), 5);
        for (Index k = 0; k < size; ++k)
            for (Offset p = 0; p < a.stored(); ++p) {
                T const change = noise[k * a.stored() + p] / T(4);
                values.push_back(a.values[p] + T(real_part(change)));
            }
        b = random_vector<T>(size * n * nrhs, 7);
    }
    [[nodiscard]] CscMatrix<T> matrix(Index k) const {
        CscMatrix<T> one = a;
        std::copy_n(values.begin() + k * a.stored(), a.stored(), one.values.begin());
        return one;
    }

    static constexpr Index n = 12;
    CscMatrix<T> a;
    std::vector<T> values, b;
};

Options on(int threads) {
    Options options;
    options.threads = threads;
    return options;
}

template <class T> class BatchTyped : public testing::Test {};
TYPED_TEST_SUITE(BatchTyped, Scalars);

TYPED_TEST(BatchTyped, SolvesEachSystem) {
    using T = TypeParam;
    constexpr Index size = 7, nrhs = 2, n = Systems<T>::n;
    for (Symmetry const symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian}) {
        if (symmetry == Symmetry::hermitian && !is_complex<T>) continue;
        Systems<T> const systems(symmetry, size, nrhs);
        for (int const threads : {1, 3, 16}) {
            auto const found = solve_batch<T>(systems.a, systems.values, systems.b, nrhs, on(threads));
            for (Index k = 0; k < size; ++k) {
                auto const dense = to_dense(systems.matrix(k));
                EXPECT_EQ(found.status[k], Status::ok);
                EXPECT_LE(found.backward_error[k], 10 * epsilon<T>);
                for (Index c = k * nrhs; c < (k + 1) * nrhs; ++c)
                    for (Index i = 0; i < n; ++i) {
                        T sum = -systems.b[c * n + i];
                        for (Index j = 0; j < n; ++j) sum += dense(i, j) * found.x[c * n + j];
                        EXPECT_LE(std::abs(sum), 100 * epsilon<T>);
                    }
            }
        }
    }
}

TEST(Batch, TheDiagonalOfHermitianMatricesMayHaveRoundingErrors) {
    using T = std::complex<double>;
    Systems<T> systems(Symmetry::hermitian, 3, 1);
    auto const exact = solve_batch<T>(systems.a, systems.values, systems.b, 1, on(2));
    for (std::size_t k = 0; k < systems.values.size(); ++k)
        if (systems.values[k].real() > 6) systems.values[k] += T(0, 1e-16 * systems.values[k].real());
    EXPECT_EQ(solve_batch<T>(systems.a, systems.values, systems.b, 1, on(2)).x, exact.x);
    systems.values[0] += T(0, 1e-8);
    EXPECT_EQ(status_of([&] { solve_batch<T>(systems.a, systems.values, systems.b, 1, on(2)); }),
              Status::bad_input);
}

// The first system cannot even be analyzed.
TEST(Batch, ASingularSystemDoesNotSpoilTheOthers) {
    Systems<double> systems(Symmetry::general, 5, 1);
    auto const stored = systems.a.stored();
    std::fill_n(systems.values.begin(), stored, 0.0);
    std::fill_n(systems.values.begin() + 3 * stored, stored, 0.0);
    auto const found = solve_batch<double>(systems.a, systems.values, systems.b, 1, on(2));
    for (Index k = 0; k < 5; ++k) {
        bool const is_singular = k == 0 || k == 3;
        EXPECT_EQ(found.status[k], is_singular ? Status::singular : Status::ok) << k;
        EXPECT_EQ(std::isnan(found.x[k * systems.n]), is_singular) << k;
        EXPECT_EQ(std::isnan(found.backward_error[k]), is_singular) << k;
    }
    std::ranges::fill(systems.values, 0.0);
    for (Status const status : solve_batch<double>(systems.a, systems.values, systems.b, 1, on(2)).status)
        EXPECT_EQ(status, Status::singular);
}

TEST(Batch, RefusesWrongSizesAndValues) {
    Systems<double> systems(Symmetry::general, 4, 1);
    auto const status = [&](Index nrhs, Options const& options = on(2)) {
        return status_of([&] { solve_batch<double>(systems.a, systems.values, systems.b, nrhs, options); });
    };
    EXPECT_EQ(status(0), Status::usage);
    EXPECT_EQ(status(3), Status::usage);
    Options schur = on(1);
    schur.schur = {1};
    EXPECT_EQ(status(1, schur), Status::usage);
    systems.values[systems.a.stored() * 3 + 1] = NAN; // of the second thread
    EXPECT_EQ(status(1), Status::bad_input);
    systems.values.pop_back();
    EXPECT_EQ(status(1), Status::usage);
}

// The threads share the limit, from which the results are subtracted.
TEST(Batch, CountsItsResultsAndTheSolversOfAllThreads) {
    Systems<double> const systems(Symmetry::general, 40, 1);
    auto const solve = [&](int threads, std::uint64_t limit) {
        Options options = on(threads);
        options.max_memory = limit;
        return status_of([&] { solve_batch<double>(systems.a, systems.values, systems.b, 1, options); });
    };
    EXPECT_EQ(solve(1, systems.b.size() * sizeof(double)), Status::out_of_memory);
    std::uint64_t enough = 1;
    while (solve(1, enough) != Status::ok) enough *= 2;
    EXPECT_EQ(solve(16, enough), Status::out_of_memory);
    EXPECT_EQ(solve(16, 20 * enough), Status::ok);
}

TEST(Batch, IsCancelledOnTheThreadOfTheCaller) {
    Systems<double> const systems(Symmetry::general, 2000, 1);
    Options options = on(3);
    auto const caller = std::this_thread::get_id();
    int asked = 0;
    options.cancel = [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return ++asked > 0;
    };
    EXPECT_EQ(status_of([&] { solve_batch<double>(systems.a, systems.values, systems.b, 1, options); }),
              Status::cancelled);
    EXPECT_GT(asked, 0);
}

} // namespace
} // namespace espalier
