#include "solver/notes.hpp"

#include <algorithm>

namespace espalier {

void Notes::take(std::string text) {
    if (options_.log) options_.log(text);
    list_.push_back(std::move(text));
}

void Notes::add_once(std::string const& text) {
    bool const is_new = std::ranges::find(list_, text) == list_.end();
    if (!text.empty() && is_new) add(text);
}

void Notes::replace(std::string& current, std::string const& text) {
    if (text == current) return;
    if (options_.log) options_.log(text);
    std::ranges::replace(list_, current, text);
    current = text;
}

void Notes::drop_after_analysis() {
    list_.resize(std::min(list_.size(), of_analysis_));
    on_factors_.clear();
}

void Notes::drop_on_factors() {
    std::erase_if(list_, [&](std::string const& note) {
        return std::ranges::find(on_factors_, note) != on_factors_.end();
    });
    on_factors_.clear();
}

void Notes::throw_problem() {
    if (problem_) throw *std::exchange(problem_, std::nullopt);
}

} // namespace espalier
