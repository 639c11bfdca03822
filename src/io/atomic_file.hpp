// A file that appears whole or not at all: it is written under a temporary name beside its target and renamed
// when it is complete. It is compressed if the name of the target ends in .gz.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace espalier {

class AtomicFile {
  public:
    /// Creates the temporary. A target that is a symbolic link is followed, so the link remains. A pipe, a
    /// device, or standard output ("-") is written directly. Error{io_error} that begins with `path`.
    explicit AtomicFile(std::string const& path);
    ~AtomicFile();
    AtomicFile(AtomicFile const&) = delete;
    AtomicFile& operator=(AtomicFile const&) = delete;

    /// Appends to a buffer. Error{io_error} if the disk is full or fails.
    void write(std::string_view text);

    /// Writes the rest and replaces the target. Error{io_error}; the target is then unchanged.
    void commit();

    /// Error{io_error} unless `path` can be written now. Leaves nothing behind.
    static void check(std::string const& path);

    /// Removes the temporaries of all files of this process, which is about to end: later calls of this class
    /// wait for ever. For the thread that handles signals.
    static void remove_unfinished();

  private:
    struct Compressor;
    void drain(bool finish);
    void write_bytes(char const* data, std::size_t size);
    [[noreturn]] void fail(char const* what) const;

    std::string path_; // The caller's spelling, for messages.
    std::string target_;
    std::string temporary_; // Empty if the target is written directly, and after commit().
    int fd_ = -1;
    std::string buffer_;
    std::unique_ptr<Compressor> compressor_;
};

/// The file that is created or replaced by writing to `path`: the end of a chain of symbolic links, whether
/// it exists or not. Error{io_error} for a link of another user in a directory like /tmp.
std::filesystem::path behind_links(std::filesystem::path path);

} // namespace espalier
