#include "tools/traces/paje_lane.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace espalier::trace {

// Records the state on top of the stack up to now.
void StateLane::leave(Nanoseconds now, std::vector<State>& states) {
    if (stack_.empty()) return;
    Open& open = stack_.back();
    if (open.state.kind == no_kind || (open.interrupted && open.state.start == now)) return;
    State piece = open.state;
    piece.end = now;
    piece.continued |= open.interrupted;
    states.push_back(piece);
    open.interrupted = true;
}

void StateLane::push(State const& state, Nanoseconds now, std::vector<State>& states) {
    leave(now, states);
    stack_.push_back({state, false});
    stack_.back().state.start = now;
}

bool StateLane::pop(Nanoseconds now, std::vector<State>& states) {
    if (stack_.empty()) return false;
    leave(now, states);
    stack_.pop_back();
    if (!stack_.empty()) stack_.back().state.start = now;
    return true;
}

void StateLane::close(Nanoseconds now, std::vector<State>& states) {
    leave(now, states);
    stack_.clear();
}

Category guess_category(std::string name) {
    for (char& c : name) c = static_cast<char>(c | 0x20);
    auto const mentions = [&](std::initializer_list<char const*> words) {
        return std::ranges::any_of(words, [&](char const* w) { return name.find(w) != name.npos; });
    };
    if (mentions({"idle", "sleep", "wait"})) return Category::idle;
    if (mentions({"send", "recv", "receive", "mpi", "comm"})) return Category::communication;
    if (mentions({"overhead", "sched"})) return Category::overhead;
    return Category::work;
}

std::optional<Color> parse_color(std::string_view text) {
    std::uint8_t parts[3];
    for (auto& part : parts) {
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
        double value = 0;
        auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || !(value >= 0 && value <= 1)) return std::nullopt;
        part = static_cast<std::uint8_t>(value * 255 + 0.5);
        text.remove_prefix(stop - text.data());
    }
    return Color{parts[0], parts[1], parts[2]};
}

} // namespace espalier::trace
