// Solves a system with the installed Eigen header.
#include <cstdio>

#include <espalier/eigen.hpp>

int main() {
    Eigen::SparseMatrix<double> a(3, 3);
    for (int i = 0; i < 3; ++i) a.insert(i, i) = 2;
    for (int i = 0; i < 2; ++i) a.insert(i + 1, i) = -1;
    espalier::EigenLDLT<Eigen::SparseMatrix<double>> const solver(a);
    Eigen::VectorXd const x = solver.solve(Eigen::VectorXd::Ones(3));
    if (solver.info() != Eigen::Success) return 1;
    std::printf("%.1f %.1f %.1f\n", x[0], x[1], x[2]);
    return 0;
}
