// Written files can be read back, and appear complete or not at all.
#include "io/write.hpp"

#include <limits>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/atomic_file.hpp"
#include "reading.hpp"

namespace espalier {
namespace {

using namespace reading;

template <class T> CscMatrix<T> lower_2x2(Symmetry symmetry, T a, T b, T c) {
    return {2, 2, symmetry, {0, 2, 3}, {0, 1, 1}, {a, b, c}};
}

NamedMatrix named(AnyMatrix matrix, std::string name = "sample") {
    NamedMatrix result{std::move(matrix), {}};
    result.description.name = std::move(name);
    return result;
}

TEST(WriteMatrix, SymmetricTextIsExact) {
    TemporaryDirectory const dir;
    write_matrix(dir.file("a.mtx"), named(lower_2x2<double>(Symmetry::symmetric, 4, -0.1, 1e300)));
    EXPECT_EQ(content_of(dir.file("a.mtx")),
              "%%MatrixMarket matrix coordinate real symmetric\n% sample\n2 2 3\n"
              "1 1 4\n2 1 -0.1\n2 2 1e+300\n");
}

TEST(WriteMatrix, EverySymmetryReadsBack) {
    TemporaryDirectory const dir;
    AnyMatrix const matrices[] = {
        lower_2x2<double>(Symmetry::general, 1.0 / 3, 2, 3),
        lower_2x2<double>(Symmetry::symmetric, 1.0 / 3, 2, 3),
        lower_2x2<Complex>(Symmetry::hermitian, 1, {2, 0.1}, 3),
        lower_2x2<Complex>(Symmetry::symmetric, {1, 1}, {2, 0.1}, 3),
        CscMatrix<double>{3, 1, Symmetry::general, {0, 1}, {2}, {std::numeric_limits<double>::denorm_min()}},
        CscMatrix<double>{}};
    for (auto const& matrix : matrices)
        for (auto const* name : {"a.mtx", "a.mtx.gz"}) {
            write_matrix(dir.file(name), named(matrix));
            auto const back = read_matrix(dir.file(name), 1);
            EXPECT_EQ(back.description.name, name);
            EXPECT_EQ(back.matrix.index(), matrix.index());
            EXPECT_EQ(symmetry_of(back), symmetry_of(named(matrix)));
            EXPECT_EQ(dense(back), dense(named(matrix)));
        }
    EXPECT_TRUE(content_of(dir.file("a.mtx.gz")).starts_with("\x1f\x8b"));
    EXPECT_EQ(dir.num_files(), 2u);
}

TEST(WriteMatrix, RealHermitianIsWrittenAsSymmetric) {
    TemporaryDirectory const dir;
    write_matrix(dir.file("a.mtx"), named(lower_2x2<double>(Symmetry::hermitian, 4, 2, 3)));
    EXPECT_EQ(symmetry_of(read_matrix(dir.file("a.mtx"), 1)), Symmetry::symmetric);
}

TEST(WriteMatrix, NamesWithLineEndsStayInTheirComment) {
    TemporaryDirectory const dir;
    auto const matrix = named(lower_2x2<double>(Symmetry::symmetric, 4, 2, 3), "two\nlines\r");
    write_matrix(dir.file("a.mtx"), matrix);
    EXPECT_EQ(dense(read_matrix(dir.file("a.mtx"), 1)), dense(matrix));
}

TEST(WriteDense, AllScalarsReadBack) {
    TemporaryDirectory const dir;
    write_dense(dir.file("d.mtx"), DenseMatrix<double>{2, 2, {0.1, -2, 3e-300, 4}});
    EXPECT_EQ(std::get<0>(read_dense(dir.file("d.mtx"), 1)).values,
              (std::vector<double>{0.1, -2, 3e-300, 4}));
    write_dense(dir.file("z.mtx"), DenseMatrix<Complex>{1, 2, {{0.1, 1}, {-2, 0}}});
    EXPECT_EQ(std::get<1>(read_dense(dir.file("z.mtx"), 1)).values,
              (std::vector<Complex>{{0.1, 1}, {-2, 0}}));
    write_dense(dir.file("s.mtx"), DenseMatrix<float>{1, 1, {0.1f}});
    EXPECT_EQ(content_of(dir.file("s.mtx")), "%%MatrixMarket matrix array real general\n1 1\n0.1\n");
    write_dense(dir.file("c.mtx"), DenseMatrix<std::complex<float>>{1, 1, {{0.1f, -2}}});
    EXPECT_EQ(content_of(dir.file("c.mtx")), "%%MatrixMarket matrix array complex general\n1 1\n0.1 -2\n");
}

TEST(WriteDense, LongFilesReadBackCompressedToo) {
    TemporaryDirectory const dir;
    DenseMatrix<double> x{100'000, 1, {}};
    for (Index i = 0; i < x.rows; ++i) x.values.push_back(1.0 / static_cast<double>(i + 1));
    for (auto const* name : {"x.mtx", "x.mtx.gz"}) {
        write_dense(dir.file(name), x);
        EXPECT_EQ(std::get<0>(read_dense(dir.file(name), 2)).values, x.values);
    }
}

// The compressor takes the number of bytes modulo 4 GiB. The text is one page of zeros, mapped again and
// again.
TEST(AtomicFile, OneWriteOfMoreThan4GiBIsCompressedWhole) {
#if defined(ESPALIER_SANITIZED)
    GTEST_SKIP() << "takes minutes";
#endif
    TemporaryDirectory const dir;
    constexpr std::size_t size = (std::size_t{4} << 30) + 5;
    void* const zeros = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(zeros, MAP_FAILED);
    AtomicFile file(dir.file("zeros.gz"));
    file.write({static_cast<char const*>(zeros), size});
    file.commit();
    ::munmap(zeros, size);
    EXPECT_GT(std::filesystem::file_size(dir.file("zeros.gz")), size / 1032)
        << "deflate compresses by 1032 at most";
}

TEST(WriteDense, ValuesThatAreNotFiniteAreRejected) {
    TemporaryDirectory const dir;
    auto const nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(error_of([&] { write_dense(dir.file("x.mtx"), DenseMatrix<double>{2, 1, {1, nan}}); }),
              "bad_input: " + dir.file("x.mtx") + ": not written because entry (2, 1) is not finite");
    EXPECT_EQ(dir.num_files(), 0u);
}

DenseMatrix<double> const one_value{1, 1, {7}};

TEST(AtomicFile, FailureLeavesTheOldFileAndNoTemporary) {
    TemporaryDirectory const dir;
    auto const path = dir.write("x.mtx", "old");
    auto const inf = std::numeric_limits<double>::infinity();
    EXPECT_THROW(write_dense(path, DenseMatrix<double>{1, 1, {inf}}), Error);
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(dir.num_files(), 1u);
    write_dense(path, one_value);
    EXPECT_EQ(std::get<0>(read_dense(path, 1)).values, one_value.values);
    EXPECT_EQ(dir.num_files(), 1u);
}

TEST(AtomicFile, UnwritablePathsAreIoErrorsThatNameThem) {
    TemporaryDirectory const dir;
    auto const expect = [](std::string const& path, std::string const& what) {
        EXPECT_EQ(error_of([&] { write_dense(path, one_value); }), "io_error: " + path + ": " + what);
    };
    expect(dir.file("missing/x.mtx"), "cannot create: No such file or directory");
    expect(dir.write("file", "text") + "/x.mtx", "cannot create: Not a directory");
    expect(dir.file(""), "this is a directory, not a file");
}

TEST(AtomicFile, ReadOnlyTargetsAreLeftAlone) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
    TemporaryDirectory const dir;
    auto const path = dir.write("x.mtx", "old");
    ::chmod(path.c_str(), 0444);
    EXPECT_EQ(error_of([&] { write_dense(path, one_value); }),
              "io_error: " + path + ": cannot write: Permission denied");
    EXPECT_EQ(content_of(path), "old");
}

TEST(AtomicFile, FullDiskIsAnIoError) {
    if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    EXPECT_EQ(error_of([&] { write_dense("/dev/full", one_value); }),
              "io_error: /dev/full: cannot write: No space left on device");
    EXPECT_EQ(::access("/dev/full", W_OK), 0);
}

// The rule of fs.protected_symlinks, which a rename to the end of the link would evade.
TEST(AtomicFile, LinksOfOthersInSharedDirectoriesAreRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can create links of others";
    TemporaryDirectory const dir;
    std::filesystem::create_symlink("target", dir.file("link"));
    ASSERT_EQ(::chmod(dir.file("").c_str(), 01777), 0);
    ASSERT_EQ(::lchown(dir.file("link").c_str(), 1234, 1234), 0);
    EXPECT_EQ(
        error_of([&] { write_dense(dir.file("link"), one_value); }),
        "io_error: " + dir.file("link") +
            ": is a symbolic link of another user in a directory that everybody can write; write to its "
            "target target instead if you trust it");
    EXPECT_FALSE(std::filesystem::exists(dir.file("target")));
    ASSERT_EQ(::lchown(dir.file("link").c_str(), 0, 0), 0); // a link of this user
    write_dense(dir.file("link"), one_value);
    EXPECT_TRUE(std::filesystem::exists(dir.file("target")));
}

TEST(AtomicFile, LinksAndPermissionsSurvive) {
    TemporaryDirectory const dir;
    auto const path = dir.write("x.mtx", "old");
    ::chmod(path.c_str(), 0640);
    std::filesystem::create_symlink("x.mtx", dir.file("link.mtx"));
    write_dense(dir.file("link.mtx"), one_value);
    EXPECT_TRUE(std::filesystem::is_symlink(dir.file("link.mtx")));
    EXPECT_EQ(std::get<0>(read_dense(path, 1)).values, one_value.values);
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640u);
}

} // namespace
} // namespace espalier
