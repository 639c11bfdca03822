#include "core/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace espalier {

namespace {

constexpr std::size_t most_edits = 2;

bool same_letter(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Optimal string alignment, ignoring case: distance[i][j] of the first i and j letters, three rows kept.
std::size_t distance(std::string_view one, std::string_view other) {
    std::vector<std::size_t> before, above(other.size() + 1), row(other.size() + 1);
    for (std::size_t j = 0; j <= other.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= one.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= other.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1,
                               above[j - 1] + (same_letter(one[i - 1], other[j - 1]) ? 0 : 1)});
            bool const swapped = i > 1 && j > 1 && same_letter(one[i - 1], other[j - 2]) &&
                                 same_letter(one[i - 2], other[j - 1]);
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
    }
    return above.back();
}

} // namespace

std::string did_you_mean(std::string_view word, std::span<std::string_view const> known) {
    constexpr std::size_t longest = 64; // longer words are not misspelled names
    std::size_t least = most_edits + 1;
    std::string_view nearest;
    if (word.size() > longest) return "";
    for (std::string_view const candidate : known)
        if (std::size_t const edits = distance(word, candidate); edits < least) {
            least = edits;
            nearest = candidate;
        }
    if (nearest.empty() || 2 * least >= word.size() + 1) return "";
    return " (did you mean '" + std::string(nearest) + "'?)";
}

} // namespace espalier
