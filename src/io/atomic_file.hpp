// A file that appears whole or not at all: written under a temporary name beside its target, renamed when
// it is complete. Compressed when the target's name ends in .gz.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace espalier {

class AtomicFile {
  public:
    /// Creates the temporary; a target that is a symbolic link is followed, so that the link remains. A
    /// target that exists and is no regular file (a pipe, a device) is written directly, and so is standard
    /// output, which "-" names.
    /// Error{io_error} naming `path`.
    explicit AtomicFile(std::string const& path);
    /// Removes the temporary when commit() was not reached.
    ~AtomicFile();
    AtomicFile(AtomicFile const&) = delete;
    AtomicFile& operator=(AtomicFile const&) = delete;

    /// Appends; buffered. Error{io_error} when the disk is full or fails.
    void write(std::string_view text);

    /// Everything is on its way to the disk and the target is replaced. Error{io_error}; the target is then
    /// as it was.
    void commit();

  private:
    struct Compressor;
    void drain(bool finish);
    void write_bytes(char const* data, std::size_t size);
    [[noreturn]] void fail(char const* what) const;

    std::string path_; // As the caller spelled it, for messages.
    std::string target_;
    std::string temporary_; // Empty when the target is written directly, or after commit().
    int fd_ = -1;
    std::string buffer_;
    std::unique_ptr<Compressor> compressor_;
};

} // namespace espalier
