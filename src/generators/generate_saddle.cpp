// Stokes flow on a staggered (MAC) grid of n^3 cells (Harlow and Welch 1965): pressure at cell centers, each
// velocity component at the centers of the faces normal to it. All faces of the cube are walls, except the
// outflow x = 1, where the pressure is fixed, so the matrix
//     [ A  B^T ]     A: a 7-point Laplacian of each component,
//     [ B   0  ]     B: divergence of each cell,
// is nonsingular. Unknowns: u on the x faces 1 .. n, v and w on the inner y and z faces, then the pressures.
// The zero block has no stored entries, so the last n^3 columns of the lower triangle are empty.
#include <array>
#include <utility>

#include "generators/generate.hpp"
#include "generators/stencil.hpp"

namespace espalier {
namespace {

class StokesAssembly {
  public:
    explicit StokesAssembly(Index n)
        : cells_{n, n, n}, faces_{Grid{n, n, n}, Grid{n, n - 1, n}, Grid{n, n, n - 1}} {
        first_pressure_ = faces_[0].cells() + faces_[1].cells() + faces_[2].cells();
    }

    CscMatrix<double> assemble() {
        a_.rows = a_.cols = first_pressure_ + cells_.cells();
        a_.symmetry = Symmetry::symmetric;
        a_.col_ptr.reserve(a_.cols + 1);
        auto const bound = 6 * first_pressure_;
        a_.row_ind.reserve(bound);
        a_.values.reserve(bound);
        Index column = 0;
        for (int component = 0; component < 3; ++component)
            faces_[component].for_each_cell(
                [&](Index x, Index y, Index z) { append_velocity(component, column++, {x, y, z}); });
        a_.col_ptr.resize(a_.cols + 1, a_.col_ptr.back());
        return std::move(a_);
    }

  private:
    using Position = std::array<Index, 3>;

    void put(Index row, double value) {
        a_.row_ind.push_back(row);
        a_.values.push_back(value);
    }

    /// Diagonal entry of -u'' along one axis: 2 in the interior and at a wall normal to the component, which
    /// is the neighboring node with u = 0; 3 at a tangential wall half a step away (ghost -u); 1 at the
    /// outflow (ghost u).
    [[nodiscard]] double second_difference(int component, int axis, Position const& at) const {
        Grid const& grid = faces_[component];
        Index const extent = axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz;
        double value = 2;
        if (at[axis] == 0 && axis != component) value += 1;
        if (at[axis] == extent - 1) {
            if (axis == 0)
                value -= 1;
            else if (axis != component)
                value += 1;
        }
        return value;
    }

    void append_velocity(int component, Index column, Position const& at) {
        Grid const& grid = faces_[component];
        double diagonal = 0;
        for (int axis = 0; axis < 3; ++axis) diagonal += second_difference(component, axis, at);
        put(column, diagonal);
        if (at[0] + 1 < grid.nx) put(column + 1, -1);
        if (at[1] + 1 < grid.ny) put(column + grid.nx, -1);
        if (at[2] + 1 < grid.nz) put(column + grid.nx * grid.ny, -1);
        // Flow through the face leaves the cell with the same coordinates and enters the next cell along the
        // axis.
        Index const cell = cells_.cell(at[0], at[1], at[2]);
        put(first_pressure_ + cell, 1);
        Index const step = component == 0 ? 1 : component == 1 ? cells_.nx : cells_.nx * cells_.ny;
        if (at[component] + 1 < cells_.nx) put(first_pressure_ + cell + step, -1);
        a_.col_ptr.push_back(std::ssize(a_.row_ind));
    }

    Grid cells_;
    std::array<Grid, 3> faces_; ///< The faces of each component.
    Index first_pressure_;
    CscMatrix<double> a_;
};

} // namespace

CscMatrix<double> generate_saddle3d(Index n) {
    return StokesAssembly(n).assemble();
}

} // namespace espalier
