// Files read by several processes, which are threads of the test, and by one process: bits, notes and errors
// are the same.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include <sys/stat.h>

#include <fmt/format.h>

#include "distributed/read_parts.hpp"
#include "distributed/shares.hpp"
#include "espalier/distributed.hpp"

#include "comm/thread_processes.hpp"
#include "io/reading.hpp"
#include "io/write.hpp"

namespace espalier {
namespace {

using reading::TemporaryDirectory;

// The result of reading: the matrix or vectors, or "status: message".
template <class Thing> struct Result {
    std::optional<Thing> thing;
    std::string error;
};

template <class Read> auto result_of(Read const& read) -> Result<decltype(read())> {
    try {
        return {read(), ""};
    } catch (Error const& error) {
        return {std::nullopt, std::string(to_string(error.status())) + ": " + error.what()};
    }
}

template <class T> bool same_bits(std::vector<T> const& a, std::span<T const> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), b.size_bytes()) == 0);
}

template <class T> void expect_columns(CscMatrix<T> const& part, CscMatrix<T> const& whole, Index first) {
    ASSERT_EQ(part.rows, whole.rows);
    ASSERT_EQ(part.symmetry, whole.symmetry);
    ASSERT_EQ(part.col_ptr.size(), static_cast<std::size_t>(part.cols) + 1);
    auto const begin = static_cast<std::size_t>(whole.col_ptr[first]);
    for (Index j = 0; j <= part.cols; ++j)
        ASSERT_EQ(part.col_ptr[j], whole.col_ptr[first + j] - whole.col_ptr[first]);
    auto const count = static_cast<std::size_t>(part.stored());
    EXPECT_TRUE(same_bits(part.row_ind, std::span(whole.row_ind).subspan(begin, count)));
    EXPECT_TRUE(same_bits(part.values, std::span(whole.values).subspan(begin, count)));
}

void expect_same_matrix(std::string const& path, int processes) {
    auto const alone = result_of([&] { return read_matrix(path, 1); });
    run_processes(processes, [&](Communicator const& comm) {
        SCOPED_TRACE(fmt::format("{} process {} of {}", path, comm.rank(), processes));
        auto const together = result_of([&] { return read_matrix_parts(comm, path, 1); });
        ASSERT_EQ(together.error, alone.error);
        if (!alone.thing) return;
        auto const& [matrix, description] = *together.thing;
        auto const& expected = alone.thing->description;
        EXPECT_EQ(description.name, expected.name);
        EXPECT_EQ(description.format, expected.format);
        EXPECT_EQ(description.declared, expected.declared);
        EXPECT_EQ(description.entries_in_file, expected.entries_in_file);
        EXPECT_EQ(description.duplicates_summed, expected.duplicates_summed);
        EXPECT_EQ(description.notes, expected.notes);
        ASSERT_EQ(matrix.index(), alone.thing->matrix.index());
        std::visit(
            [&, &part_of_all = matrix]<class T>(CscMatrix<T> const& whole) {
                Shares const columns(whole.cols, processes);
                auto const& part = std::get<CscMatrix<T>>(part_of_all);
                EXPECT_EQ(part.cols, columns.size(comm.rank()));
                expect_columns(part, whole, columns.first(comm.rank()));
            },
            alone.thing->matrix);
    });
}

void expect_same_rows(std::string const& path, int processes) {
    auto const alone = result_of([&] { return read_dense(path, 1); });
    run_processes(processes, [&](Communicator const& comm) {
        SCOPED_TRACE(fmt::format("{} process {} of {}", path, comm.rank(), processes));
        auto const together = result_of([&] { return read_dense_parts(comm, path, 1); });
        ASSERT_EQ(together.error, alone.error);
        if (!alone.thing) return;
        ASSERT_EQ(together.thing->index(), alone.thing->index());
        std::visit(
            [&]<class T>(DenseMatrix<T> const& whole) {
                auto const& part = std::get<DenseMatrix<T>>(*together.thing);
                Shares const rows(whole.rows, processes);
                ASSERT_EQ(part.rows, rows.size(comm.rank()));
                ASSERT_EQ(part.cols, whole.cols);
                for (Index j = 0; j < part.cols; ++j) {
                    std::vector<T> const column(part.column(j), part.column(j) + part.rows);
                    EXPECT_TRUE(same_bits(column, std::span(whole.column(j) + rows.first(comm.rank()),
                                                            static_cast<std::size_t>(part.rows))));
                }
            },
            *alone.thing);
    });
}

