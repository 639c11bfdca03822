#include "tools/traces/gantt_data.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/traces/gantt_layout.hpp"
#include "trace/kinds.hpp"

namespace espalier::trace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int curve_columns = 2000;

std::string page_color(Color color) {
    return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
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

// The states of all rows, summed up until there are at most `most`.
std::vector<std::vector<State>> gather(GanttPanel const& panel, std::vector<std::int32_t> const& rows,
                                       std::size_t most) {
    std::vector<std::vector<State>> states;
    std::size_t count = 0;
    for (std::int32_t const row : rows)
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

class PanelData {
  public:
    PanelData(GanttPanel const& panel, HtmlOptions const& options) : panel_(panel), trace_(*panel.trace) {
        list_rows();
        states_ = gather(panel, rows_, options.max_states);
        most_links_ = options.max_links;
    }

    [[nodiscard]] Json json() const {
        std::string const title = panel_.title.empty() ? std::string(trace_.about("origin")) : panel_.title;
        Json result{{"title", title.empty() ? "trace" : title},
                    {"about", trace_.metadata()},
                    {"length", length()},
                    {"kinds", Json::array()},
                    {"rows", Json::array()}};
        for (StateKind const& kind : trace_.kinds())
            result["kinds"].push_back({{"name", kind.name},
                                       {"color", page_color(kind.color)},
                                       {"category", to_string(kind.category)}});
        std::string bytes;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            auto const& container = trace_.containers()[rows_[r]];
            result["rows"].push_back({{"name", container.name},
                                      {"place", to_string(container.place)},
                                      {"count", states_[r].size()}});
            bytes += encode(states_[r], panel_.window);
        }
        result["data"] = base64(bytes);
        add_links(result);
        result["curves"] = curves();
        return result;
    }

  private:
    [[nodiscard]] Nanoseconds length() const { return panel_.window.end - panel_.window.begin; }

    // Depth first: a process, its nodes, and after each node its threads.
    void list_rows() {
        std::map<std::int32_t, std::vector<std::int32_t>> children;
        for (Place const place : {Place::node, Place::thread})
            for (std::int32_t const container : trace_.at(place))
                children[trace_.containers()[container].parent].push_back(container);
        for (std::int32_t const process : trace_.at(Place::process)) {
            rows_.push_back(process);
            for (std::int32_t const node : children[process]) {
                rows_.push_back(node);
                auto const& threads = children[node];
                rows_.insert(rows_.end(), threads.begin(), threads.end());
            }
        }
        row_of_.assign(trace_.containers().size(), 0);
        for (std::size_t r = 0; r < rows_.size(); ++r) row_of_[rows_[r]] = r;
    }

    void add_links(Json& result) const {
        Json links = Json::array();
        std::size_t count = 0;
        for (Link const& link : trace_.links()) {
            if (link.start < panel_.window.begin || link.end > panel_.window.end) continue;
            if (++count > most_links_) continue;
            links.push_back({row_of_[link.from], row_of_[link.to], link.start - panel_.window.begin,
                             link.end - panel_.window.begin, link.kind == LinkKind::message ? 0 : 1,
                             link.bytes});
        }
        result["links"] = std::move(links);
        result["left_out"] = count > most_links_ ? count - most_links_ : 0;
    }

    [[nodiscard]] Json curves() const {
        std::set<std::pair<std::int32_t, std::int32_t>> present; // processes and variables
        for (Sample const& sample : trace_.samples())
            present.emplace(trace_.ancestor(sample.container, Place::process), sample.variable);
        Json result = Json::array();
        for (auto const& [process, v] : present) {
            LayoutRow row;
            row.container = process;
            row.variable = v;
            auto const& variable = trace_.variables()[v];
            result.push_back({{"row", row_of_[process]},
                              {"name", variable.name},
                              {"unit", variable.unit},
                              {"values", variable_columns(panel_, row, length(), curve_columns)}});
        }
        return result;
    }

    GanttPanel const& panel_;
    Trace const& trace_;
    std::vector<std::int32_t> rows_;
    std::vector<std::size_t> row_of_;
    std::vector<std::vector<State>> states_;
    std::size_t most_links_ = 0;
};

} // namespace

std::vector<State> sum_up(std::span<State const> states, Nanoseconds begin, Nanoseconds bin) {
    std::vector<State> result;
    std::vector<State> group; // short states of one bin
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
    int deepest = -1;
    for (GanttPanel const& panel : panels)
        for (State const& state : panel.trace->states()) deepest = std::max<int>(deepest, state.level);
    Json result{{"by", options.color_by == ColorBy::kind ? "kind" : "level"},
                {"levels", Json::array()},
                {"panels", Json::array()}};
    for (int level = 0; level <= deepest; ++level)
        result["levels"].push_back(page_color(level_color(level, deepest)));
    for (GanttPanel const& panel : panels) result["panels"].push_back(PanelData(panel, options).json());
    // A name must not end the script that holds the data.
    std::string text;
    for (char const c : result.dump(-1, ' ', false, Json::error_handler_t::replace))
        text += c == '<' ? "\\u003c" : std::string(1, c);
    return text;
}

} // namespace espalier::trace
