// Splits the lines of a Paje file into the fields that the definitions at its head name.
#pragma once

#include <algorithm>
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
    /// Error{io_error}, or {bad_input} for damaged gzip data.
    bool next(std::string_view& line);
    /// Error{bad_input} "<file>:<line>: <what>" for the line read last; without a line if the file is empty.
    [[noreturn]] void fail(std::string const& what) const;

  private:
    void require_no_error() const; // of zlib

    std::string path_;
    gzFile_s* file_;
    std::vector<char> buffer_;
    std::int64_t line_number_ = 0;
};

/// The known events and fields of the format.
inline constexpr std::array<std::string_view, 18> paje_events{
    "PajeDefineContainerType", "PajeDefineStateType",  "PajeDefineVariableType",
    "PajeDefineLinkType",      "PajeDefineEventType",  "PajeDefineEntityValue",
    "PajeCreateContainer",     "PajeDestroyContainer", "PajeSetState",
    "PajePushState",           "PajePopState",         "PajeResetState",
    "PajeSetVariable",         "PajeAddVariable",      "PajeSubVariable",
    "PajeStartLink",           "PajeEndLink",          "PajeNewEvent"};
inline constexpr std::array<std::string_view, 19> paje_fields{
    "Time",  "Type",           "Container",    "Value",    "Key",     "Alias", "Name",
    "Color", "StartContainer", "EndContainer", "Category", "Unit",    "Task",  "Cblk",
    "Level", "Continued",      "Bytes",        "Tag",      "Distance"};

/// One of `names`. Names in the source code are looked up when it is compiled.
template <auto const& names> struct PajeName {
    std::size_t index = names.size(); ///< In `names`; their number for an unknown name, which is skipped.

    constexpr PajeName() = default;
    constexpr explicit PajeName(std::string_view name)
        : index(std::find(names.begin(), names.end(), name) - names.begin()) {}
    consteval PajeName(char const* name) : PajeName(std::string_view(name)) {
        if (!is_known()) throw "this is not a name of the format";
    }
    [[nodiscard]] constexpr bool is_known() const { return index < names.size(); }
    bool operator==(PajeName const&) const = default;
};
using PajeEvent = PajeName<paje_events>;
using PajeField = PajeName<paje_fields>;

/// The fields of one line.
class PajeLine {
  public:
    PajeEvent event;
    [[nodiscard]] bool has(PajeField field) const { return fields_[field.index].data() != nullptr; }
    /// The text of the field, or "".
    [[nodiscard]] std::string_view operator[](PajeField field) const { return fields_[field.index]; }

  private:
    friend class PajeLexer;
    std::array<std::string_view, paje_fields.size() + 1> fields_; ///< The last is any unknown field.
};

/// Reads the definitions, and splits the lines after them.
class PajeLexer {
  public:
    explicit PajeLexer(std::string const& path) : reader_(path) {}
    /// The next line that is a known event; false at the end of the file.
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
        PajeEvent event;
        std::vector<PajeField> fields;
    };
    void define(std::string_view line);
    bool next_word(std::string_view& rest, std::string_view& word) const;

    LineReader reader_;
    std::unordered_map<std::int64_t, Definition> definitions_;
    Definition* open_ = nullptr; ///< The definition whose fields are being read.
};

} // namespace espalier::trace