std::string const banner = "%%MatrixMarket matrix coordinate real ";

TEST(ReadParts, SharesCoverAll) {
    for (Index const count : {0, 1, 5, 12})
        for (int const parts : {1, 3, 7}) {
            Shares const shares(count, parts);
            EXPECT_EQ(shares.first(0), 0);
            EXPECT_EQ(shares.first(parts), count);
            for (int part = 0; part < parts; ++part)
                for (Index k = shares.first(part); k < shares.first(part + 1); ++k)
                    EXPECT_EQ(shares.owner(k), part);
        }
}

TEST(ReadParts, FilesOfTheProjectAreReadAlike) {
    auto const folder = std::filesystem::path(__FILE__).parent_path() / "../../matrices";
    int files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".mtx") continue;
        ++files;
        for (int const processes : {1, 2, 3, 5}) expect_same_matrix(entry.path().string(), processes);
        expect_same_rows(entry.path().string(), 3);
    }
    EXPECT_GT(files, 10);
}

TEST(ReadParts, SymmetryIsFoundAndFoldedAcrossProcesses) {
    TemporaryDirectory const folder;
    std::string const square = "4 4 6\n", diagonal = "1 1 2\n2 2 2\n3 3 2\n4 4 2\n";
    std::string const z = "%%MatrixMarket matrix coordinate complex ";
    std::string const texts[] = {
        banner + "general\n" + square + diagonal + "4 1 -1\n1 4 -1\n",   // symmetric
        banner + "general\n" + square + diagonal + "4 1 -1\n1 4 -1.5\n", // not in its values
        banner + "general\n" + square + diagonal + "4 1 -1\n1 3 -1\n",   // nor in its pattern
        banner + "general\n" + square + diagonal + "4 1 0\n1 4 -0.\n",   // zeros are equal
        banner + "general\n4 4 4\n" + diagonal,
        banner + "general\n4 3 2\n4 1 1\n1 3 2\n",
        banner + "symmetric\n" + square + diagonal + "1 4 -1\n2 4 3\n",  // the upper triangle
        banner + "symmetric\n" + square + diagonal + "4 1 -1\n1 4 -1\n", // both
        banner + "symmetric\n" + square + diagonal + "4 1 -1\n2 3 -1\n", // either
        banner + "symmetric\n" + square + diagonal + "4 1 -1\n1 4 -2\n", // contradictory
        banner + "symmetric\n4 3 1\n1 1 1\n",
        banner + "symmetric\n" + square + diagonal + "4 1 1e308\n4 1 1e308\n", // overflow of a sum
        banner + "general\n4 4 6\n4 4 .1\n1 1 .7\n4 4 .2\n1 1 .1\n4 4 .3\n1 1 -.8\n",
        banner + "skew-symmetric\n4 4 3\n4 1 -1\n2 3 5\n4 3 2\n",
        banner + "skew-symmetric\n4 4 3\n4 1 -1\n2 3 5\n4 4 2\n",     // a diagonal that is not zero
        z + "general\n4 4 4\n1 1 2 0\n4 1 1 1\n1 4 1 -1\n3 3 -0 0\n", // Hermitian
        z + "general\n4 4 4\n1 1 2 1\n4 1 1 1\n1 4 1 -1\n3 3 0 0\n",  // but for the diagonal
        z + "general\n4 4 4\n1 1 2 1\n4 1 1 1\n1 4 1 1\n3 3 0 0\n",   // symmetric
        z + "hermitian\n4 4 3\n1 1 2 0\n1 4 1 -1\n3 2 0 4\n",
        z + "hermitian\n4 4 3\n1 1 2 0\n1 4 1 -1\n3 3 0 4\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n",
        "%%MatrixMarket matrix coordinate integer general\n3 3 2\n3 1 7\n2 2 -3\n",
    };
    for (auto const& text : texts) {
        auto const path = folder.write("a.mtx", text);
        SCOPED_TRACE(text);
        for (int const processes : {2, 4}) expect_same_matrix(path, processes);
    }
}

