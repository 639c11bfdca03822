// The families of test matrices; generators.hpp selects them by name. Arguments are positive, and small
// enough that no count overflows. All functions are deterministic and take linear time and memory. Symmetric
// and Hermitian matrices are stored as their lower triangles.
#pragma once

#include <complex>
#include <cstdint>

#include "espalier/matrix.hpp"

namespace espalier {

/// 5-point Laplacian on n x n nodes, Dirichlet boundary: 4 on the diagonal, -1 beside it. SPD.
CscMatrix<double> generate_lap2d(Index n);
/// 7-point Laplacian on n^3 nodes, Dirichlet boundary: 6 on the diagonal, -1 beside it. SPD.
CscMatrix<double> generate_lap3d(Index n);
/// Linear elasticity on n^3 trilinear bricks, clamped at x = 0; 3 n (n + 1)^2 rows. SPD.
CscMatrix<double> generate_elast3d(Index n);
/// Convection and diffusion of 5 coupled fields on n^3 nodes; general.
CscMatrix<double> generate_convdiff3d(Index n);
/// Helmholtz equation on n^3 nodes, 10 nodes per wavelength, absorbing boundary; complex symmetric.
CscMatrix<std::complex<double>> generate_helmholtz3d(Index n);
/// A particle on n^3 sites in a magnetic field; Hermitian positive definite.
CscMatrix<std::complex<double>> generate_hermitian3d(Index n);
/// A time step of three-phase flow in layered rock on nx x ny x nz cells, 3 unknowns per cell; general.
CscMatrix<double> generate_spe10like(Index nx, Index ny, Index nz);
/// Stokes flow on a staggered grid of n^3 cells; symmetric indefinite with a zero pressure block.
CscMatrix<double> generate_saddle3d(Index n);
/// About `off_diagonal` entries at random positions, and a dominant diagonal; general.
CscMatrix<double> generate_random(Index n, Offset off_diagonal, std::uint64_t seed);

} // namespace espalier
