// Every generator at sizes small enough for dense algebra: size, symmetry, known entries, and the
// characteristic property of the family.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "generators/generators.hpp"
#include "matrix/convert.hpp"
#include "matrix/dense_reference.hpp"
#include "matrix/spmv.hpp"

using namespace espalier;
using namespace espalier::test;
using Complex = std::complex<double>;

namespace {

template <class T = double> CscMatrix<T> make(std::string const& spec) {
    return std::get<CscMatrix<T>>(generate_matrix(spec).matrix);
}

Index rows_of(std::string const& spec) {
    return std::visit([](auto const& a) { return a.rows; }, generate_matrix(spec).matrix);
}

double pivot_ratio_of(std::string const& spec) {
    return std::visit([](auto const& a) { return pivot_ratio(to_dense(a)); }, generate_matrix(spec).matrix);
}

char const* const small_specs[] = {"lap2d:1",         "lap2d:5",         "lap3d:1",         "lap3d:4",
                                   "elast3d:1",       "elast3d:2",       "convdiff3d:1",    "convdiff3d:3",
                                   "helmholtz3d:1",   "helmholtz3d:5",   "hermitian3d:1",   "hermitian3d:5",
                                   "saddle3d:1",      "saddle3d:3",      "random:1:0:0",    "random:50:200:7",
                                   "spe10like:1x1x1", "spe10like:4x3x5", "spe10like:1x7x1", "random:6:30:1"};

} // namespace

TEST(Generators, SatisfyTheInvariantsAndDescribeThemselves) {
    for (std::string const spec : small_specs) {
        SCOPED_TRACE(spec);
        auto const named = generate_matrix(spec);
        std::visit(
            [&](auto const& a) {
                EXPECT_NO_THROW(a.validate());
                EXPECT_EQ(a.rows, a.cols);
                EXPECT_EQ(named.description.entries_in_file, a.stored());
                EXPECT_NE(named.description.declared.find(to_string(a.symmetry)), std::string::npos);
            },
            named.matrix);
        EXPECT_EQ(named.description.name, spec);
        EXPECT_EQ(named.description.format, "generator");
        EXPECT_TRUE(is_generator(spec));
    }
}

TEST(Generators, HaveTheDocumentedNumberOfRows) {
    EXPECT_EQ(rows_of("lap2d:7"), 49);
    EXPECT_EQ(rows_of("lap3d:5"), 125);
    EXPECT_EQ(rows_of("elast3d:4"), 3 * 4 * 5 * 5);
    EXPECT_EQ(rows_of("convdiff3d:4"), 5 * 64);
    EXPECT_EQ(rows_of("helmholtz3d:5"), 125);
    EXPECT_EQ(rows_of("hermitian3d:5"), 125);
    EXPECT_EQ(rows_of("spe10like:5x4x3"), 3 * 60);
    EXPECT_EQ(rows_of("saddle3d:4"), 64 + 64 + 2 * 16 * 3);
    EXPECT_EQ(rows_of("random:123:456:7"), 123);
}

TEST(Generators, AreDeterministic) {
    for (std::string const spec : small_specs) {
        auto const first = generate_matrix(spec).matrix, second = generate_matrix(spec).matrix;
        std::visit(
            [&](auto const& a) {
                auto const& b = std::get<std::decay_t<decltype(a)>>(second);
                EXPECT_EQ(a.col_ptr, b.col_ptr);
                EXPECT_EQ(a.row_ind, b.row_ind);
                EXPECT_EQ(a.values, b.values);
            },
            first);
    }
}

TEST(Generators, AreNonsingular) {
    for (std::string const spec : small_specs) EXPECT_GT(pivot_ratio_of(spec), 1e-9) << spec;
    EXPECT_GT(pivot_ratio_of("helmholtz3d:6"), 1e-6);
    EXPECT_GT(pivot_ratio_of("saddle3d:4"), 1e-6);
}

