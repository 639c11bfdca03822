// The size of a residual in one pass over the entries of a matrix. Each row sums up the products a x, their
// moduli, and the moduli of a if the norm of the matrix is wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "core/run_threads.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "matrix/entries.hpp"
#include "matrix/norms.hpp"

namespace espalier {

// The sum of some products a x, and of their moduli.
template <class T> struct ProductAndSize {
    using Entry = T; // of x
    T product;
    Real<T> size;
    void start(T value) { *this = {value, 0}; }
    void add(T a, T x) {
        product += a * x;
        size += std::abs(a) * std::abs(x);
    }
    void add(ProductAndSize const& other) {
        product += other.product;
        size += other.size;
    }
};

// The same, and the sum of the moduli of a.
template <class T> struct ProductSizeAndNorm : ProductAndSize<T> {
    double norm;
    void start(T value) {
        ProductAndSize<T>::start(value);
        norm = 0;
    }
    void add(T a, T x) {
        ProductAndSize<T>::add(a, x);
        norm += modulus(a);
    }
    void add(ProductSizeAndNorm const& other) {
        ProductAndSize<T>::add(other);
        norm += other.norm;
    }
};

// An entry of x and the factor of its column.
template <class T> struct ScaledEntry {
    T x;
    double factor;
};

// Like ProductSizeAndNorm, for a matrix whose columns have factors.
template <class T> struct ProductSizeAndScaledNorm : ProductSizeAndNorm<T> {
    using Entry = ScaledEntry<T>;
    using ProductSizeAndNorm<T>::add;
    void add(T a, Entry const& entry) {
        ProductAndSize<T>::add(a, entry.x);
        this->norm += modulus(a) * entry.factor;
    }
};

// The sums of a row and its entry of x, together in a line of the cache.
template <class Sums> struct RowOfPass {
    Sums sums;
    typename Sums::Entry x;
    void add(RowOfPass const& other) { sums.add(other.sums); }
};

// The number of parts of a pass, each of which adds to its own copy of the sums. More threads than two do not
// change it, so the sums do not either.
template <class T> int parts_of_pass(CscMatrix<T> const& a, int threads) {
    constexpr Offset worth_dividing = 200'000;
    return threads > 1 && a.stored() >= worth_dividing ? 2 : 1;
}

// Runs body(part) for each part, which must not throw, on several threads if memory allows.
template <class Body> void run_parts(int parts, int threads, Body const& body) {
    try {
        if (std::min(parts, threads) > 1) return run_threads(parts, body);
    } catch (std::bad_alloc const&) {
        // No thread has started.
    }
    for (int part = 0; part < parts; ++part) body(part);
}

// Adds the entries of row i of op(A) that the columns store to rows[i].sums. A stored entry a(i, j) contributes
// to row i (`scatters`), to row j (`gathers`) or to both, and the diagonal once.
template <bool scatters, bool gathers, class Sums, class T>
void add_columns(bool conjugate_i, bool conjugate_j, CscMatrix<T> const& a, IndexRange columns,
                 RowOfPass<Sums>* rows) {
    constexpr Offset ahead = 64; // the rows of later entries are fetched, which nothing else predicts
    Offset const last = a.stored() - 1;
    Index const* const row_ind = a.row_ind.data();
    T const* const values = a.values.data();
    for (Index const j : columns) {
        Sums sums_j{};
        auto const x_j = rows[j].x;
        for (Offset const p : a.entries_of(j)) {
            __builtin_prefetch(rows + row_ind[std::min(p + ahead, last)], scatters);
            Index const i = row_ind[p];
            T const value = values[p];
            if constexpr (gathers) sums_j.add(conj_if(conjugate_j, value), rows[i].x);
            if constexpr (scatters)
                if (!gathers || i != j) rows[i].sums.add(conj_if(conjugate_i, value), x_j);
        }
        if constexpr (gathers) rows[j].sums.add(sums_j);
    }
}

template <class Sums, class T>
void add_columns(MatrixOp op, CscMatrix<T> const& a, IndexRange columns, RowOfPass<Sums>* rows) {
    bool const turned = op != MatrixOp::none, conjugate = op == MatrixOp::adjoint;
    bool const conjugate_mirror = conjugate != (a.symmetry == Symmetry::hermitian);
    if (a.symmetry == Symmetry::general)
        return turned ? add_columns<false, true>(conjugate, conjugate, a, columns, rows)
                      : add_columns<true, false>(conjugate, conjugate, a, columns, rows);
    add_columns<true, true>(turned ? conjugate_mirror : conjugate, turned ? conjugate : conjugate_mirror, a,
                            columns, rows);
}

// A pass over the entries in one or two parts, each of which has its own copy of the rows behind that of the
// part before.
template <class Sums, class T> class Pass {
  public:
    using Row = RowOfPass<Sums>;

    // `lower` tells that no entry is above the diagonal.
    Pass(CscMatrix<T> const& a, Row* rows, int threads, bool lower)
        : a_(a), rows_(rows), parts_(parts_of_pass(a, threads)), threads_(threads), is_lower_(lower) {}

    // The sums of row i start with start(i), the entry of x is x(i).
    template <class Start, class X> void begin(Start const& start, X const& x) const {
        run_parts(parts_, threads_, [&](int part) {
            for (Index const i : rows_of(part)) {
                rows_[i].sums.start(start(i));
                rows_[i].x = x(i);
            }
        });
    }

    // Adds the entries of each row of op(A). close() brings the sums together.
    void add_entries(MatrixOp op) const {
        run_parts(parts_, threads_, [&](int part) {
            Row* const own = rows_ + part * a_.rows;
            if (part > 0)
                for (Index i = first_row(part); i < a_.rows; ++i) own[i] = {Sums(), rows_[i].x};
            add_columns(op, a_, {first_column(part), first_column(part + 1)}, own);
        });
    }

    // finish(part, i, sums) for all rows, which are divided among the parts. The first copy then contains all
    // sums.
    template <class Finish> void close(Finish const& finish) const {
        run_parts(parts_, threads_, [&](int part) {
            for (Index const i : rows_of(part)) {
                for (int other = 1; other < parts_; ++other)
                    if (i >= first_row(other)) rows_[i].add(rows_[other * a_.rows + i]);
                finish(part, i, rows_[i].sums);
            }
        });
    }

  private:
    [[nodiscard]] IndexRange rows_of(int part) const {
        return {a_.rows * part / parts_, a_.rows * (part + 1) / parts_};
    }
    [[nodiscard]] Index first_column(int part) const {
        auto const at = std::lower_bound(a_.col_ptr.begin(), a_.col_ptr.end() - 1, a_.stored() / parts_ * part);
        return part == parts_ ? a_.cols : at - a_.col_ptr.begin();
    }
    [[nodiscard]] Index first_row(int part) const { return is_lower_ ? first_column(part) : 0; }

    CscMatrix<T> const& a_;
    Row* rows_;
    int parts_, threads_;
    bool is_lower_;
};

// The largest values of some rows, as in ResidualSize.
struct alignas(128) Largest { // threads write them at the same time
    double residual = 0, componentwise = 0, residual_before = 0, size_before = 0, norm = 0;

    // The residual of a row and |op(A)| |x| + |b| there, and the factor of the row in unscaled().
    void take(double row_residual, double row_size, double factor) {
        double error = row_residual / row_size;
        if (!std::isfinite(error) || !std::isfinite(row_size)) error = relative_error(row_residual, row_size);
        residual = larger(residual, row_residual);
        componentwise = larger(componentwise, error);
        residual_before = larger(residual_before, row_residual / factor);
        size_before = larger(size_before, row_size / factor);
    }
    void take(Largest const& other) {
        residual = larger(residual, other.residual);
        componentwise = larger(componentwise, other.componentwise);
        residual_before = larger(residual_before, other.residual_before);
        size_before = larger(size_before, other.size_before);
        norm = larger(norm, other.norm);
    }
};

} // namespace espalier
