// POSIX files rather than streams: creation that fails when the name exists, and the system's own reason
// when something fails.
#include "io/atomic_file.hpp"

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <zlib.h>

#include "espalier/types.hpp"

namespace espalier {

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;

bool ends_with_gz(std::string const& path) {
    return path.size() > 3 && path.ends_with(".gz");
}

} // namespace

struct AtomicFile::Compressor {
    z_stream stream{};
    std::string output = std::string(buffer_size, '\0');

    Compressor() {
        int const gzip_header = 16, memory_level = 8;
        if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header, memory_level,
                         Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    Compressor(Compressor const&) = delete;
    Compressor& operator=(Compressor const&) = delete;
    ~Compressor() { deflateEnd(&stream); }
};

AtomicFile::AtomicFile(std::string const& path) : path_(path), target_(path) {
    if (ends_with_gz(path)) compressor_ = std::make_unique<Compressor>();
    buffer_.reserve(2 * buffer_size);
    if (path == "-") {
        fd_ = ::dup(STDOUT_FILENO);
        if (fd_ < 0) fail("cannot write");
        return;
    }
    std::error_code unresolved;
    if (std::filesystem::is_symlink(path, unresolved)) {
        auto const resolved = std::filesystem::weakly_canonical(path, unresolved);
        if (!unresolved) target_ = resolved.string();
    }
    struct stat status {};
    bool const exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        throw Error(Status::io_error, path_ + ": is a directory, cannot be written");
    if (exists && !S_ISREG(status.st_mode)) {
        fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd_ < 0) fail("cannot open for writing");
        return;
    }
    // Read-only is a wish of the file's owner that a rename would not notice.
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail("cannot write");
    for (int attempt = 0; fd_ < 0; ++attempt) {
        temporary_ = fmt::format("{}.{}-{}.tmp", target_, ::getpid(), attempt);
        fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd_ < 0 && (errno != EEXIST || attempt == 100)) {
            temporary_.clear();
            fail("cannot create");
        }
    }
    if (exists) (void)::fchmod(fd_, status.st_mode & 07777); // Keep the permissions of what is replaced.
}

AtomicFile::~AtomicFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(char const* what) const {
    std::string const reason = std::generic_category().message(errno);
    if (path_ == "-") throw Error(Status::io_error, "cannot write to standard output: " + reason);
    throw Error(Status::io_error, fmt::format("{}: {}: {}", path_, what, reason));
}

void AtomicFile::write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= buffer_size) drain(false);
}

void AtomicFile::drain(bool finish) {
    if (!compressor_) {
        write_bytes(buffer_.data(), buffer_.size());
        buffer_.clear();
        return;
    }
    auto& [stream, output] = *compressor_;
    stream.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream.avail_in = static_cast<uInt>(buffer_.size());
    do {
        stream.next_out = reinterpret_cast<Bytef*>(output.data());
        stream.avail_out = static_cast<uInt>(output.size());
        deflate(&stream, finish ? Z_FINISH : Z_NO_FLUSH);
        write_bytes(output.data(), output.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    buffer_.clear();
}

void AtomicFile::write_bytes(char const* data, std::size_t size) {
    while (size > 0) {
        auto const count = ::write(fd_, data, size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("cannot write");
        data += count;
        size -= static_cast<std::size_t>(count);
    }
}

void AtomicFile::commit() {
    drain(true);
    if (::close(std::exchange(fd_, -1)) != 0) fail("cannot write");
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot replace");
    temporary_.clear();
}

} // namespace espalier