TEST(Generators, DeclaredDefiniteAreDefinite) {
    for (char const* spec : {"lap2d:1", "lap2d:8", "lap3d:4", "elast3d:1", "elast3d:3"})
        EXPECT_TRUE(is_positive_definite(to_dense(make(spec)))) << spec;
    for (char const* spec : {"hermitian3d:1", "hermitian3d:6"})
        EXPECT_TRUE(is_positive_definite(to_dense(make<Complex>(spec)))) << spec;
    EXPECT_FALSE(is_positive_definite(to_dense(make("saddle3d:3"))));
}

TEST(GenerateLaplace, HasTheEntriesOfTheStencil) {
    auto const square = to_dense(make("lap2d:3"));
    EXPECT_EQ(square(4, 4), 4);
    for (Index const neighbor : {1, 3, 5, 7}) EXPECT_EQ(square(neighbor, 4), -1);
    for (Index const other : {0, 2, 6, 8}) EXPECT_EQ(square(other, 4), 0);
    EXPECT_EQ(square(3, 2), 0); // the end of one grid line and the start of the next
    auto const cube = make("lap3d:3");
    EXPECT_EQ(cube.nnz(), 7 * 27 - 6 * 9);
    auto const dense = to_dense(cube);
    EXPECT_EQ(dense(13, 13), 6);
    for (Index const neighbor : {4, 10, 12, 14, 16, 22}) EXPECT_EQ(dense(neighbor, 13), -1);
}

TEST(GenerateElasticity, HasRigidMotionsInItsNullSpaceAwayFromTheClampedFace) {
    constexpr Index n = 4;
    auto const a = make("elast3d:4");
    double scale = 0;
    for (double const value : a.values) scale = std::max(scale, std::abs(value));
    for (int mode = 0; mode < 6; ++mode) {
        std::vector<double> u(a.cols), force(a.cols);
        Index node = 0;
        for (Index z = 0; z <= n; ++z)
            for (Index y = 0; y <= n; ++y)
                for (Index x = 1; x <= n; ++x, ++node) {
                    double const r[3] = {static_cast<double>(x), static_cast<double>(y),
                                         static_cast<double>(z)};
                    int const axis = mode % 3;
                    if (mode < 3)
                        u[3 * node + axis] = 1; // translation
                    else {                      // rotation: e_axis x r
                        u[3 * node + (axis + 1) % 3] = -r[(axis + 2) % 3];
                        u[3 * node + (axis + 2) % 3] = r[(axis + 1) % 3];
                    }
                }
        multiply<double>(MatrixOp::none, 1, a, u, 0, force);
        double inside = 0, at_clamp = 0;
        for (Index row = 0; row < a.rows; ++row) {
            bool const next_to_clamp = row / 3 % n == 0;
            (next_to_clamp ? at_clamp : inside) =
                std::max(next_to_clamp ? at_clamp : inside, std::abs(force[row]));
        }
        EXPECT_LT(inside, 1e-13 * scale * n) << "mode " << mode;
        EXPECT_GT(at_clamp, 0.01) << "mode " << mode;
    }
}

TEST(GenerateElasticity, CouplesEachInnerNodeWithItsTwentySixNeighbors) {
    auto const full = expand_symmetric(make("elast3d:4"));
    Index const inner = 1 + 4 * (2 + 5 * 2); // node (2, 2, 2) of 4 x 5 x 5
    for (Index dof = 0; dof < 3; ++dof)
        EXPECT_EQ(full.col_ptr[3 * inner + dof + 1] - full.col_ptr[3 * inner + dof], 81);
}

TEST(GenerateElasticity, StretchesABarAccordingToHookesLaw) {
    // A free brick with uniform strain e_xx = 1 (u = x) has the uniform stress lambda + 2 mu, so the forces
    // on the four nodes of its face x = 1, of area 1, sum to this stress.
    constexpr double lambda = 0.3 / (1.3 * 0.4), mu = 0.5 / 1.3;
    auto const a = make("elast3d:1");
    std::vector<double> u(12), force(12);
    for (Index node = 0; node < 4; ++node) u[3 * node] = 1;
    multiply<double>(MatrixOp::none, 1, a, u, 0, force);
    EXPECT_NEAR(force[0] + force[3] + force[6] + force[9], lambda + 2 * mu, 1e-13);
}

