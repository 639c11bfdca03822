// Recursive descent. nlohmann json is not used in the library: it ends the process when memory runs out.
#include "machine/flat_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr int deepest = 16;
constexpr unsigned no_code = ~0U;

void append_utf8(std::string& text, unsigned code) {
    auto const add = [&text](unsigned byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
        add(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xe0 | code >> 12);
        } else {
            add(0xf0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3f));
        }
        add(0x80 | (code >> 6 & 0x3f));
    }
    add(0x80 | (code & 0x3f));
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text), rest_(text) {}

    std::optional<FlatJson> run() {
        if (!value(deepest)) return std::nullopt;
        skip_blanks();
        if (!rest_.empty()) return std::nullopt;
        return std::move(found_);
    }
    // After run() gave nothing.
    [[nodiscard]] std::string fault() const {
        std::string_view const read = text_.substr(0, text_.size() - rest_.size());
        return fmt::format("line {}: {}", 1 + std::count(read.begin(), read.end(), '\n'),
                           fault_.empty() ? "this is not a JSON document" : fault_);
    }

  private:
    bool fail(std::string what) {
        if (fault_.empty()) fault_ = std::move(what);
        return false;
    }
    void skip_blanks() {
        auto const first = rest_.find_first_not_of(" \t\r\n");
        rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
    }
    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool next(char c) {
        skip_blanks();
        return take({&c, 1});
    }

    bool value(int depth) {
        skip_blanks();
        if (depth == 0) return fail(fmt::format("this is nested more than {} deep", deepest));
        if (rest_.empty()) return fail("the document ends too early");
        if (rest_[0] == '{') return object(depth);
        if (rest_[0] == '[') return array(depth);
        if (rest_[0] == '"') {
            std::string text;
            return string(text) && keep(std::move(text));
        }
        if (take("true")) return keep(true);
        if (take("false")) return keep(false);
        return take("null") || number();
    }

    bool object(int depth) {
        take("{");
        if (next('}')) return true;
        do {
            std::string name;
            skip_blanks();
            if (!string(name) || !next(':')) return false;
            if (name.find('.') != std::string::npos)
                return fail(fmt::format("the name {} has a dot; an object within an object is written as "
                                        "{{\"a\": {{\"b\": 1}}}}",
                                        json_quoted(name)));
            if (!member(name, depth)) return false;
        } while (next(','));
        return next('}');
    }

    bool array(int depth) {
        take("[");
        if (next(']')) return true;
        std::size_t index = 0;
        do {
            if (!member(std::to_string(index++), depth)) return false;
        } while (next(','));
        return next(']');
    }

    bool member(std::string_view name, int depth) {
        std::size_t const length = path_.size();
        if (length > 0) path_ += '.';
        path_ += name;
        bool const good = value(depth - 1);
        path_.resize(length);
        return good;
    }

    bool number() {
        if (rest_[0] != '-' && (rest_[0] < '0' || rest_[0] > '9')) return false;
        double x = 0;
        auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), x);
        std::string_view const digits = rest_.substr(0, static_cast<std::size_t>(end - rest_.data()));
        if (error == std::errc::result_out_of_range)
            return fail(fmt::format("the number {} is too large or too small", digits.substr(0, 40)));
        if (error != std::errc() || !std::isfinite(x)) return false;
        rest_.remove_prefix(digits.size());
        return keep(x);
    }

    bool string(std::string& text) {
        if (!take("\"")) return false;
        while (!rest_.empty() && rest_[0] != '"') {
            auto const c = static_cast<unsigned char>(rest_[0]);
            rest_.remove_prefix(1);
            if (c < 0x20 || (c == '\\' && !escape(text))) return false;
            if (c != '\\') text += static_cast<char>(c);
        }
        return take("\"");
    }

    bool escape(std::string& text) {
        if (rest_.empty()) return false;
        char const c = rest_[0];
        rest_.remove_prefix(1);
        constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        if (auto const at = names.find(c); at != std::string_view::npos) {
            text += meanings[at];
            return true;
        }
        unsigned const code = c == 'u' ? code_point() : no_code;
        if (code == no_code) return fail("an escape in a text is none that JSON has");
        append_utf8(text, code);
        return true;
    }

    // After \u: four digits, or a pair of them.
    unsigned code_point() {
        unsigned const code = four_digits();
        if (code == no_code || code < 0xd800 || code >= 0xe000) return code;
        if (code >= 0xdc00 || !take("\\u")) return no_code; // a second half alone, or a first one
        unsigned const low = four_digits();
        if (low == no_code || low < 0xdc00 || low >= 0xe000) return no_code;
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }

    unsigned four_digits() {
        if (rest_.size() < 4) return no_code;
        unsigned code = 0;
        auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
        if (error != std::errc() || end != rest_.data() + 4) return no_code;
        rest_.remove_prefix(4);
        return code;
    }

    template <class Value> bool keep(Value&& value) {
        return found_.emplace(path_, std::forward<Value>(value)).second ||
               fail(fmt::format("the name {} is there twice", json_quoted(path_)));
    }

    std::string_view text_, rest_;
    std::string path_;
    FlatJson found_;
    std::string fault_; ///< The first; empty: only that this is no JSON.
};

} // namespace

std::optional<FlatJson> parse_flat_json(std::string_view text, std::string* fault) {
    if (text.size() > longest_flat_json) {
        if (fault) *fault = fmt::format("this is larger than {} MiB", longest_flat_json >> 20);
        return std::nullopt;
    }
    Parser parser(text);
    auto found = parser.run();
    if (!found && fault) *fault = parser.fault();
    return found;
}

std::string json_quoted(std::string_view text) {
    std::string json = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\')
            json += {'\\', c};
        else if (static_cast<unsigned char>(c) < 0x20)
            json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            json += c;
    }
    return json + '"';
}

} // namespace espalier
