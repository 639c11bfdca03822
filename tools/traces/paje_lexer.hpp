// Splits the lines of a Paje file into the fields that the definitions at its head name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.hpp"

struct gzFile_s;

namespace espalier::trace {

/// The lines of a file, which may be compressed by gzip. A line has at most 16 MiB.
class LineReader {
  public:
    /// Error{io_error} names the file.
    explicit LineReader(std::string path);
    ~LineReader();
    LineReader(LineReader const&) = delete;
    LineReader& operator=(LineReader const&) = delete;

    /// The next line without its end, valid until the next call; false at the end of the file.
    bool next(std::string_view& line);
    /// Error{bad_input} "<file>:<line>: <what>" for the line read last.
    [[noreturn]] void fail(std::string const& what) const;

  private:
    bool refill();

    std::string path_;
    gzFile_s* file_;
    std::vector<char> buffer_;
    std::size_t at_ = 0; ///< The rest of the buffer: [at_, end_).
    std::size_t end_ = 0;
    std::int64_t line_number_ = 0;
};

/// The known events of the format.
enum class PajeEvent : std::uint8_t {
    define_container_type,
    define_state_type,
    define_variable_type,
    define_link_type,
    define_event_type,
    define_entity_value,
    create_container,
    destroy_container,
    set_state,
    push_state,
    pop_state,
    reset_state,
    set_variable,
    add_variable,
    sub_variable,
    start_link,
    end_link,
    new_event,
    other ///< An unknown event, which is skipped.
};

/// The known fields. Older names ("EntityType", "SourceContainer") are known, too.
enum class PajeField : std::uint8_t {
    time,
    type,
    container,
    value,
    key,
    alias,
    name,
    color,
    start_container,
    end_container,
    start_container_type,
    end_container_type,
    category,
    unit,
    task,
    cblk,
    level,
    continued,
    bytes,
    tag,
    distance,
    other
};

/// The fields of one line.
class PajeLine {
  public:
    PajeEvent event = PajeEvent::other;
    [[nodiscard]] bool has(PajeField field) const { return present_[int(field)]; }
    /// The text of the field, or "".
    [[nodiscard]] std::string_view operator[](PajeField field) const { return fields_[int(field)]; }

  private:
    friend class PajeLexer;
    static constexpr std::size_t count = int(PajeField::other) + 1;
    std::array<std::string_view, count> fields_;
    std::array<bool, count> present_{};
};

/// Reads the definitions, and splits the lines after them.
class PajeLexer {
  public:
    explicit PajeLexer(std::string const& path) : reader_(path) {}
    /// The next line that is an event; false at the end of the file.
    bool next(PajeLine& line);
    [[noreturn]] void fail(std::string const& what) const { reader_.fail(what); }
    /// Error{bad_input} names `what` if the text is not a number.
    [[nodiscard]] double real(std::string_view text, char const* what) const;
    [[nodiscard]] std::int64_t integer(std::string_view text, char const* what) const;
    /// A time in microseconds; up to three digits after the point are exact.
    [[nodiscard]] Nanoseconds time(std::string_view text) const;

  private:
    template <class Number> Number parse(std::string_view text, char const* what, char const* expected) const;
    struct Definition {
        PajeEvent event = PajeEvent::other;
        std::vector<PajeField> fields;
    };
    void define(std::string_view line);
    bool next_word(std::string_view& rest, std::string_view& word) const;

    LineReader reader_;
    std::unordered_map<std::int64_t, Definition> definitions_;
    Definition* open_ = nullptr; ///< The definition whose fields are being read.
};

} // namespace espalier::trace