TEST(GenerateConvection, StoresWholeBlocksAndIsUnsymmetricInValuesOnly) {
    auto const a = make("convdiff3d:3");
    EXPECT_EQ(a.stored(), 25 * (27 + 2 * 54));
    auto const t = transpose(a);
    EXPECT_EQ(t.row_ind, a.row_ind);
    EXPECT_NE(t.values, a.values);
    for (double const value : a.values) EXPECT_NE(value, 0);
}

TEST(GenerateConvection, HasAPositiveDefiniteSymmetricPart) {
    auto symmetric_part = to_dense(make("convdiff3d:3"));
    for (Index j = 0; j < symmetric_part.cols; ++j)
        for (Index i = j; i < symmetric_part.rows; ++i)
            symmetric_part(i, j) = (symmetric_part(i, j) + symmetric_part(j, i)) / 2;
    EXPECT_TRUE(is_positive_definite(symmetric_part));
}

TEST(GenerateHelmholtz, DampsEveryUnknownAndNothingElse) {
    auto const a = make<Complex>("helmholtz3d:20");
    EXPECT_EQ(a.symmetry, Symmetry::symmetric);
    double weakest = 1, strongest = 0, phase_min = 1e9, phase_max = 0;
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Complex const value = a.values[k];
            if (a.row_ind[k] != j) {
                EXPECT_EQ(value, Complex(-1));
                continue;
            }
            weakest = std::min(weakest, -value.imag());
            strongest = std::max(strongest, -value.imag());
            Index const x = j % 20, y = j / 20 % 20, z = j / 400;
            if (std::min({x, y, z}) > 8 && std::max({x, y, z}) < 11) { // inside of the sponge: 6 - k^2
                phase_min = std::min(phase_min, std::sqrt(6 - value.real()));
                phase_max = std::max(phase_max, std::sqrt(6 - value.real()));
            }
        }
    EXPECT_GT(weakest, 1e-4);   // the medium itself
    EXPECT_GT(strongest, 1);    // a corner with three absorbing faces
    EXPECT_GT(phase_min, 0.49); // 2 pi / 10 within 20 %
    EXPECT_LT(phase_max, 0.76);
    EXPECT_LT(phase_min, phase_max);
}

TEST(GenerateHermitian, HasTheSameFluxThroughEverySquare) {
    auto const full = to_dense(expand_symmetric(make<Complex>("hermitian3d:4")));
    auto const around = [&](Index p, Index e, Index f) { // p -> p+e -> p+e+f -> p+f -> p
        return std::arg(full(p + e, p) * full(p + e + f, p + e) * full(p + f, p + e + f) * full(p, p + f));
    };
    constexpr double turn = 2 * 3.14159265358979323846;
    for (Index const p : {0, 5, 21, 42}) {
        EXPECT_NEAR(around(p, 1, 4), 0.10 * turn, 1e-12);
        EXPECT_NEAR(around(p, 4, 16), 0.03 * turn, 1e-12);
        EXPECT_NEAR(around(p, 16, 1), 0.05 * turn, 1e-12);
    }
}

TEST(GenerateReservoir, SpansSixDecadesOfTransmissibility) {
    auto const a = make("spe10like:12x10x8");
    double low = 1e300, high = 0;
    for (Index cell = 0; cell < 960; ++cell) // water flux by the neighbor's pressure
        for (Offset k = a.col_ptr[3 * cell]; k < a.col_ptr[3 * cell + 1]; ++k)
            if (a.row_ind[k] % 3 == 0 && a.row_ind[k] != 3 * cell) {
                EXPECT_LT(a.values[k], 0);
                low = std::min(low, -a.values[k]);
                high = std::max(high, -a.values[k]);
            }
    EXPECT_GT(high / low, 1e6);
}

