#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "espalier/types.hpp"
#include "io/atomic_file.hpp"

namespace espalier::command {

namespace fs = std::filesystem;

namespace {

bool name_same_file(std::string const& one, std::string const& other) {
    if (one == "-" || other == "-") return one == other;
    fs::path const first = behind_links(one), second = behind_links(other);
    std::error_code error;
    if (fs::is_character_file(first, error)) return false; // /dev/null takes anything
    if (fs::equivalent(first, second, error)) return true;
    return fs::weakly_canonical(fs::absolute(first, error), error) ==
           fs::weakly_canonical(fs::absolute(second, error), error);
}

void refuse_same_file(NamedPath const& one, NamedPath const& other) {
    if (one.path.empty() || other.path.empty() || !name_same_file(one.path, other.path)) return;
    throw Error(Status::usage, one.path == other.path
                                   ? fmt::format("{} and {} both name '{}'", one.what, other.what, one.path)
                                   : fmt::format("{} '{}' and {} '{}' are the same file", one.what, one.path,
                                                 other.what, other.path));
}

} // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    if (*this && !is_stdout()) AtomicFile::check(path_);
}

void OutputFile::write(std::function<void(std::string const& path)> const& writer) const {
    if (is_stdout()) check_stdout(); // what was printed before comes first
    writer(path_);
}

void OutputFile::write_text(std::string const& text) const {
    write([&text](std::string const& path) {
        AtomicFile file(path);
        file.write(text);
        file.commit();
    });
}

void refuse_same_files(std::vector<NamedPath> const& outputs, std::vector<NamedPath> const& inputs) {
    for (std::size_t one = 0; one < outputs.size(); ++one) {
        for (std::size_t other = one + 1; other < outputs.size(); ++other)
            refuse_same_file(outputs[one], outputs[other]);
        for (NamedPath const& input : inputs)
            if (input.path != "-") refuse_same_file(outputs[one], input);
    }
}

std::string why_unreadable(std::string const& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return std::generic_category().message(EISDIR);
    return access(path.c_str(), R_OK) == 0 ? "" : std::generic_category().message(errno);
}

void require_readable(std::vector<NamedPath> const& inputs) {
    for (NamedPath const& input : inputs) {
        if (input.path.empty() || input.path == "-") continue;
        if (std::string const reason = why_unreadable(input.path); !reason.empty())
            throw Error(Status::io_error,
                        fmt::format("{} '{}' cannot be read: {}", input.what, input.path, reason));
    }
}

void print(std::string const& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

void check_stdout() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    // Unknown when it was an earlier write that failed.
    std::string const reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
    throw Error(Status::io_error, fmt::format("cannot write to standard output{}", reason));
}

} // namespace espalier::command
