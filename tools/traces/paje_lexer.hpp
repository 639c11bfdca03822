// The lines of a Pajé file, and the definitions at its head: what a line's fields mean.
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

/// Lines of a file, plain or compressed by gzip, of any length up to 16 MiB.
class LineReader {
  public:
    /// Error{io_error} naming the file.
    explicit LineReader(std::string path);
    ~LineReader();
    LineReader(LineReader const&) = delete;
    LineReader& operator=(LineReader const&) = delete;

    /// The next line without its end, valid until the next call; false at the end of the file.
    bool next(std::string_view& line);
    /// Error{bad_input} "<file>:<line>: <what>" of the line read last.
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

/// The events that are understood, by their names in the format.
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
    other ///< Passed over.
};

/// The fields that are understood. Older spellings mean the same ("EntityType", "SourceContainer").
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

/// One line, taken apart.
class PajeLine {
  public:
    PajeEvent event = PajeEvent::other;
    [[nodiscard]] bool has(PajeField field) const { return present_[static_cast<std::size_t>(field)]; }
    /// "" when the line has no such field.
    [[nodiscard]] std::string_view operator[](PajeField field) const {
        return fields_[static_cast<std::size_t>(field)];
    }

  private:
    friend class PajeLexer;
    static constexpr std::size_t count = static_cast<std::size_t>(PajeField::other) + 1;
    std::array<std::string_view, count> fields_;
    std::array<bool, count> present_{};
};

/// Reads definitions and takes the lines after them apart.
class PajeLexer {
  public:
    explicit PajeLexer(std::string const& path) : reader_(path) {}
    /// The next line that is an event; false at the end of the file.
    bool next(PajeLine& line);
    [[noreturn]] void fail(std::string const& what) const { reader_.fail(what); }
    /// Of the whole, which may have an exponent; Error{bad_input} naming `what` when it is none.
    [[nodiscard]] double real(std::string_view text, char const* what) const;
    [[nodiscard]] std::int64_t integer(std::string_view text, char const* what) const;
    /// A time in units of `nanoseconds_per_unit`, exact to the nanosecond for whole thousands.
    [[nodiscard]] Nanoseconds time(std::string_view text, double nanoseconds_per_unit) const;

  private:
    struct Definition {
        PajeEvent event = PajeEvent::other;
        std::vector<PajeField> fields;
    };
    void define(std::string_view line);
    bool take_word(std::string_view& rest, std::string_view& word) const;

    LineReader reader_;
    std::unordered_map<std::int64_t, Definition> definitions_;
    Definition* open_ = nullptr; ///< The definition whose fields are being read.
};

} // namespace espalier::trace
