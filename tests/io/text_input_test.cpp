// Plain, compressed, damaged and missing files.
#include "io/text_input.hpp"

#include <thread>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "reading.hpp"

namespace espalier {
namespace {

using namespace reading;

std::string gzipped(std::string const& text) {
    TemporaryDirectory const dir;
    auto* const file = gzopen(dir.file("a.gz").c_str(), "wb9");
    EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), std::ssize(text));
    EXPECT_EQ(gzclose(file), Z_OK);
    return content_of(dir.file("a.gz"));
}

std::string load(std::string const& path) {
    return std::string(load_text(path).text());
}

std::string load_error(std::string const& path) {
    return error_of([&] { load(path); });
}

std::string const sample = "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 7\n";

TEST(TextInput, PlainAndCompressedFilesGiveTheSameText) {
    TemporaryDirectory const dir;
    EXPECT_EQ(load(dir.write("plain.gz", sample)), sample); // The content decides, not the name.
    EXPECT_EQ(load(dir.write("zipped.mtx", gzipped(sample))), sample);
}

TEST(TextInput, MembersOfAGzipFileAreJoined) {
    TemporaryDirectory const dir;
    auto const members =
        gzipped(sample.substr(0, 20)) + gzipped("") + gzipped(sample.substr(20)) + std::string(100, '\0');
    EXPECT_EQ(load(dir.write("a.gz", members)), sample);
}

TEST(TextInput, BuffersGrowAsNeeded) {
    TemporaryDirectory const dir;
    std::string large = sample;
    while (large.size() < 3'000'000) large += "% a comment that is repeated\n";
    EXPECT_EQ(load(dir.write("a.mtx", large)), large);
    EXPECT_EQ(load(dir.write("a.gz", gzipped(large))), large);
}

TEST(TextInput, PipesAreRead) {
    TemporaryDirectory const dir;
    auto const path = dir.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path) << sample; });
    EXPECT_EQ(load(path), sample);
    writer.join();
}

TEST(TextInput, EveryTruncationOfAGzipFileIsAnError) {
    TemporaryDirectory const dir;
    auto const whole = gzipped(sample);
    for (std::size_t size = 2; size < whole.size(); ++size) {
        auto const path = dir.write("a.gz", whole.substr(0, size));
        EXPECT_EQ(load_error(path), "bad_input: " + path + ": truncated gzip data: it ends after " +
                                        std::to_string(size) + " bytes");
    }
}

TEST(TextInput, CorruptGzipIsAnError) {
    TemporaryDirectory const dir;
    auto const whole = gzipped(sample);
    for (std::size_t k = 12; k < whole.size(); ++k) {
        auto damaged = whole;
        damaged[k] = static_cast<char>(damaged[k] ^ 0x55);
        auto const message = load_error(dir.write("a.gz", damaged));
        EXPECT_NE(message.find("gzip data"), std::string::npos) << message;
    }
    auto const path = dir.write("a.gz", whole + "tail");
    EXPECT_EQ(load_error(path), "bad_input: " + path + ": 4 bytes of other data follow the gzip data");
}

TEST(TextInput, FilesThatAreNotTextAreNamed) {
    TemporaryDirectory const dir;
    auto const expect = [](std::string const& path, std::string const& status, std::string const& what) {
        EXPECT_EQ(load_error(path), status + ": " + path + ": " + what);
    };
    expect(dir.file("missing.mtx"), "io_error", "cannot open: No such file or directory");
    expect(dir.file(""), "io_error", "this is a directory, not a file");
    expect(dir.write("empty.mtx", ""), "bad_input", "the file is empty");
    expect(dir.write("empty.gz", gzipped("")), "bad_input", "the file is empty");
    expect(dir.write("binary.mtx", std::string("ab\0c", 4)), "bad_input",
           "binary data, not a matrix file (byte 0x00 at offset 2)");
    expect(dir.write("a.bz2", "BZh91AY&SY"), "bad_input",
           "not a matrix file but bzip2 data; decompress it or use gzip");
    std::string tar(1024, '\0');
    tar.replace(257, 5, "ustar");
    expect(dir.write("a.tar.gz", gzipped(tar)), "bad_input",
           "not a matrix file but a tar archive; extract the matrix first");
}

TEST(TextInput, EndlessDevicesAreRejected) {
    if (::access("/dev/zero", R_OK) != 0) GTEST_SKIP() << "no /dev/zero here";
    EXPECT_EQ(load_error("/dev/zero"),
              "bad_input: /dev/zero: binary data, not a matrix file (byte 0x00 at offset 0)");
}

TEST(TextInput, FilesWithoutPermissionAreIoErrors) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
    TemporaryDirectory const dir;
    auto const path = dir.write("a.mtx", sample);
    ::chmod(path.c_str(), 0000);
    EXPECT_EQ(load_error(path), "io_error: " + path + ": cannot open: Permission denied");
}

TEST(ReadMatrix, NameIsWithoutDirectories) {
    TemporaryDirectory const dir;
    auto const m = read_matrix(dir.write("small.mtx.gz", gzipped(sample)), 0);
    EXPECT_EQ(m.description.name, "small.mtx.gz");
    EXPECT_EQ(dense(m), (Rows{{0, 7}}));
}

TEST(ReadMatrix, ErrorsBeginWithThePath) {
    TemporaryDirectory const dir;
    auto const path = dir.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 3 7\n");
    EXPECT_EQ(error_of([&] { read_matrix(path, 1); }),
              "bad_input: " + path + ":3: column index 3 is outside 1 .. 2");
}

} // namespace
} // namespace espalier
