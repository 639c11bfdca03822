// Import from every layout, index type, base and triangle against a reference: random entries, some of them
// split into duplicates. Then each kind of invalid input with its message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <random>

#include "core/scalar.hpp"
#include "espalier/import.hpp"
#include "matrix/dense_reference.hpp"
#include "matrix/entries.hpp"

namespace espalier {
namespace {

using namespace test;

template <class T> struct Entry {
    Index row;
    Index column;
    T value;
};

template <class T, class I>
MatrixArrays<T, I> view_of(Layout layout, Index rows, Index cols, std::vector<I> const& pointers,
                           std::vector<I> const& indices, std::vector<T> const& values) {
    MatrixArrays<T, I> view;
    view.layout = layout;
    view.rows = rows;
    view.cols = cols;
    view.pointers = pointers;
    view.indices = indices;
    view.values = values;
    return view;
}

// The arrays of a view in one of the layouts, for given entries in the same order.
template <class T, class I> struct Arrays {
    MatrixArrays<T, I> view;
    std::vector<I> pointers;
    std::vector<I> indices;
    std::vector<T> values;

    Arrays(Layout layout, Index rows, Index cols, Index base, std::vector<Entry<T>>& entries) {
        bool const by_column = layout == Layout::csc;
        auto const major = [&](Entry<T> const& e) { return by_column ? e.column : e.row; };
        if (layout != Layout::coo) {
            std::stable_sort(entries.begin(), entries.end(),
                             [&](auto const& a, auto const& b) { return major(a) < major(b); });
            pointers.assign(static_cast<std::size_t>((by_column ? cols : rows) + 1), 0);
            for (auto const& e : entries) ++pointers[major(e) + 1];
            std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
            for (I& start : pointers) start = static_cast<I>(start + base);
        }
        for (auto const& e : entries) {
            if (layout == Layout::coo) pointers.push_back(static_cast<I>(e.row + base));
            indices.push_back(static_cast<I>((by_column ? e.row : e.column) + base));
            values.push_back(e.value);
        }
        view = view_of(layout, rows, cols, pointers, indices, values);
        view.base = base;
    }
};

// A random matrix of integers, so that sums are exact.
template <class T> CscMatrix<T> random_integers(Index rows, Index cols, Symmetry symmetry, unsigned seed) {
    auto a = random_matrix<T>(rows, cols, symmetry, 0.3, seed);
    for (T& value : a.values) {
        value *= Real<T>(32);
        if constexpr (is_complex<T>)
            value = T(std::round(value.real()), std::round(value.imag()));
        else
            value = std::round(value);
    }
    return a;
}

// The entries of a matrix by columns, or in random order, some of them split in two.
template <class T> std::vector<Entry<T>> entries_of(CscMatrix<T> const& a, Triangle triangle, bool shuffled,
                                                    std::mt19937& engine) {
    std::vector<Entry<T>> entries;
    for_each_entry(MatrixOp::none, a, [&](Index i, Index j, T value) {
        if ((triangle == Triangle::lower && i < j) || (triangle == Triangle::upper && i > j)) return;
        T const part = shuffled && engine() % 4 == 0 ? T(7) : T(0);
        if (part != T(0)) entries.push_back({i, j, part});
        entries.push_back({i, j, value - part});
    });
    if (shuffled)
        std::shuffle(entries.begin(), entries.end(), engine);
    else
        std::sort(entries.begin(), entries.end(), [](auto const& x, auto const& y) {
            return std::pair(x.column, x.row) < std::pair(y.column, y.row);
        });
    return entries;
}

template <class T> void expect_equal(CscMatrix<T> const& matrix, CscMatrix<T> const& expected) {
    matrix.validate();
    EXPECT_EQ(matrix.col_ptr, expected.col_ptr);
    EXPECT_EQ(matrix.row_ind, expected.row_ind);
    EXPECT_EQ(matrix.values, expected.values);
}

template <class T, class I> void round_trips() {
    std::mt19937 engine(5);
    for (Layout const layout : {Layout::csc, Layout::csr, Layout::coo})
        for (Symmetry const symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian})
            for (Triangle const triangle : {Triangle::full, Triangle::lower, Triangle::upper})
                for (Index const base : {0, 1})
                    for (bool const shuffled : {false, true}) {
                        if (symmetry == Symmetry::general && triangle != Triangle::full) continue;
                        Index const rows = 9, cols = symmetry == Symmetry::general ? 6 : rows;
                        auto whole =
                            random_integers<T>(rows, cols, symmetry, static_cast<unsigned>(engine()));
                        auto entries = entries_of(whole, triangle, shuffled, engine);
                        Arrays<T, I> arrays(layout, rows, cols, base, entries);
                        arrays.view.symmetry = symmetry;
                        arrays.view.triangle = triangle;
                        MatrixImport<T> import(arrays.view);
                        expect_equal(import.matrix(), whole);
                        EXPECT_EQ(import.entries(), std::ssize(arrays.values));

                        for (T& value : arrays.values) value *= Real<T>(-2);
                        import.set_values(arrays.values);
                        for (T& value : whole.values) value *= Real<T>(-2);
                        expect_equal(import.matrix(), whole);
                    }
}

TEST(Import, EveryLayoutMatchesTheReferenceFloat) {
    round_trips<float, std::int64_t>();
}
TEST(Import, EveryLayoutMatchesTheReferenceDouble) {
    round_trips<double, std::int32_t>();
}
TEST(Import, EveryLayoutMatchesTheReferenceComplex) {
    round_trips<std::complex<double>, std::int64_t>();
}

TEST(Import, RealHermitianIsSymmetric) {
    std::vector<int> const start{0, 1}, row{0};
    std::vector<double> const values{4};
    auto view = view_of(Layout::csc, 1, 1, start, row, values);
    view.symmetry = Symmetry::hermitian;
    EXPECT_EQ(import_matrix(view).symmetry, Symmetry::symmetric);
}

TEST(Import, EmptyMatrix) {
    for (Layout const layout : {Layout::csc, Layout::csr, Layout::coo}) {
        std::vector<Entry<double>> none;
        Arrays<double, int> const arrays(layout, 0, 0, 1, none);
        auto const matrix = import_matrix(arrays.view);
        EXPECT_EQ(matrix.rows, 0);
        EXPECT_EQ(matrix.col_ptr.size(), 1U);
    }
}

// [ 4 1 0 ]
// [ 1 5 2 ]   in full, in compressed columns counted from 1; the tests below make it invalid.
// [ 0 2 6 ]
struct Small {
    std::vector<int> pointers{1, 3, 6, 8};
    std::vector<int> indices{1, 2, 1, 2, 3, 2, 3};
    std::vector<double> values{4, 1, 1, 5, 2, 2, 6};
    MatrixArrays<double, int> view;
    Small() {
        view.rows = view.cols = 3;
        view.base = 1;
    }
    [[nodiscard]] MatrixArrays<double, int> const& filled() {
        view.pointers = pointers;
        view.indices = indices;
        view.values = values;
        return view;
    }
};

template <class Change> void expect_rejected(Status status, std::string const& part, Change change) {
    Small small;
    change(small);
    std::string message;
    EXPECT_EQ(status_of([&] { import_matrix(small.filled()); }, &message), status) << part;
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Import, RejectsInvalidSizes) {
    constexpr auto bad = Status::bad_input;
    expect_rejected(bad, "negative size -1 x 3", [](Small& s) { s.view.rows = -1; });
    expect_rejected(bad, "exceeds the limit of",
                    [](Small& s) { s.view.cols = std::numeric_limits<Index>::max(); });
    expect_rejected(bad, "4 column starts; a matrix of 4 columns needs 5", [](Small& s) { s.view.cols = 4; });
    expect_rejected(bad, "7 indices but 6 values", [](Small& s) { s.values.pop_back(); });
    expect_rejected(bad, "there are 4 row indices but 7 values",
                    [](Small& s) { s.view.layout = Layout::coo; });
    expect_rejected(bad, "must be square; this matrix is 4 x 3", [](Small& s) {
        s.view.symmetry = Symmetry::symmetric;
        s.view.rows = 4;
    });
    expect_rejected(bad, "nearly all rows are empty", [](Small& s) {
        s.view.layout = Layout::coo;
        s.pointers = s.indices;
        s.view.rows = s.view.cols = Index{1} << 39;
    });
    expect_rejected(Status::usage, "base = 2", [](Small& s) { s.view.base = 2; });
    expect_rejected(Status::usage, "use triangle = full",
                    [](Small& s) { s.view.triangle = Triangle::lower; });
}

TEST(Import, RejectsInvalidStarts) {
    constexpr auto bad = Status::bad_input;
    expect_rejected(bad, "first column start is 1; expected the base 0", [](Small& s) { s.view.base = 0; });
    expect_rejected(bad, "decrease from 6 to 5 at column 3", [](Small& s) { s.pointers = {1, 3, 6, 5}; });
    expect_rejected(bad, "decrease from 3 to -2147483648 at column 2",
                    [](Small& s) { s.pointers[2] = std::numeric_limits<int>::min(); });
    expect_rejected(bad, "last column start is 9, which means 8 entries; there are 7",
                    [](Small& s) { s.pointers[3] = 9; });
    expect_rejected(bad, "last row start is 7", [](Small& s) {
        s.view.layout = Layout::csr;
        s.pointers[3] = 7;
    });
}

TEST(Import, RejectsIndicesOutOfRangeInEveryWidth) {
    constexpr auto bad = Status::bad_input;
    expect_rejected(bad, "entry 3 (counted from 1): row 4 is outside 1 .. 3",
                    [](Small& s) { s.indices[2] = 4; });
    expect_rejected(bad, "entry 1 (counted from 1): row 0 is outside", [](Small& s) { s.indices[0] = 0; });
    expect_rejected(bad, "column -2147483648 is outside", [](Small& s) {
        s.view.layout = Layout::csr;
        s.indices[6] = std::numeric_limits<int>::min();
    });
    std::vector<std::int64_t> const rows{std::numeric_limits<std::int64_t>::min()}, columns{0};
    std::vector<double> const values{1};
    EXPECT_THROW(import_matrix(view_of(Layout::coo, 1, 1, rows, columns, values)), Error);
    EXPECT_THROW(import_matrix(view_of(Layout::coo, 1, 1, columns, rows, values)), Error);
}

TEST(Import, RejectsValuesThatAreNotFinite) {
    constexpr auto bad = Status::bad_input;
    expect_rejected(bad, "value 5 at row 3, column 2 (counted from 1) is NaN",
                    [](Small& s) { s.values[4] = NAN; });
    expect_rejected(bad, "value 1 at row 1, column 1 (counted from 1) is infinite",
                    [](Small& s) { s.values[0] = -INFINITY; });
    expect_rejected(bad, "the sum of the entries at row 2, column 1 (counted from 1) overflows",
                    [](Small& s) {
                        s.indices[0] = 2;
                        s.values[0] = s.values[1] = std::numeric_limits<double>::max();
                    });
}

TEST(Import, RejectsEntriesInTheWrongTriangle) {
    auto const expect = [](Triangle triangle, std::string const& message) {
        expect_rejected(Status::bad_input, message, [&](Small& s) {
            s.view.symmetry = Symmetry::symmetric;
            s.view.triangle = triangle;
        });
    };
    expect(Triangle::lower,
           "entry 3 at row 1, column 2 (counted from 1) is above the diagonal; expected only the lower");
    expect(Triangle::upper,
           "entry 2 at row 2, column 1 (counted from 1) is below the diagonal; expected only the upper");
}

TEST(Import, RejectsMirrorImagesThatDiffer) {
    auto const symmetric = [](Small& s) { s.view.symmetry = Symmetry::symmetric; };
    expect_rejected(
        Status::bad_input,
        "contradictory entries of a symmetric matrix: row 3, column 2 (counted from 1) is 7, but row 2, "
        "column 3 (counted from 1) is 2",
        [&](Small& s) {
            symmetric(s);
            s.values[4] = 7;
        });
    // A missing mirror image counts as zero; rounding errors are accepted.
    expect_rejected(Status::bad_input, "is 0, but", [&](Small& s) {
        symmetric(s);
        s.pointers = {1, 2, 5, 7};
        s.indices = {1, 1, 2, 3, 2, 3};
        s.values = {4, 1, 5, 2, 2, 6};
    });
    Small close;
    symmetric(close);
    close.values[4] = std::nextafter(2.0, 3.0);
    EXPECT_EQ(import_matrix(close.filled()).stored(), 5);
}

TEST(Import, RejectsADiagonalThatIsNotReal) {
    std::vector<int> const start{0, 1}, row{0};
    std::vector<std::complex<double>> values{{4, 1}};
    auto view = view_of(Layout::csc, 1, 1, start, row, values);
    view.symmetry = Symmetry::hermitian;
    for (Triangle const triangle : {Triangle::full, Triangle::lower, Triangle::upper}) {
        view.triangle = triangle;
        EXPECT_THROW(import_matrix(view), Error);
    }
    values[0] = {4, 1e-16}; // a rounding error
    EXPECT_EQ(import_matrix(view).values[0], std::complex<double>(4));
}

TEST(Import, RejectedValuesKeepTheOldValues) {
    Small small;
    MatrixImport<double> import(small.filled());
    auto values = small.values;
    values[3] = NAN;
    EXPECT_THROW(import.set_values(values), Error);
    values.pop_back();
    EXPECT_THROW(import.set_values(values), Error);
    EXPECT_EQ(import.matrix().values, small.values);
}

// Derivatives by the entries of a matrix that is given in full, by triangles, and with an entry in two parts.
TEST(Import, NumbersOfStoredEntriesReturnInTheOrderOfTheView) {
    using C = std::complex<double>;
    std::vector<int> const rows{1, 0, 1, 0, 1}, columns{1, 0, 0, 1, 1};
    std::vector<C> const values{2, 5, {1, 1}, {1, -1}, 1}; // [5 1-i; 1+i 3]
    auto view = view_of(Layout::coo, 2, 2, rows, columns, values);
    view.symmetry = Symmetry::hermitian;
    MatrixImport<C> const full(view);
    std::vector<C> const given{10, {20, 2}, 30};
    EXPECT_EQ(full.in_order_of_view(given), (std::vector<C>{30, 10, {20, 2}, {20, -2}, 30}));
    EXPECT_THROW((void)full.in_order_of_view(values), Error);
    std::vector<int> const upper_rows{0, 0, 1}, upper_columns{1, 0, 1};
    std::vector<C> const upper_values{{1, -1}, 5, 3};
    auto upper = view_of(Layout::coo, 2, 2, upper_rows, upper_columns, upper_values);
    upper.symmetry = Symmetry::hermitian;
    upper.triangle = Triangle::upper;
    EXPECT_EQ(MatrixImport<C>(upper).in_order_of_view(given), (std::vector<C>{{20, -2}, 10, 30}));
}

TEST(Import, MessagesUseThePositionsOfTheCaller) {
    std::vector<int> const rows{0, 0, 1}, columns{0, 1, 1};
    std::vector<double> const values{1, NAN, 1};
    auto view = view_of(Layout::coo, 2, 2, rows, columns, values);
    view.symmetry = Symmetry::symmetric;
    view.triangle = Triangle::upper;
    std::string message;
    EXPECT_EQ(status_of([&] { import_matrix(view); }, &message), Status::bad_input);
    EXPECT_EQ(message, "value 1 at row 0, column 1 (counted from 0) is NaN");
}

} // namespace
} // namespace espalier
