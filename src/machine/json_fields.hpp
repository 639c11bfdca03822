// The fields of a JSON file that a person may have written: each is asked for by its path, and what is
// missing, of the wrong type or out of range ends the reading with an error that names file and key.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/flat_json.hpp"

namespace espalier {

class JsonFields {
  public:
    /// Both must outlive this. `source` is what errors call it: "machine file 'm.json'".
    JsonFields(FlatJson const& json, std::string const& source) : json_(json), source_(source) {}

    /// Error{bad_input}.
    [[noreturn]] void refuse(std::string const& what) const;
    /// Error{bad_input} for a key that fits none of the patterns, in which # stands for an index, and * at
    /// the end for whatever lies below. `help` follows in the message.
    void refuse_unknown(std::span<std::string_view const> patterns, std::string_view help) const;

    [[nodiscard]] bool has(std::string const& key) const { return json_.contains(key); }
    /// The key names a list or an object, which is not empty.
    [[nodiscard]] bool has_below(std::string const& key) const;

    [[nodiscard]] std::string text(std::string const& key) const;
    [[nodiscard]] double number(std::string const& key, double least, double most) const;
    [[nodiscard]] int count(std::string const& key, int least, int most) const;
    /// A list of n lists of n numbers, row by row.
    [[nodiscard]] std::vector<double> square_table(std::string const& key, double least, double most) const;
    /// The value that to_string spells like the text.
    template <class Value, std::size_t n>
    [[nodiscard]] Value choice(std::string const& key, std::array<Value, n> const& values) const {
        std::string const word = text(key);
        std::string all;
        for (Value const value : values) {
            if (word == to_string(value)) return value;
            all += (all.empty() ? "" : ", ") + std::string(to_string(value));
        }
        refuse("\"" + key + "\" is " + json_quoted(word) + "; it can be " + all);
    }

  private:
    [[nodiscard]] std::string shown(std::string const& key) const;

    FlatJson const& json_;
    std::string const& source_;
};

} // namespace espalier
