// Helpers of the tests of readers and writers: dense matrices from text, error messages, temporary
// directories.
#pragma once

#include <complex>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/scalar.hpp"
#include "core/status_of.hpp"
#include "io/read.hpp"

namespace espalier::reading {

using Complex = std::complex<double>;
using Rows = std::vector<std::vector<Complex>>; // dense[i][j], both triangles.

/// A Matrix Market coordinate file.
inline std::string coordinate(std::string const& words, std::string const& body) {
    return "%%MatrixMarket matrix coordinate " + words + "\n" + body;
}

inline NamedMatrix parse(std::string const& text, int threads = 1) {
    return parse_matrix(text, "test.mtx", threads);
}

inline Symmetry symmetry_of(NamedMatrix const& named) {
    return std::visit([](auto const& matrix) { return matrix.symmetry; }, named.matrix);
}

inline Offset stored(NamedMatrix const& named) {
    return std::visit([](auto const& matrix) { return matrix.stored(); }, named.matrix);
}

inline bool is_complex_matrix(NamedMatrix const& named) {
    return named.matrix.index() == 1;
}

/// The dense matrix; checks the invariants.
inline Rows dense(NamedMatrix const& named) {
    auto const expand = []<class T>(CscMatrix<T> const& matrix) {
        matrix.validate();
        Rows full(matrix.rows, std::vector<Complex>(matrix.cols));
        for (Index j = 0; j < matrix.cols; ++j)
            for (Offset p = matrix.col_ptr[j]; p < matrix.col_ptr[j + 1]; ++p) {
                Index const i = matrix.row_ind[p];
                full[i][j] += matrix.values[p];
                if (matrix.symmetry == Symmetry::general || i == j) continue;
                full[j][i] += conj_if(matrix.symmetry == Symmetry::hermitian, matrix.values[p]);
            }
        return full;
    };
    return std::visit(expand, named.matrix);
}

inline bool has_note(NamedMatrix const& named, std::string const& part) {
    for (auto const& note : named.description.notes)
        if (note.find(part) != std::string::npos) return true;
    return false;
}

/// "status: message" of the Error that `action` throws; the test fails if it throws none.
template <class Action> std::string error_of(Action const& action) {
    std::string message;
    Status const status = status_of(action, &message);
    EXPECT_NE(status, Status::ok) << "no error was thrown";
    return std::string(to_string(status)) + ": " + message;
}

inline std::string parse_error(std::string const& text, int threads = 1) {
    return error_of([&] { parse(text, threads); });
}

/// A new directory that is removed with its contents.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::random_device random;
        path_ = std::filesystem::temp_directory_path() /
                ("espalier-test-" + std::to_string(random()) + std::to_string(random()));
        std::filesystem::create_directory(path_);
    }
    TemporaryDirectory(TemporaryDirectory const&) = delete;
    TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string file(std::string const& name) const { return (path_ / name).string(); }
    [[nodiscard]] std::string write(std::string const& name, std::string const& content) const {
        std::ofstream(file(name), std::ios::binary) << content;
        return file(name);
    }
    [[nodiscard]] std::size_t num_files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

  private:
    std::filesystem::path path_;
};

inline std::string content_of(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace espalier::reading
