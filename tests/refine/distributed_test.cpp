// Refinement, condition estimates and null spaces with rows of several processes. The results are those of
// one process up to rounding, and equal on all processes.
#include <gtest/gtest.h>

#include <algorithm>

#include "dense.hpp"
#include "distributed/backward_error.hpp"
#include "distributed/dealt.hpp"
#include "refine/condition.hpp"
#include "refine/null_space.hpp"
#include "refine/refine.hpp"
#include "refine/singularity.hpp"

namespace espalier {
namespace {

using test::DenseLu, test::gathered, test::local_part, test::Dense, test::to_dense, test::to_sparse;

// A matrix, and the factors of a nearby matrix, which process 0 applies.
template <class T> struct System {
    CscMatrix<T> a;
    DenseLu<T> lu;

    explicit System(CscMatrix<T> matrix) : a(std::move(matrix)), lu(to_dense<T>(a), pivot_bound(a)) {}
    System(CscMatrix<T> matrix, DenseLu<T> factors) : a(std::move(matrix)), lu(std::move(factors)) {}
    explicit System(test::DisturbedSystem<T> const& given) : System(given.a, given.lu) {}

    // Calls body(matrix, inverse) on `processes` processes.
    template <class Body> void on(int processes, Body const& body) const {
        test::with_dealt_rows(a.cols, processes, 8, [&](DistributedRows const& rows) {
            bool const is_root = rows.comm().rank() == 0;
            DistributedMatrix<T> const matrix(rows, is_root ? &a : nullptr);
            RowExchange const exchange = test::exchange_with_root(rows);
            ApplyInverse<T> const inverse = [&](std::span<T> block, Index columns, MatrixOp op) {
                std::vector<T> whole(exchange.given() * columns);
                exchange.to_caller<T>(block, whole, columns);
                if (is_root) lu.apply()(whole, columns, op);
                exchange.to_owners<T>(whole, block, columns);
            };
            body(matrix, inverse);
        });
    }

  private:
    static Real<T> pivot_bound(CscMatrix<T> const& a) {
        return static_cast<Real<T>>(std::sqrt(epsilon<T>) * DistributedMatrix<T>(a).max_abs());
    }
};

template <class T> class DistributedRefineOf : public testing::Test {};
using DistributedScalars = testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(DistributedRefineOf, DistributedScalars);

TYPED_TEST(DistributedRefineOf, EveryMethodConvergesAsOnOneProcess) {
    using T = TypeParam;
    Index const nrhs = 3;
    System const system{test::DisturbedSystem<T>(is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric)};
    auto const b = test::random_vector<T>(system.a.cols * nrhs, 8);
    for (RefineMethod const method : {RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab,
                                      RefineMethod::cg, RefineMethod::automatic})
        for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose}) {
            RefineReport alone;
            for (int processes = 1; processes <= 4; ++processes) {
                SCOPED_TRACE(testing::Message() << to_string(method) << " " << processes);
                system.on(processes, [&](DistributedMatrix<T> const& a, ApplyInverse<T> const& inverse) {
                    auto const my_b = local_part(a.rows(), b, nrhs);
                    std::vector<T> x(my_b.size());
                    RefineOptions const options{.method = method, .op = op};
                    auto report = refine<T>(a, my_b, x, nrhs, inverse, options);
                    report.forward_error =
                        std::ranges::max(forward_error_bounds<T>(a, my_b, x, nrhs, inverse, op));
                    if (processes == 1) alone = report;
                    EXPECT_EQ(report.converged, alone.converged);
                    EXPECT_EQ(report.method, alone.method);
                    EXPECT_NEAR(report.iterations, alone.iterations, 1);
                    EXPECT_LE(report.backward_error, 1.5 * alone.backward_error + 20 * epsilon<T>);
                    EXPECT_LE(report.forward_error, 2 * alone.forward_error + 100 * epsilon<T>);
                    auto const whole = gathered(a.rows(), x, nrhs);
                    if (a.rows().comm().rank() > 0) return;
                    EXPECT_NEAR(report.backward_error,
                                normwise_backward_error<T>(system.a, whole, b, nrhs, op), 4 * epsilon<T>);
                    EXPECT_NEAR(report.componentwise_error,
                                componentwise_backward_error<T>(system.a, whole, b, nrhs, op),
                                4 * epsilon<T>);
                });
            }
        }
}

TYPED_TEST(DistributedRefineOf, ConditionEstimatesAreThoseOfOneProcess) {
    using T = TypeParam;
    for (Index const n : {5, 40}) {
        System<T> const system(to_sparse(test::random_square<T>(n, 6)));
        double alone = 0;
        WeakestDirection weakest;
        for (int processes = 1; processes <= 4; ++processes)
            system.on(processes, [&](DistributedMatrix<T> const& a, ApplyInverse<T> const& inverse) {
                double const rcond = reciprocal_condition<T>(a, inverse).rcond;
                auto const direction = weakest_direction<T>(a, inverse);
                if (processes == 1) {
                    alone = rcond;
                    weakest = direction;
                }
                EXPECT_NEAR(rcond, alone, 0.01 * alone);
                // The last steps of the iteration only have rounding errors.
                EXPECT_NEAR(direction.distance, weakest.distance, 0.3 * weakest.distance);
                EXPECT_FALSE(direction.template is_singular<T>());
                EXPECT_FALSE(probe_grows_as_singular<T>(a, inverse, nullptr));
            });
    }
}