TEST(ReadParts, LinesAreCutAnywhere) {
    TemporaryDirectory const folder;
    std::string const head = banner + "general\r\n% a comment\r\n\r\n3 3 4\r\n";
    std::string const texts[] = {
        head + "1 1 1\r\n2 2 2\r\n3 3 3\r\n3 1 4\r\n",
        head + "1 1 1\r\n2 2 2\r\n3 3 3\r\n3 1 4", // no line feed at the end
        head + "1 1 1\n\n\n% in between\n2 2 2\n \t\n3 3 3\n3 1 4\n\n\n%\n",
        head + "% " + std::string(300, 'x') + "\n1 1 1\n2 2 2\n3 3 3\n3 1 4", // one line for many processes
        head + "1 1 1\n2 2 2\n3 3 3\n3 1 4 " + std::string(300, ' ') + "\n",
        head,
        head + "1 1 1\n2 2 2\n",
        head + "1 1 1\n2 2 2\n3 3 3\n3 1 4\n% more\n2 1 0\n1 2 0\n",
        head + "1 1 1\n2 2 2\n3 4 3\n3 1 4\n",
        head + "1 1 1\n2 2 2\n3 3 3\n0 1 4\n",
        head + "1 1 1\n2 2 nan\n3 3 x\n3 1 4\n",
        head + "1 1 1\n2 2 1e999\n3 3 3\n3 1 4 5\n",
        head + "1 1 1\n2 2\n3 3 3\n3 1 4\n",
        head + "\x01 1 1\n",
        head.substr(0, 60),
        banner + "general\n3 3 0\n",
        banner + "general\n0 0 0\n",
        "",
        "no matrix\n",
        " " + head,
        banner + "general\n3 3 400\n1 1 1\n",
        banner + "general\n3000000 3000000 1\n1 1 1\n",
        banner + "general\n-3 3 1\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n1 1\n1\n",
        "%%MatrixMarket matrix array real symmetric\n3 3\n1\n0\n2\n3\n0\n5\n",
        "\xEF\xBB\xBF" + head + "1 1 1\n2 2 2\n3 3 3\n3 1 4\n",
        head + "% " + std::string(70000, '-') + "\n1 1 1\n2 2 2\n3 3 3\n3 1 4\n",
        banner + "general\n%" + std::string(300000, '-') + "\n2 2 1\n2 1 1\n",
    };
    for (auto const& text : texts) {
        auto const path = folder.write("a.mtx", text);
        SCOPED_TRACE(text.substr(0, 200));
        for (int const processes : {1, 2, 3, 5, 40}) expect_same_matrix(path, processes);
    }
    expect_same_matrix(folder.file("nowhere.mtx"), 3);
    expect_same_matrix(folder.file(""), 3);
}

// Small files with faults anywhere.
TEST(ReadParts, DamagedFilesAreRefusedWithTheSameMessages) {
    TemporaryDirectory const folder;
    std::mt19937 random(7);
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    std::string const kinds[] = {"general", "symmetric", "skew-symmetric"};
    int faults = 0;
    for (int round = 0; round < 150; ++round) {
        int const n = 1 + static_cast<int>(below(6)), entries = static_cast<int>(below(12));
        std::string text = banner + kinds[below(3)] + fmt::format("\n{} {} {}\n", n, n, entries);
        for (int k = 0; k < entries; ++k) {
            auto const row = 1 + below(n), col = 1 + below(n);
            text += fmt::format("{} {} {}\n", row, col, row == col ? 0 : below(3));
        }
        std::size_t const body = text.size() / 2;
        if (round % 2 == 1) text[body + below(text.size() - body)] = "\n 19x.%-"[below(8)];
        auto const path = folder.write("a.mtx", text);
        SCOPED_TRACE(text);
        expect_same_matrix(path, 2 + round % 3);
        faults += !result_of([&] { return read_matrix(path, 1); }).error.empty();
        if (HasFailure()) return;
    }
    EXPECT_GT(faults, 25);
    EXPECT_LT(faults, 125);
}

