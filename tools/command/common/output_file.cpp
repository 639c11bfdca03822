#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "espalier/types.hpp"
#include "interrupt.hpp"
#include "io/atomic_file.hpp"

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
    if (is_stdout()) return;
    std::error_code error;
    target_ = behind_links(path_);
    auto const kind = fs::status(target_, error).type();
    if (kind == fs::file_type::directory) fail(purpose(), std::make_error_code(std::errc::is_a_directory));
    bool const exists = kind != fs::file_type::not_found && kind != fs::file_type::none;
    if (exists && access(target_.c_str(), W_OK) != 0) fail(purpose(), {errno, std::generic_category()});
    direct_ = exists && kind != fs::file_type::regular;
    if (!direct_) WorkingDirectory const probe(folder(), purpose());
}

std::optional<OutputFile> OutputFile::if_named(std::string const& path) {
    return path.empty() ? std::nullopt : std::optional<OutputFile>(path);
}

fs::path OutputFile::folder() const {
    return target_.has_parent_path() ? target_.parent_path() : fs::path(".");
}

void OutputFile::write(std::function<void(std::string const& path)> const& writer) const {
    if (is_stdout()) {
        check_stdout(); // what was printed before comes first
        return writer(path_);
    }
    if (direct_) return call(writer, target_);
    WorkingDirectory const directory(folder(), purpose());
    fs::path const unfinished = directory.path() / target_.filename();
    call(writer, unfinished);
    std::error_code error;
    auto const replaced = fs::status(target_, error);
    if (fs::is_regular_file(replaced)) fs::permissions(unfinished, replaced.permissions(), error);
    fs::rename(unfinished, target_, error);
    if (error) fail(purpose(), error);
}

void OutputFile::call(std::function<void(std::string const& path)> const& writer,
                      fs::path const& file) const {
    try {
        writer(file.string());
    } catch (Error const& e) {
        std::string message = e.what();
        if (message.starts_with(file.string())) message.replace(0, file.string().size(), path_);
        throw Error(e.status(), message);
    }
}

void OutputFile::write_text(std::string const& text) const {
    write([&text](std::string const& path) {
        AtomicFile file(path);
        file.write(text);
        file.commit();
    });
}

void refuse_same_files(std::span<NamedPath const> outputs, std::span<NamedPath const> inputs) {
    for (std::size_t one = 0; one < outputs.size(); ++one) {
        for (std::size_t other = one + 1; other < outputs.size(); ++other)
            refuse_same_file(outputs[one], outputs[other]);
        for (NamedPath const& input : inputs)
            if (input.path != "-") refuse_same_file(outputs[one], input);
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
    throw Error(Status::io_error, "cannot write to standard output" + reason);
}

} // namespace espalier::command
