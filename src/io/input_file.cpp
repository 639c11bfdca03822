#include "io/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier {

namespace {

constexpr std::size_t largest_read = std::size_t{1} << 30;

Error system_failure(std::string const& path, char const* what) {
    return Error(Status::io_error,
                 fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno)));
}

// Appends the bytes of one read_some(); returns false at the end of the file.
template <class Read> bool append(std::string const& path, TextBuffer& buffer, Read const& read_some) {
    while (true) {
        auto const count = read_some(buffer.tail(), std::min(buffer.room(), largest_read));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw system_failure(path, "cannot read");
        buffer.added(static_cast<std::size_t>(count));
        return count > 0;
    }
}

} // namespace

InputFile::InputFile(std::string const& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw system_failure(path_, "cannot open");
}

InputFile::~InputFile() {
    ::close(fd_);
}

std::size_t InputFile::size() const {
    struct stat status{};
    if (::fstat(fd_, &status) != 0) throw system_failure(path_, "cannot read");
    if (S_ISDIR(status.st_mode))
        throw Error(Status::io_error, fmt::format("{}: this is a directory, not a file", path_));
    return S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
}

bool InputFile::read(TextBuffer& buffer) const {
    return append(path_, buffer, [&](char* to, std::size_t count) { return ::read(fd_, to, count); });
}

bool InputFile::read_from(std::size_t first, TextBuffer& buffer) const {
    std::size_t const before = buffer.size();
    while (buffer.room() > 0) {
        std::size_t const position = first + buffer.size() - before;
        bool const more = append(path_, buffer, [&](char* to, std::size_t count) {
            return ::pread(fd_, to, count, static_cast<off_t>(position));
        });
        if (!more) return false;
    }
    return true;
}

} // namespace espalier