TEST(ReadParts, RightHandSidesAreReadByRows) {
    TemporaryDirectory const folder;
    std::string const array = "%%MatrixMarket matrix array real general\n";
    std::string numbers;
    for (int k = 0; k < 21; ++k) numbers += fmt::format("{}\n", k * 0.1 - 1);
    std::string const texts[] = {array + "7 3\n" + numbers,
                                 array + "21 1\n" + numbers,
                                 array + "1 21\n" + numbers,
                                 array + "7 4\n" + numbers,
                                 array + "7 2\n" + numbers,
                                 array + "0 3\n",
                                 array + "3 0\n",
                                 array + "7 3\n" + numbers.substr(0, 60) + "inf\n" + numbers.substr(64),
                                 "%%MatrixMarket matrix array complex general\n2 2\n1 2\n3 4\n5 6\n7 8\n",
                                 "%%MatrixMarket matrix array real symmetric\n2 2\n1\n3\n5\n",
                                 banner + "general\n9 2 4\n9 1 .1\n9 1 .2\n1 2 7\n9 1 -.3\n",
                                 banner + "general\n9 2 3\n9 1 1e308\n1 2 7\n9 1 1e308\n",
                                 banner + "general\n9000000 9000000 1\n9 1 1e308\n",
                                 array + "1000000 1000000\n1\n"};
    for (auto const& text : texts) {
        auto const path = folder.write("b.mtx", text);
        SCOPED_TRACE(text);
        for (int const processes : {2, 3, 5}) expect_same_rows(path, processes);
    }
}

TEST(ReadParts, OtherFormatsAreDistributed) {
    TemporaryDirectory const folder;
    std::string const harwell_boeing =
        fmt::format("{:72}{:8}\n", "a title", "key") +
        "             3             1             1             1\n" +
        "rua                        3             3             4             0\n" +
        fmt::format("{:16}{:16}{:20}\n", "(4i5)", "(4i5)", "(4f5.1)") + "    1    3    4    5\n" +
        "    1    3    2    3\n" + "  1.0  4.0  2.0  3.0\n";
    expect_same_matrix(folder.write("a.rua", harwell_boeing), 4);
    write_matrix(folder.file("a.mtx.gz"), read_matrix(folder.file("a.rua"), 1));
    expect_same_matrix(folder.file("a.mtx.gz"), 3);
    expect_same_rows(folder.file("a.mtx.gz"), 3);
    EXPECT_EQ(result_of([&] { return read_matrix(folder.file("a.rua"), 1); }).error, "");
}

// This is more than the buffer of a pipe. Opening it twice would end its writer.
TEST(ReadParts, APipeIsOpenedOnce) {
    TemporaryDirectory const folder;
    auto const path = folder.file("pipe.mtx");
    std::string const text =
        banner + "general\n%" + std::string(300000, '-') + "\n3 3 3\n1 1 1\n2 2 2\n3 3 3\n";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path) << text; });
    run_processes(2, [&](Communicator const& comm) {
        auto const columns = read_columns<double>(comm, path, 1);
        EXPECT_EQ(columns.stored(), 2 - comm.rank());
    });
    writer.join();
}

TEST(ReadParts, AFileThatOnlySomeProcessesHaveIsOneErrorThatNamesTheProcess) {
    TemporaryDirectory const folder;
    std::string const text = banner + "general\n3 3 3\n1 1 1\n2 2 2\n3 3 3\n";
    (void)folder.write("here.mtx", text);
    (void)folder.write("longer.mtx", text + "\n");
    for (std::string const other : {"nowhere.mtx", "longer.mtx"})
        run_processes(3, [&](Communicator const& comm) {
            auto const path = folder.file(comm.rank() == 2 ? other : "here.mtx");
            auto const error = result_of([&] { return read_matrix_parts(comm, path, 1); }).error;
            EXPECT_EQ(error.find("io_error: process 2: " + folder.file(other)), 0U) << error;
        });
}

TEST(ReadParts, NumbersAreInTheScalarsOfTheCaller) {
    TemporaryDirectory const folder;
    auto const real = folder.write("r.mtx", banner + "general\n3 3 3\n1 1 1\n2 3 2\n3 3 1e300\n");
    auto const complex =
        folder.write("z.mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 2\n1 1 1 1\n2 3 2 0\n");
    run_processes(2, [&](Communicator const& comm) {
        auto const part = read_columns<std::complex<double>>(comm, real, 1);
        EXPECT_EQ(part.stored(), comm.rank() == 0 ? 1 : 2);
        EXPECT_EQ(read_rows<double>(comm, real, 1).rows, 2 - comm.rank());
        EXPECT_EQ(result_of([&] { return read_columns<float>(comm, real, 1); }).error,
                  "bad_input: " + real +
                      ": the file has a value in row 3, column 3 that is too large for single precision");
        EXPECT_EQ(result_of([&] { return read_columns<double>(comm, complex, 1); }).error,
                  "usage: " + complex +
                      ": the numbers in the file are complex; read them with a complex scalar type");
    });
}

} // namespace
} // namespace espalier
