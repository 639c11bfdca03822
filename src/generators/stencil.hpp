// Matrices of 7-point stencils on a box of cells, built directly in CSC order. x runs fastest, so the
// neighbors of a cell have ascending numbers in the order -z, -y, -x, itself, +x, +y, +z.
#pragma once

#include <array>

#include "espalier/matrix.hpp"

namespace espalier {

/// nx x ny x nz cells, numbered with x fastest.
struct Grid {
    Index nx = 1, ny = 1, nz = 1;
    [[nodiscard]] Index cells() const { return nx * ny * nz; }
    [[nodiscard]] Index cell(Index x, Index y, Index z) const { return x + nx * (y + ny * z); }
    /// Number of pairs of neighboring cells.
    [[nodiscard]] Index faces() const { return (nx - 1) * ny * nz + nx * (ny - 1) * nz + nx * ny * (nz - 1); }
    /// Calls visit(x, y, z) for each cell in ascending order.
    template <class Visit> void for_each_cell(Visit visit) const {
        for (Index z = 0; z < nz; ++z)
            for (Index y = 0; y < ny; ++y)
                for (Index x = 0; x < nx; ++x) visit(x, y, z);
    }
};

/// The lower triangle of a matrix with one unknown per cell. For cell p at (x, y, z), diagonal(x, y, z)
/// returns A(p, p), and coupling(axis, x, y, z) returns A(q, p) for its neighbor q one step up the axis.
template <class T, class Diagonal, class Coupling>
CscMatrix<T> seven_point_lower(Grid const& grid, Symmetry symmetry, Diagonal diagonal, Coupling coupling) {
    CscMatrix<T> a;
    a.rows = a.cols = grid.cells();
    a.symmetry = symmetry;
    a.col_ptr.resize(grid.cells() + 1);
    a.row_ind.resize(grid.cells() + grid.faces());
    a.values.resize(a.row_ind.size());
    Index p = 0;
    Offset k = 0;
    auto const put = [&](Index row, T value) {
        a.row_ind[k] = row;
        a.values[k++] = value;
    };
    grid.for_each_cell([&](Index x, Index y, Index z) {
        put(p, diagonal(x, y, z));
        if (x + 1 < grid.nx) put(p + 1, coupling(0, x, y, z));
        if (y + 1 < grid.ny) put(p + grid.nx, coupling(1, x, y, z));
        if (z + 1 < grid.nz) put(p + grid.nx * grid.ny, coupling(2, x, y, z));
        a.col_ptr[++p] = k;
    });
    return a;
}

/// A block column of a matrix with B unknowns per cell: the B x B blocks A(q, p) for a fixed cell p. Blocks
/// of neighbors outside the grid are ignored.
template <int B> class BlockColumn {
  public:
    using Block = std::array<std::array<double, B>, B>; ///< block[row][column]

    Block& diagonal() { return blocks_[3]; }
    /// The block A(q, p) for the neighbor q one step up (side = 1) or down (side = -1) the axis.
    Block& neighbor(int axis, int side) { return blocks_[side < 0 ? 2 - axis : 4 + axis]; }
    /// The block at a slot 0 .. 6 in the order of q.
    Block const& operator[](int slot) const { return blocks_[slot]; }

  private:
    std::array<Block, 7> blocks_{}; ///< In the order of q.
};

/// A general matrix with B consecutive unknowns per cell. Blocks are stored with their zeros. fill(x, y, z,
/// column) writes the blocks of cell (x, y, z) to `column`, which is initialized to 0.
template <int B, class Fill> CscMatrix<double> seven_point_blocks(Grid const& grid, Fill fill) {
    CscMatrix<double> a;
    a.rows = a.cols = B * grid.cells();
    a.col_ptr.resize(a.cols + 1);
    a.row_ind.resize(B * B * (grid.cells() + 2 * grid.faces()));
    a.values.resize(a.row_ind.size());
    Index const step_y = grid.nx, step_z = grid.nx * grid.ny;
    std::array<Index, 7> const step{-step_z, -step_y, -1, 0, 1, step_y, step_z};
    Index p = 0;
    Offset k = 0;
    grid.for_each_cell([&](Index x, Index y, Index z) {
        std::array<bool, 7> const inside{z > 0,           y > 0,           x > 0,          true,
                                         x + 1 < grid.nx, y + 1 < grid.ny, z + 1 < grid.nz};
        BlockColumn<B> column;
        fill(x, y, z, column);
        for (int c = 0; c < B; ++c) {
            for (int slot = 0; slot < 7; ++slot)
                for (int r = 0; r < B && inside[slot]; ++r) {
                    a.row_ind[k] = B * (p + step[slot]) + r;
                    a.values[k++] = column[slot][r][c];
                }
            a.col_ptr[B * p + c + 1] = k;
        }
        ++p;
    });
    return a;
}

} // namespace espalier
