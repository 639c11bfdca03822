// POSIX files rather than streams: creation that fails if the name exists, and the system's reason for every
// failure.
#include "io/atomic_file.hpp"

#include <cerrno>
#include <mutex>
#include <new>
#include <set>
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

// The temporaries of this process. A temporary is created, renamed and removed with the lock held.
struct Unfinished {
    std::mutex mutex;
    std::set<std::string> names;
};
Unfinished& unfinished() {
    static auto* const all = new Unfinished; // never destroyed: a signal may come at exit
    return *all;
}

} // namespace

// Linux refuses to open a file behind a symbolic link of another user in a directory like /tmp, where
// everybody can create links (fs.protected_symlinks). A rename to the end of the link would evade this rule.
static void refuse_planted_link(std::filesystem::path const& link) {
    std::filesystem::path const folder = link.has_parent_path() ? link.parent_path() : ".";
    struct stat of_link{}, of_folder{};
    if (::lstat(link.c_str(), &of_link) != 0 || ::stat(folder.c_str(), &of_folder) != 0) return;
    mode_t const shared = S_ISVTX | S_IWOTH;
    if ((of_folder.st_mode & shared) != shared || of_link.st_uid == ::geteuid() ||
        of_link.st_uid == of_folder.st_uid)
        return;
    throw Error(Status::io_error,
                fmt::format("{}: is a symbolic link of another user in a directory that everybody can write; "
                            "write to its target {} instead if you trust it",
                            link.string(), std::filesystem::read_symlink(link).string()));
}

std::filesystem::path behind_links(std::filesystem::path path) {
    namespace fs = std::filesystem;
    std::error_code error;
    for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
        if (fs::is_other(fs::status(path, error))) break; // a device or a pipe needs no resolving
        refuse_planted_link(path);
        path = path.parent_path() / fs::read_symlink(path, error);
    }
    return path;
}

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
    target_ = behind_links(path).string();
    struct stat status{};
    bool const exists = ::stat(target_.c_str(), &status) == 0;
    if (!exists && errno == ELOOP) fail("cannot write"); // a rename would replace a link of the loop
    if (exists && S_ISDIR(status.st_mode))
        throw Error(Status::io_error, fmt::format("{}: this is a directory, not a file", path_));
    if (exists && !S_ISREG(status.st_mode)) {
        fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd_ < 0) fail("cannot open for writing");
        return;
    }
    // A rename would replace a file that its owner has made read-only.
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail("cannot write");
    std::lock_guard const lock(unfinished().mutex);
    for (int attempt = 0; fd_ < 0; ++attempt) {
        temporary_ = fmt::format("{}.{}-{}.tmp", target_, ::getpid(), attempt);
        auto const name = unfinished().names.insert(temporary_).first; // may throw, so before the file exists
        fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd_ >= 0) break;
        int const reason = errno;
        unfinished().names.erase(name);
        errno = reason;
        if (errno != EEXIST || attempt == 100) {
            temporary_.clear();
            fail("cannot create");
        }
    }
    if (exists) (void)::fchmod(fd_, status.st_mode & 07777); // Keep the permissions of what is replaced.
}

AtomicFile::~AtomicFile() {
    if (fd_ >= 0) ::close(fd_);
    if (temporary_.empty()) return;
    std::lock_guard const lock(unfinished().mutex);
    ::unlink(temporary_.c_str());
    unfinished().names.erase(temporary_);
}

void AtomicFile::check(std::string const& path) {
    struct stat status{};
    bool const exists = path != "-" && ::stat(path.c_str(), &status) == 0;
    bool const direct = exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    if (direct && ::access(path.c_str(), W_OK) == 0) return; // opening a pipe would wait for its reader
    AtomicFile const probe(path);
}

void AtomicFile::remove_unfinished() {
    unfinished().mutex.lock(); // for ever: the process is about to end
    for (std::string const& name : unfinished().names) ::unlink(name.c_str());
}

void AtomicFile::fail(char const* what) const {
    std::string const reason = std::generic_category().message(errno);
    if (path_ == "-")
        throw Error(Status::io_error, fmt::format("cannot write to standard output: {}", reason));
    throw Error(Status::io_error, fmt::format("{}: {}: {}", path_, what, reason));
}

void AtomicFile::write(std::string_view text) {
    while (!text.empty()) { // The compressor takes less than 4 GiB at once.
        std::string_view const piece = text.substr(0, buffer_size);
        text.remove_prefix(piece.size());
        buffer_.append(piece);
        if (buffer_.size() >= buffer_size) drain(false);
    }
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
    std::lock_guard const lock(unfinished().mutex);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot replace");
    unfinished().names.erase(temporary_);
    temporary_.clear();
}

} // namespace espalier
