#include "output_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "espalier/types.hpp"
#include "interrupt.hpp"
#include "matrix/atomic_file.hpp"

namespace espalier::command {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(std::string const& purpose, std::error_code const& reason) {
    throw Error(Status::io_error, purpose + ": " + reason.message());
}

// Where a file written to `path` ends up, whether it exists already or not.
fs::path behind_links(fs::path path) {
    std::error_code error;
    for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
        if (fs::is_other(fs::status(path, error))) break; // a device or a pipe needs no resolving
        path = path.parent_path() / fs::read_symlink(path, error);
    }
    return path;
}

void copy_to_stdout(fs::path const& from) {
    std::ifstream file(from, std::ios::binary);
    std::array<char, 1 << 16> buffer;
    while (file.read(buffer.data(), buffer.size()), file.gcount() > 0)
        if (std::fwrite(buffer.data(), 1, static_cast<std::size_t>(file.gcount()), stdout) == 0) break;
    check_stdout();
}

} // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    if (is_stdout()) return;
    std::error_code error;
    target_ = behind_links(path_);
    auto const kind = fs::status(target_, error).type();
    if (kind == fs::file_type::directory) fail(purpose(), std::make_error_code(std::errc::is_a_directory));
    bool const exists = kind != fs::file_type::not_found && kind != fs::file_type::none;
    if (exists && access(target_.c_str(), W_OK) != 0) fail(purpose(), {errno, std::generic_category()});
    direct_ = exists && kind != fs::file_type::regular;
    if (!direct_) WorkingDirectory const probe(working_directory(), purpose());
}

fs::path OutputFile::working_directory() const {
    fs::path const parent = is_stdout() ? fs::temp_directory_path() : target_.parent_path();
    return parent / fmt::format(".espalier-{}", getpid());
}

void OutputFile::write(std::function<void(std::string const& path)> const& writer) const {
    if (direct_) return writer(target_.string());
    WorkingDirectory const directory(working_directory(), purpose());
    fs::path const unfinished = directory.path() / (is_stdout() ? "stdout" : target_.filename());
    writer(unfinished.string());
    if (is_stdout()) return copy_to_stdout(unfinished);
    std::error_code error;
    auto const replaced = fs::status(target_, error);
    if (fs::is_regular_file(replaced)) fs::permissions(unfinished, replaced.permissions(), error);
    fs::rename(unfinished, target_, error);
    if (error) fail(purpose(), error);
}

void OutputFile::write_text(std::string const& text) const {
    write([&text](std::string const& path) {
        AtomicFile file(path);
        file.write(text);
        file.commit();
    });
}

void check_stdout() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    // Unknown when it was an earlier write that failed.
    std::string const reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
    throw Error(Status::io_error, "cannot write to standard output" + reason);
}

} // namespace espalier::command
