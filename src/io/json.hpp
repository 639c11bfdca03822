// JSON by jansson, which reports a lack of memory where other libraries end the process: values that are
// built and written, and the fields of a document that a person may have written. A field is found by its
// path; a field that is missing, of the wrong type or out of range is an error that names the file and the
// path.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "espalier/types.hpp"

struct json_t;

namespace espalier {

inline constexpr std::size_t longest_json = std::size_t{4} << 20;

/// A JSON value. Copies share the value. Every member throws std::bad_alloc when memory runs out.
class Json {
  public:
    Json(); ///< null
    Json(bool value);
    Json(std::integral auto value) : Json(integer(value)) {}
    Json(double value); ///< null for a number that is not finite.
    /// In a text that is not UTF-8, '?' replaces each byte outside ASCII.
    Json(std::string_view text);
    Json(std::string const& text) : Json(std::string_view(text)) {}
    Json(char const* text) : Json(std::string_view(text)) {}
    static Json object(std::initializer_list<std::pair<char const*, Json>> members = {});
    static Json array();

    Json(Json const& other) noexcept;
    Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Json& operator=(Json other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Json();

    /// Adds a member to an object, or replaces it. Members keep their order.
    Json& set(std::string const& name, Json const& value);
    Json& append(Json const& value);

    /// Error{bad_input} "<source>: line 3: ..." for a text that is not one JSON value, is longer than
    /// longest_json, is nested too deeply, or has a name twice in one object. Numbers are read as doubles.
    static Json parse(std::string_view text, std::string const& source);
    /// With `indent` blanks a level, or on one line for 0. Numbers have `digits` significant digits; 17 keep
    /// every bit.
    [[nodiscard]] std::string text(int indent = 0, int digits = 17) const;

  private:
    friend class JsonField;
    explicit Json(json_t* value);
    static json_t* integer(long long value);
    json_t* value_; ///< One reference is owned.
};

/// A position in a document, which may have no value. The value null counts as no value, too.
class JsonField {
  public:
    /// The whole document. `source` is its name in errors, such as "machine file 'm.json'". Both must outlive
    /// this.
    JsonField(Json const& document, std::string const& source) : source_(&source), value_(document.value_) {}

    explicit operator bool() const;
    [[nodiscard]] bool is_list() const;
    /// The member of an object; nothing where it is missing. Error{bad_input} for a value that is not an
    /// object.
    JsonField operator[](std::string_view name) const;
    /// The elements of a list. Error{bad_input} for a value that is not a list.
    [[nodiscard]] std::vector<JsonField> items() const;

    /// Error{bad_input} for a value of another type, or outside of [least, most].
    [[nodiscard]] std::string text() const;
    [[nodiscard]] double number(double least, double most) const;
    [[nodiscard]] int count(int least, int most) const;
    /// A list of n lists of n numbers, row by row.
    [[nodiscard]] std::vector<double> square_table(double least, double most) const;
    /// The value that to_string spells like the text. Error{bad_input} names the values.
    template <class Value, std::size_t n>
    [[nodiscard]] Value choice(std::array<Value, n> const& values) const {
        std::string const word = text();
        std::string all;
        for (Value const value : values) {
            if (word == to_string(value)) return value;
            all += (all.empty() ? "" : ", ") + std::string(to_string(value));
        }
        refuse(fmt::format("is {}; it can be {}", shown(), all));
    }

    /// Error{bad_input} for a member of this object that is neither among `names` nor among `ignored`.
    void allow_only(std::span<std::string_view const> names,
                    std::span<std::string_view const> ignored = {}) const;
    /// Error{bad_input} "<source>: "<path>" <what>".
    [[noreturn]] void refuse(std::string const& what) const;

  private:
    JsonField(JsonField const& parent, std::string_view name, json_t const* value);
    [[noreturn]] void refuse_value(std::string const& expected) const; // for a value that is missing or wrong
    [[nodiscard]] std::string shown() const;                           // of a value that is not missing
    [[nodiscard]] std::string path_of(std::string_view name) const;

    std::string const* source_;
    std::string path_{};
    json_t const* value_;
};

} // namespace espalier
