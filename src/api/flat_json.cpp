// Recursive descent. nlohmann json is not used in the library: it ends the process when memory runs out.
#include "api/flat_json.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr int deepest = 16;
constexpr std::size_t longest = std::size_t{4} << 20;

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    std::optional<FlatJson> run() {
        if (!value(deepest)) return std::nullopt;
        skip_blanks();
        if (!rest_.empty()) return std::nullopt;
        return std::move(found_);
    }

  private:
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
        if (depth == 0 || rest_.empty()) return false;
        if (rest_[0] == '{') return object(depth);
        if (rest_[0] == '[') return array(depth);
        if (rest_[0] == '"') {
            std::string text;
            return string(text) && keep(std::move(text));
        }
        if (take("true")) return keep(1.0);
        if (take("false")) return keep(0.0);
        return take("null") || number();
    }

    bool object(int depth) {
        take("{");
        if (next('}')) return true;
        do {
            std::string name;
            skip_blanks();
            if (!string(name) || !next(':') || !member(name, depth)) return false;
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
        if (error != std::errc() || !std::isfinite(x)) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
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
        // Only what json_quoted writes: control characters.
        unsigned code = 0;
        if (c != 'u' || rest_.size() < 4) return false;
        auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
        if (error != std::errc() || end != rest_.data() + 4 || code >= 0x80) return false;
        text += static_cast<char>(code);
        rest_.remove_prefix(4);
        return true;
    }

    template <class Value> bool keep(Value&& value) {
        return found_.emplace(path_, std::forward<Value>(value)).second;
    }

    std::string_view rest_;
    std::string path_;
    FlatJson found_;
};

} // namespace

std::optional<FlatJson> parse_flat_json(std::string_view text) {
    if (text.size() > longest) return std::nullopt;
    return Parser(text).run();
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