TYPED_TEST(DistributedRefineOf, NullSpacesAreThoseOfOneProcess) {
    using T = TypeParam;
    for (Index const n : {20, 75})
        for (Index const nullity : {0, 3}) {
            std::vector<double> sigma(n);
            for (Index i = nullity; i < n; ++i)
                sigma[i] = 0.1 + 0.9 * static_cast<double>(i) / static_cast<double>(n);
            System<T> const system(to_sparse(test::with_singular_values<T>(sigma, 11, false)));
            for (int processes = 1; processes <= 4; ++processes) {
                SCOPED_TRACE(testing::Message() << n << " " << nullity << " " << processes);
                system.on(processes, [&](DistributedMatrix<T> const& a, ApplyInverse<T> const& inverse) {
                    auto const found = null_space<T>(a, inverse, {.first_block = nullity + 2});
                    ASSERT_EQ(found.basis.cols, nullity);
                    ASSERT_EQ(found.basis.rows, a.rows().count());
                    EXPECT_EQ(weakest_direction<T>(a, inverse).template is_singular<T>(), nullity > 0);
                    auto const v = gathered(a.rows(), found.basis.values, nullity);
                    if (a.rows().comm().rank() > 0) return;
                    for (Index j = 0; j < nullity; ++j)
                        for (Index k = 0; k <= j; ++k) {
                            T product(0);
                            for (Index i = 0; i < n; ++i) product += conj(v[i + k * n]) * v[i + j * n];
                            EXPECT_NEAR(std::abs(product - T(k == j)), 0, 100 * epsilon<T>);
                        }
                });
            }
        }
}

TEST(DistributedRefine, ExtraPrecisionFindsTheDigitsOfOneProcess) {
    Index const n = 12;
    auto const hilbert = test::hilbert<double>(n);
    System<double> const system(to_sparse(hilbert), DenseLu<double>(hilbert));
    std::vector<double> const b(n, 1.0);
    std::vector<double> alone;
    for (int processes = 1; processes <= 3; ++processes)
        system.on(processes, [&](DistributedMatrix<double> const& a, ApplyInverse<double> const& inverse) {
            auto const my_b = local_part(a.rows(), b);
            auto x = my_b;
            inverse(x, 1, MatrixOp::none);
            EXPECT_GT(refine_extra_precisely<double>(a, my_b, x, 1, inverse, MatrixOp::none), 0);
            auto const whole = gathered(a.rows(), x);
            if (a.rows().comm().rank() > 0) return;
            if (processes == 1) alone = whole;
            double const size = *std::max_element(alone.begin(), alone.end());
            for (Index i = 0; i < n; ++i) EXPECT_NEAR(whole[i], alone[i], 1e-15 * size);
        });
}

TEST(DistributedRefine, TheInterruptOfOneProcessStopsAllWithXAsItWas) {
    System const system{test::DisturbedSystem<double>(Symmetry::symmetric)};
    for (RefineMethod const method :
         {RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab, RefineMethod::cg})
        system.on(3, [&](DistributedMatrix<double> const& a, ApplyInverse<double> const& inverse) {
            Interrupt interrupt;
            int solves = 0;
            ApplyInverse<double> const stopping = [&](std::span<double> block, Index columns, MatrixOp op) {
                if (++solves == 1 && a.rows().comm().rank() == 2) interrupt.request();
                inverse(block, columns, op);
            };
            RefineOptions const options{.method = method, .interrupt = &interrupt};
            std::vector<double> const b(a.rows().count(), 1.0);
            auto x = b;
            EXPECT_EQ(status_of([&] { refine<double>(a, b, x, 1, stopping, options); }), Status::cancelled)
                << to_string(method);
            EXPECT_EQ(solves, 1);
            EXPECT_EQ(x, b);
        });
}

TEST(DistributedRefine, PivotsOfAllProcessesCount) {
    System const system{test::DisturbedSystem<double>(Symmetry::general)};
    system.on(3, [&](DistributedMatrix<double> const& a, ApplyInverse<double> const&) {
        auto const m = a.rows().count();
        std::vector<double> pivots(m, 1.0);
        for (Index l = 0; l < m; ++l) {
            if (a.rows().number(l) == 7) pivots[l] = 1e-9;
            if (a.rows().number(l) == 2) pivots[l] = -400;
        }
        PivotRange own;
        for (double const pivot : pivots) own += {std::abs(pivot), std::abs(pivot)};
        PivotRange const range = relative_pivots<double>(a, false, 1, own, [](auto) { return PivotRange(); });
        EXPECT_DOUBLE_EQ(range.smallest, 1e-9 / 80);
        EXPECT_DOUBLE_EQ(range.largest, 5);
    });
}

// The largest entry is 80.
TEST(DistributedRefine, PivotsOfCholeskyAreRelativeToDiagonalEntriesIfThisMatters) {
    System const system{test::DisturbedSystem<double>(Symmetry::general)};
    system.on(3, [&](DistributedMatrix<double> const& a, ApplyInverse<double> const&) {
        double const smallest = a.rows().comm().rank() == 1 ? 1e-3 : 1;
        auto const smallest_of = [&](bool cholesky, double enough) {
            auto const from = [&](std::span<double const> origin) {
                EXPECT_EQ(std::ssize(origin), a.rows().count());
                return PivotRange{2 * smallest, 2};
            };
            return relative_pivots<double>(a, cholesky, enough, {smallest, 1}, from).smallest;
        };
        EXPECT_DOUBLE_EQ(smallest_of(true, 1e-6), 1e-3 / 80);
        EXPECT_DOUBLE_EQ(smallest_of(true, 1e-4), 2e-3);
        EXPECT_DOUBLE_EQ(smallest_of(false, 1e-4), 1e-3 / 80);
    });
}

} // namespace
} // namespace espalier
