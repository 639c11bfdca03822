// Solves a system, and catches an error of the library.
#include <cstdio>

#include <espalier/espalier.hpp>

int main() {
    espalier::CscMatrix<double> a;
    a.rows = a.cols = 3;
    a.symmetry = espalier::Symmetry::symmetric;
    a.col_ptr = {0, 2, 4, 5};
    a.row_ind = {0, 1, 1, 2, 2};
    a.values = {2, -1, 2, -1, 2};
    std::vector<double> const b = {1, 1, 1};
    espalier::Solver<double> solver;
    try {
        (void)solver.solve(b);
        return 1;
    } catch (espalier::Error const& error) {
        if (error.status() != espalier::Status::usage) return 2;
    }
    solver.factorize(a);
    std::vector<double> x = solver.solve(b);
    if (solver.refine(a, b, x).status != espalier::Status::ok) return 3;
    std::printf("%.1f %.1f %.1f\n", x[0], x[1], x[2]);
    return 0;
}
