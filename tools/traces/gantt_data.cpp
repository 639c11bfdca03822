#include "tools/traces/gantt_data.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "tools/traces/gantt_layout.hpp"
#include "trace/kinds.hpp"

namespace espalier::trace {
namespace {

constexpr std::size_t curve_columns = 2000;

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (char const c : text) {
        auto const code = static_cast<unsigned char>(c);
        if (code < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            result += escape;
        } else
            result += c;
    }
    return result += '"';
}

std::string hex(Color color) {
    char text[16];
    std::snprintf(text, sizeof text, "\"#%02x%02x%02x\"", color.red, color.green, color.blue);
    return text;
}

std::string base64(std::string const& bytes) {
    constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? letters[group >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

void append_varint(std::string& bytes, std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
}
void append_difference(std::string& bytes, std::int64_t value, std::int64_t& before) {
    std::int64_t const difference = value - before;
    before = value;
    append_varint(bytes, static_cast<std::uint64_t>(difference << 1 ^ difference >> 63));
}

std::string encode(std::vector<State> const& states, Window window) {
    std::string bytes;
    Nanoseconds before = window.begin;
    std::int64_t cblk = 0, task = 0;
    for (State const& state : states) {
        append_varint(bytes, static_cast<std::uint64_t>(state.start - before));
        append_varint(bytes, static_cast<std::uint64_t>(state.end - state.start));
        append_varint(bytes, static_cast<std::uint64_t>(state.kind));
        append_varint(bytes, static_cast<std::uint64_t>(state.level + 1));
        append_difference(bytes, state.cblk, cblk);
        append_difference(bytes, state.task, task);
        before = state.end;
    }
    return bytes;
}

std::vector<State> clip(std::span<State const> states, Window window) {
    std::vector<State> inside;
    for (State state : states) {
        state.start = std::max(state.start, window.begin);
        state.end = std::min(state.end, window.end);
        if (state.start < state.end) inside.push_back(state);
    }
    return inside;
}

// The states of all rows, few enough.
std::vector<std::vector<State>> gather(GanttPanel const& panel, std::vector<std::size_t> const& rows,
                                       std::size_t most) {
    std::vector<std::vector<State>> states;
    std::size_t count = 0;
    for (std::size_t const row : rows)
        count += states.emplace_back(clip(panel.trace->states_of(row), panel.window)).size();
    Nanoseconds const span = panel.window.end - panel.window.begin;
    for (Nanoseconds bin = std::max<Nanoseconds>(1, span >> 20); count > most && bin < span; bin *= 2) {
        count = 0;
        for (auto& row : states) {
            row = sum_up(row, panel.window.begin, bin);
            count += row.size();
        }
    }
    return states;
}

class PanelText {
  public:
    PanelText(GanttPanel const& panel, HtmlOptions const& options) : panel_(panel), trace_(*panel.trace) {
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t const container : trace_.at(static_cast<Place>(i)))
                if (i > 0) rows_.push_back(container);
        order_rows();
        states_ = gather(panel, rows_, options.max_states);
        most_links_ = options.max_links;
    }

    std::string text() {
        std::string const title = panel_.title.empty() ? std::string(trace_.about("origin")) : panel_.title;
        std::string about;
        for (auto const& [key, value] : trace_.metadata())
            about += (about.empty() ? "" : ", ") + quoted(key) + ": " + quoted(value);
        std::string result = "{title: " + quoted(title.empty() ? "trace" : title) + ", about: {" + about +
                             "}, length: " + std::to_string(panel_.window.end - panel_.window.begin) + ",\n";
        result += "kinds: [" + kinds() + "],\n";
        result += "curves: [" + curves() + "],\n";
        result += links();
        std::string bytes;
        result += "rows: [" + rows(bytes) + "],\n";
        return result + "data: \"" + base64(bytes) + "\"}";
    }

  private:
    // Depth first: a process, its nodes, each before its threads.
    void order_rows() {
        std::map<std::size_t, std::vector<std::size_t>> children;
        for (std::size_t const row : rows_) children[trace_.containers()[row].parent].push_back(row);
        rows_.clear();
        for (std::size_t const process : trace_.at(Place::process)) {
            rows_.push_back(process);
            for (std::size_t const node : children[process]) {
                rows_.push_back(node);
                rows_.insert(rows_.end(), children[node].begin(), children[node].end());
            }
        }
        row_of_.assign(trace_.containers().size(), 0);
        for (std::size_t r = 0; r < rows_.size(); ++r) row_of_[rows_[r]] = r;
    }

    std::string kinds() const {
        std::string text;
        for (StateKind const& kind : trace_.kinds())
            text += (text.empty() ? "{name: " : ", {name: ") + quoted(kind.name) +
                    ", color: " + hex(kind.color) + ", category: \"" + to_string(kind.category) + "\"}";
        return text;
    }

    std::string rows(std::string& bytes) const {
        std::string text;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            auto const& container = trace_.containers()[rows_[r]];
            text += (r > 0 ? ",\n{name: " : "{name: ") + quoted(container.name) + ", place: \"" +
                    to_string(container.place) + "\", count: " + std::to_string(states_[r].size()) + "}";
            bytes += encode(states_[r], panel_.window);
        }
        return text;
    }

    std::string links() const {
        std::string text;
        std::size_t count = 0;
        for (Link const& link : trace_.links()) {
            if (link.start < panel_.window.begin || link.end > panel_.window.end) continue;
            if (++count > most_links_) continue;
            char line[160];
            std::snprintf(line, sizeof line, "%s[%zu,%zu,%lld,%lld,%d,%lld]", count > 1 ? "," : "",
                          row_of_[link.from], row_of_[link.to],
                          static_cast<long long>(link.start - panel_.window.begin),
                          static_cast<long long>(link.end - panel_.window.begin),
                          link.kind == LinkKind::message ? 0 : 1, static_cast<long long>(link.bytes));
            text += line;
        }
        return "links: [" + text +
               "], left_out: " + std::to_string(count > most_links_ ? count - most_links_ : 0) + ",\n";
    }

    std::string curves() const {
        std::map<std::pair<std::size_t, std::int32_t>, bool> present; // Process and variable.
        for (Sample const& sample : trace_.samples())
            present[{static_cast<std::size_t>(
                         trace_.ancestor(static_cast<std::size_t>(sample.container), Place::process)),
                     sample.variable}] = true;
        std::string text;
        for (auto const& [key, unused] : present) {
            static_cast<void>(unused);
            LayoutRow row;
            row.container = key.first;
            row.variable = key.second;
            auto const& variable = trace_.variables()[key.second];
            text += (text.empty() ? "{row: " : ",\n{row: ") + std::to_string(row_of_[key.first]) +
                    ", name: " + quoted(variable.name) + ", unit: " + quoted(variable.unit) + ", values: [";
            bool first = true;
            for (double const value :
                 variable_columns(panel_, row, panel_.window.end - panel_.window.begin, curve_columns)) {
                char number[40];
                std::snprintf(number, sizeof number, first ? "%.6g" : ",%.6g", value);
                text += number;
                first = false;
            }
            text += "]}";
        }
        return text;
    }

    GanttPanel const& panel_;
    Trace const& trace_;
    std::vector<std::size_t> rows_;
    std::vector<std::size_t> row_of_;
    std::vector<std::vector<State>> states_;
    std::size_t most_links_ = 0;
};

} // namespace

