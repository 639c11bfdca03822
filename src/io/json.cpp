#include "io/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <jansson.h>

#include "core/one_line.hpp"

namespace espalier {

namespace {

void require_memory(bool success) {
    if (!success) throw std::bad_alloc();
}

json_t* new_string(std::string_view text) {
    if (json_t* const value = json_stringn(text.data(), text.size())) return value;
    std::string ascii(text);
    for (char& c : ascii)
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    return json_stringn(ascii.data(), ascii.size());
}

} // namespace

Json::Json(json_t* value) : value_(value) {
    require_memory(value);
}
Json::Json() : Json(json_null()) {}
Json::Json(bool value) : Json(json_boolean(value)) {}
Json::Json(double value) : Json(std::isfinite(value) ? json_real(value) : json_null()) {}
Json::Json(std::string_view text) : Json(new_string(text)) {}
Json::Json(Json const& other) noexcept : value_(json_incref(other.value_)) {}
Json::~Json() {
    json_decref(value_);
}

json_t* Json::integer(long long value) {
    return json_integer(value);
}

Json Json::object(std::initializer_list<std::pair<char const*, Json>> members) {
    Json result(json_object());
    for (auto const& [name, value] : members) result.set(name, value);
    return result;
}

Json Json::array() {
    return Json(json_array());
}

Json& Json::set(std::string const& name, Json const& value) {
    require_memory(json_object_set(value_, name.c_str(), value.value_) == 0);
    return *this;
}

Json& Json::append(Json const& value) {
    require_memory(json_array_append(value_, value.value_) == 0);
    return *this;
}

Json Json::parse(std::string_view text, std::string const& source) {
    if (text.size() > longest_json)
        throw Error(Status::bad_input,
                    fmt::format("{}: the file is larger than {} MiB", source, longest_json >> 20));
    json_error_t error{};
    json_t* const value = json_loadb(
        text.data(), text.size(), JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY, &error);
    if (value) return Json(value);
    require_memory(error.text[0] != '\0'); // jansson has no message for a lack of memory
    throw Error(Status::bad_input, fmt::format("{}: line {}: this is not JSON: {}", source,
                                               std::max(error.line, 1), in_one_line(error.text)));
}

std::string Json::text(int indent, int digits) const {
    std::size_t const flags = JSON_ENCODE_ANY | JSON_INDENT(indent) | JSON_REAL_PRECISION(digits);
    std::unique_ptr<char, void (*)(void*)> const text(json_dumps(value_, flags), std::free);
    require_memory(text != nullptr);
    return text.get();
}

JsonField::JsonField(JsonField const& parent, std::string_view name, json_t const* value)
    : source_(parent.source_), path_(parent.path_of(name)), value_(value) {}

std::string JsonField::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

JsonField::operator bool() const {
    return value_ && !json_is_null(value_);
}

bool JsonField::is_list() const {
    return json_is_array(value_);
}

JsonField JsonField::operator[](std::string_view name) const {
    if (*this && !json_is_object(value_)) refuse_value("an object");
    return {*this, name, json_object_get(value_, std::string(name).c_str())};
}

std::vector<JsonField> JsonField::items() const {
    if (!is_list()) refuse_value("a list");
    std::vector<JsonField> result;
    for (std::size_t i = 0; i < json_array_size(value_); ++i)
        result.push_back({*this, std::to_string(i), json_array_get(value_, i)});
    return result;
}

std::string JsonField::text() const {
    if (!json_is_string(value_)) refuse_value("a text");
    return {json_string_value(value_), json_string_length(value_)};
}

double JsonField::number(double least, double most) const {
    double const value = json_number_value(value_);
    if (!json_is_number(value_) || !(value >= least && value <= most))
        refuse_value(fmt::format("a number from {} to {}", least, most));
    return value;
}

int JsonField::count(int least, int most) const {
    double const value = number(least, most);
    if (value != std::floor(value)) refuse(fmt::format("is {}, not a whole number", value));
    return static_cast<int>(value);
}

std::vector<double> JsonField::square_table(double least, double most) const {
    auto const rows = items();
    std::vector<double> result;
    for (JsonField const& row : rows) {
        auto const columns = row.items();
        if (columns.size() != rows.size())
            row.refuse(fmt::format("has {} numbers; expected {}, as many as \"{}\" has rows", columns.size(),
                                   rows.size(), path_));
        for (JsonField const& entry : columns) result.push_back(entry.number(least, most));
    }
    return result;
}

void JsonField::allow_only(std::span<std::string_view const> names,
                           std::span<std::string_view const> ignored) const {
    if (!json_is_object(value_)) refuse_value("an object");
    auto const has = [](std::span<std::string_view const> list, std::string_view name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    char const* name = nullptr;
    json_t* member = nullptr;
    json_object_foreach(const_cast<json_t*>(value_), name, member) {
        if (has(names, name) || has(ignored, name)) continue;
        std::string const hint = std::string_view(name).find('.') == std::string_view::npos
                                     ? fmt::format("the keys are {}", fmt::join(names, ", "))
                                     : "an object within an object is written as {\"a\": {\"b\": 1}}";
        throw Error(Status::bad_input,
                    fmt::format("{}: unknown key {}; {}", *source_, Json(path_of(name)).text(), hint));
    }
}

void JsonField::refuse(std::string const& what) const {
    std::string const place = path_.empty() ? "the document" : '"' + path_ + '"';
    throw Error(Status::bad_input, fmt::format("{}: {} {}", *source_, place, what));
}

void JsonField::refuse_value(std::string const& expected) const {
    refuse(value_ ? fmt::format("is {}, not {}", shown(), expected)
                  : fmt::format("is missing; expected {}", expected));
}

std::string JsonField::shown() const {
    if (json_is_array(value_)) return "a list";
    if (json_is_object(value_)) return "an object";
    if (json_is_number(value_)) return fmt::format("{}", json_number_value(value_));
    return Json(json_incref(const_cast<json_t*>(value_))).text();
}

} // namespace espalier
