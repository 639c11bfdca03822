// Reads files through POSIX calls, whose errors state the reason of a failure.
//
// A growing buffer of characters that is not cleared and, if large, not copied when it grows. The text of a
// file passes through it once, and touching every page twice would cost as much as reading the file.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace espalier {

class TextBuffer {
  public:
    [[nodiscard]] std::string_view text() const { return {data_.get(), size_}; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Number of characters that fit after the text.
    [[nodiscard]] std::size_t room() const { return capacity_ - size_; }
    /// Position after the text. Write at most room() characters there, then call added().
    [[nodiscard]] char* tail() { return data_.get() + size_; }
    void added(std::size_t count) { size_ += count; }

    /// Allocates space for `capacity` characters in total. Throws std::bad_alloc and then keeps the text.
    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        auto* const grown = static_cast<char*>(std::realloc(data_.get(), capacity));
        if (!grown) throw std::bad_alloc();
        (void)data_.release();
        data_.reset(grown);
        capacity_ = capacity;
    }

  private:
    struct Free {
        void operator()(char* p) const { std::free(p); }
    };
    std::unique_ptr<char, Free> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

class InputFile {
  public:
    /// Opens the file. `path` must outlive the object. Throws Error{io_error}.
    explicit InputFile(std::string const& path);
    InputFile(InputFile const&) = delete;
    InputFile& operator=(InputFile const&) = delete;
    ~InputFile();

    /// Size in bytes; 0 for pipes and devices. Throws Error{io_error} for a directory.
    [[nodiscard]] std::size_t size() const;
    /// Reads the next bytes into the free space of the buffer; returns false at the end of the file. Throws
    /// Error{io_error}.
    bool read(TextBuffer& buffer) const;
    /// Reads from position `first` until the buffer is full; returns false if the file ends before. Throws
    /// Error{io_error}.
    bool read_from(std::size_t first, TextBuffer& buffer) const;

  private:
    std::string const& path_;
    int fd_;
};

} // namespace espalier
