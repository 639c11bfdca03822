// Random changes to valid text, for tests of readers: whatever is changed, a reader accepts the text or
// refuses it with an error of one line. Sanitizers find the rest. With ESPALIER_MUTATIONS=N in the
// environment N texts are tried for each file in place of a few hundred; ESPALIER_SEED=S tries others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace espalier::test {

/// The text after one to four changes: bytes replaced, removed, inserted, repeated elsewhere, the end cut
/// off, or a number made extreme.
inline std::string mutated(std::string text, std::mt19937_64& random) {
    auto const place = [&] { return text.empty() ? 0 : random() % text.size(); };
    constexpr std::string_view numbers[] = {
        "-1", "0", "1e999", "nan", "2147483648", "9223372036854775808", "1e-320", ""};
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
        std::size_t const at = place(), length = random() % 12;
        switch (random() % 6) {
        case 0:
            if (!text.empty()) text[at] = static_cast<char>(random() % 256);
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(at, 1, "{}[]\",:.-%# \n0123456789e"[random() % 24]);
            break;
        case 3:
            text.insert(at, text.substr(place(), length));
            break;
        case 4:
            if (random() % 8 == 0) text.resize(at);
            break;
        default: {
            constexpr char const* digits = "0123456789";
            std::size_t const begin = text.find_first_of(digits, at);
            if (begin == std::string::npos) break;
            std::size_t const end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
            text.replace(begin, end - begin, numbers[random() % std::size(numbers)]);
        }
        }
    }
    return text;
}

/// Reads many changed forms of `text`. Returns how many were refused. `read` may throw Error{bad_input},
/// Error{unsupported} or, for values out of range, Error{usage}.
template <class Read> int refused_mutations(std::string const& text, Read const& read) {
    auto const number_in = [](char const* name, long long otherwise) {
        char const* const value = std::getenv(name);
        return value ? std::atoll(value) : otherwise;
    };
    long long const count = number_in("ESPALIER_MUTATIONS", 300);
    std::mt19937_64 random(static_cast<unsigned long long>(number_in("ESPALIER_SEED", 1)));
    int refused = 0;
    for (long long k = 0; k < count; ++k) {
        std::string const changed = mutated(text, random);
        try {
            read(changed);
        } catch (Error const& error) {
            ++refused;
            std::string_view const message = error.what();
            bool const expected = error.status() == Status::bad_input ||
                                  error.status() == Status::unsupported || error.status() == Status::usage;
            EXPECT_TRUE(expected && !message.empty() && message.find('\n') == std::string_view::npos)
                << "mutation " << k << ": " << message << "\n"
                << changed;
        }
        if (testing::Test::HasFailure()) break;
    }
    return refused;
}

} // namespace espalier::test
