#include "io/write.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/one_line.hpp"
#include "core/scalar.hpp"
#include "io/atomic_file.hpp"

namespace espalier {

namespace {

// One line of numbers, separated by blanks.
class Line {
  public:
    template <class Number> void add(Number number) {
        if (end_ != text_) *end_++ = ' ';
        end_ = std::to_chars(end_, text_ + sizeof text_, number).ptr;
    }
    template <class T> void add_value(T value) {
        add(real_part(value));
        if constexpr (is_complex<T>) add(imag_part(value));
    }
    std::string_view finish() {
        *end_++ = '\n';
        return {text_, end_};
    }

  private:
    char text_[160]; // four numbers of at most 25 characters
    char* end_ = text_;
};

template <class T> char const* field_name() {
    return is_complex<T> ? "complex" : "real";
}

template <class T> void require_finite(std::string const& path, T value, Index i, Index j) {
    if (is_finite(value)) return;
    throw Error(Status::bad_input,
                fmt::format("{}: not written because entry ({}, {}) is not finite", path, i + 1, j + 1));
}

template <class T>
void write_coordinates(std::string const& path, CscMatrix<T> const& matrix, std::string const& name) {
    // The format has no real Hermitian matrices.
    auto const symmetry =
        matrix.symmetry == Symmetry::hermitian && !is_complex<T> ? Symmetry::symmetric : matrix.symmetry;
    AtomicFile file(path);
    file.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n", field_name<T>(), to_string(symmetry)));
    if (!name.empty()) file.write("% " + in_one_line(name) + "\n");
    file.write(fmt::format("{} {} {}\n", matrix.rows, matrix.cols, matrix.stored()));
    for (Index j = 0; j < matrix.cols; ++j)
        for (Offset p : matrix.entries_of(j)) {
            require_finite(path, matrix.values[p], matrix.row_ind[p], j);
            Line line;
            line.add(matrix.row_ind[p] + 1);
            line.add(j + 1);
            line.add_value(matrix.values[p]);
            file.write(line.finish());
        }
    file.commit();
}

} // namespace

void write_matrix(std::string const& path, NamedMatrix const& matrix) {
    std::visit([&](auto const& typed) { write_coordinates(path, typed, matrix.description.name); },
               matrix.matrix);
}

template <class T> void write_dense(std::string const& path, DenseMatrix<T> const& dense) {
    AtomicFile file(path);
    file.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field_name<T>(), dense.rows,
                           dense.cols));
    for (Index j = 0; j < dense.cols; ++j)
        for (Index i = 0; i < dense.rows; ++i) {
            require_finite(path, dense.column(j)[i], i, j);
            Line line;
            line.add_value(dense.column(j)[i]);
            file.write(line.finish());
        }
    file.commit();
}

ESPALIER_INSTANTIATE_FUNCTION(write_dense)

} // namespace espalier