TEST(GenerateReservoir, ConservesEachPhase) {
    // Fluxes cancel in the column sums of a phase. The accumulation remains, with d water / d water
    // saturation = pore volume and d water / d gas saturation = 0.
    auto const a = make("spe10like:6x5x4");
    EXPECT_EQ(a.stored(), 9 * (120 + 2 * (5 * 5 * 4 + 6 * 4 * 4 + 6 * 5 * 3)));
    for (Index cell = 0; cell < 120; ++cell) {
        double water_by_water = 0, water_by_gas = 0, oil_by_gas = 0, largest = 0;
        for (int unknown = 1; unknown <= 2; ++unknown)
            for (Offset k = a.col_ptr[3 * cell + unknown]; k < a.col_ptr[3 * cell + unknown + 1]; ++k) {
                largest = std::max(largest, std::abs(a.values[k]));
                if (a.row_ind[k] % 3 == 0) (unknown == 1 ? water_by_water : water_by_gas) += a.values[k];
                if (a.row_ind[k] % 3 == 1 && unknown == 2) oil_by_gas += a.values[k];
            }
        double const tolerance = 1e-13 * largest;
        EXPECT_NEAR(water_by_gas, 0, tolerance);
        EXPECT_NEAR(water_by_water, -oil_by_gas, 10 * tolerance);
        EXPECT_GT(water_by_water, 200 * 0.1 - 1);
        EXPECT_LT(water_by_water, 200 * 0.3 + 1);
    }
}

TEST(GenerateReservoir, IsUnsymmetricOnASymmetricPattern) {
    auto const a = make("spe10like:4x4x4");
    auto const t = transpose(a);
    EXPECT_EQ(t.row_ind, a.row_ind);
    EXPECT_NE(t.values, a.values);
}

TEST(GenerateSaddle, HasNoEntriesInThePressureBlock) {
    constexpr Index n = 3, velocities = 27 + 2 * 9 * 2;
    auto const a = make("saddle3d:3");
    EXPECT_EQ(a.symmetry, Symmetry::symmetric);
    for (Index j = velocities; j < a.cols; ++j) EXPECT_EQ(a.col_ptr[j], a.col_ptr[j + 1]);
    // 4 N^3 - 2 N^2 rows, an N^3 zero block, and all diagonal entries of the velocities.
    EXPECT_EQ(a.cols - velocities, n * n * n);
    for (Index j = 0; j < velocities; ++j) EXPECT_EQ(a.row_ind[a.col_ptr[j]], j);
}

TEST(GenerateSaddle, ConservesMassAndFixesThePressureOnlyAtTheOutflow) {
    constexpr Index n = 3, cells = 27, velocities = 27 + 2 * 9 * 2;
    auto const full = to_dense(make("saddle3d:3"));
    for (Index face = 0; face < velocities; ++face) {
        double sum = 0;
        for (Index cell = 0; cell < cells; ++cell) sum += full(velocities + cell, face);
        bool const outflow = face < cells && face % n == n - 1;
        EXPECT_EQ(sum, outflow ? 1 : 0) << face;
    }
}

TEST(GenerateSaddle, HasAPositiveDefiniteVelocityBlockWithWalls) {
    constexpr Index velocities = 27 + 2 * 9 * 2;
    auto const full = to_dense(make("saddle3d:3"));
    Dense<double> velocity(velocities, velocities);
    for (Index j = 0; j < velocities; ++j)
        for (Index i = 0; i < velocities; ++i) velocity(i, j) = full(i, j);
    EXPECT_TRUE(is_positive_definite(velocity));
    EXPECT_EQ(velocity(0, 0), 2 + 3 + 3);   // u on face x = 1/3 beside two walls
    EXPECT_EQ(velocity(2, 2), 1 + 3 + 3);   // u at the outflow
    EXPECT_EQ(velocity(13, 13), 2 + 2 + 2); // u in the middle
    EXPECT_EQ(velocity(27, 27), 3 + 2 + 3); // v in the corner x = y = z = 0
    EXPECT_EQ(velocity(29, 29), 1 + 2 + 3); // v at the outflow
}