std::vector<State> sum_up(std::span<State const> states, Nanoseconds begin, Nanoseconds bin) {
    std::vector<State> result;
    std::vector<State> group; // Short ones in the same bin, not yet written.
    auto const flush = [&] {
        if (group.size() == 1) result.push_back(group.front());
        if (group.size() > 1) {
            std::map<std::pair<std::int16_t, std::int16_t>, Nanoseconds> covered;
            for (State const& state : group) covered[{state.kind, state.level}] += state.end - state.start;
            State sum;
            sum.container = group.front().container;
            sum.end = group.front().start;
            for (auto const& [key, time] : covered) {
                sum.kind = key.first;
                sum.level = key.second;
                sum.start = sum.end;
                sum.end += time;
                result.push_back(sum);
            }
        }
        group.clear();
    };
    Nanoseconds group_bin = -1;
    for (State const& state : states) {
        Nanoseconds const first = (state.start - begin) / bin, last = (state.end - 1 - begin) / bin;
        if (first != last || first != group_bin) flush();
        if (first == last) {
            group.push_back(state);
            group_bin = first;
        } else
            result.push_back(state);
    }
    flush();
    return result;
}

std::string gantt_data(std::vector<GanttPanel> const& panels, HtmlOptions const& options) {
    std::string text = options.color_by == ColorBy::kind ? "{by: \"kind\"" : "{by: \"level\"";
    int deepest = -1;
    for (GanttPanel const& panel : panels)
        for (State const& state : panel.trace->states()) deepest = std::max<int>(deepest, state.level);
    text += ", levels: [";
    for (int level = 0; level <= deepest; ++level) text += hex(level_color(level, deepest)) += ',';
    text += "], panels: [\n";
    for (GanttPanel const& panel : panels) (text += PanelText(panel, options).text()) += ",\n";
    return text + "]}";
}

} // namespace espalier::trace
