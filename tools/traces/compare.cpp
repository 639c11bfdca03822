#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "espalier/types.hpp"
#include "tools/traces/statistics.hpp"

namespace espalier::trace {
namespace {

// A piece of work that is matched with the other trace. Kinds are numbered as in the comparison.
struct Piece {
    std::size_t kind = 0;
    std::int64_t task = -1;
    std::int64_t cblk = -1;
    Nanoseconds duration = 0;
    [[nodiscard]] auto key() const { return std::tie(kind, task, cblk); }
};

// Adds up the pieces with equal keys.
void merge_equal(std::vector<Piece>& pieces) {
    std::sort(pieces.begin(), pieces.end(), [](Piece const& a, Piece const& b) { return a.key() < b.key(); });
    std::size_t kept = 0;
    for (Piece const& piece : pieces) {
        if (kept > 0 && pieces[kept - 1].key() == piece.key())
            pieces[kept - 1].duration += piece.duration;
        else
            pieces[kept++] = piece;
    }
    pieces.resize(kept);
}

// One of the two traces.
struct Side {
    Trace const& trace;
    Window window;
    Window work;               // from the first start to the last end of work in the window
    std::vector<Piece> pieces; // sorted by kind, task and cblk; task numbers start at 0
};

[[noreturn]] void refuse(Trace const& trace, char const* which, std::string const& phase_name) {
    std::string const known = fmt::format("{}", fmt::join(phases(trace), ", "));
    throw Error(Status::usage,
                fmt::format("cannot compare phase '{}', which the {} trace does not have; it has {}",
                            phase_name, which, known.empty() ? "none" : known));
}

Side make_side(Trace const& trace, Window window) {
    std::optional<Window> work;
    for (State const& state : trace.states())
        if (is_work(trace, state, window)) extend(work, {state.start, state.end});
    return {trace, window, work.value_or(Window{}), {}};
}

// A kind that the comparison does not have, because no state of it counts.
constexpr std::size_t not_compared = std::numeric_limits<std::size_t>::max();

void collect_pieces(Side& side, std::vector<std::size_t> const& kind_of) {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (State const& state : side.trace.states()) {
        if (!is_work(side.trace, state, side.window) || kind_of[state.kind] == not_compared) continue;
        side.pieces.push_back({kind_of[state.kind], state.task, state.cblk, state.end - state.start});
        if (state.task >= 0) lowest = std::min(lowest, state.task);
    }
    for (Piece& piece : side.pieces)
        if (piece.task >= 0) piece.task -= lowest;
    merge_equal(side.pieces);
}

// Whether both traces have the same tasks, each on the same cblk. Kinds may differ, as a prediction may have
// a subtree only as a whole.
bool same_tasks(std::vector<Piece> const& predicted, std::vector<Piece> const& measured) {
    auto const tasks_of = [](std::vector<Piece> const& pieces) {
        std::vector<std::pair<std::int64_t, std::int64_t>> tasks; // with the last cblk, the root of a subtree
        for (Piece const& piece : pieces)
            if (piece.task >= 0) tasks.emplace_back(piece.task, piece.cblk);
        std::sort(tasks.begin(), tasks.end(), std::greater<>());
        auto const same_task = [](auto const& a, auto const& b) { return a.first == b.first; };
        tasks.erase(std::unique(tasks.begin(), tasks.end(), same_task), tasks.end());
        return tasks;
    };
    auto const tasks = tasks_of(predicted);
    return !tasks.empty() && tasks == tasks_of(measured);
}

void match_by_cblk(std::vector<Piece>& pieces) {
    for (Piece& piece : pieces)
        if (piece.cblk >= 0) piece.task = -1;
    merge_equal(pieces);
}

// The ratios and errors of the matched pieces.
struct MatchedPieces {
    std::vector<double> ratios;
    double errors = 0;
    std::int64_t measurable = 0;

    void add(KindComparison& kind, Nanoseconds predicted, Nanoseconds measured) {
        ++kind.matched;
        kind.matched_predicted += predicted;
        kind.matched_measured += measured;
        if (predicted > 0) ratios.push_back(double(measured) / double(predicted));
        if (measured == 0) return;
        errors += std::abs(double(predicted - measured)) / double(measured);
        ++measurable;
    }
    void finish(KindComparison& kind) {
        if (measurable > 0) kind.mean_relative_error = errors / double(measurable);
        if (ratios.empty()) return;
        auto const middle = ratios.begin() + std::ssize(ratios) / 2;
        std::nth_element(ratios.begin(), middle, ratios.end());
        kind.median_ratio = *middle;
        if (ratios.size() % 2 == 0)
            kind.median_ratio = (*middle + *std::max_element(ratios.begin(), middle)) / 2;
    }
};

void match(Side const& predicted, Side const& measured, Comparison& result) {
    std::vector<MatchedPieces> samples(result.kinds.size());
    MatchedPieces all;
    auto p = predicted.pieces.begin(), m = measured.pieces.begin();
    while (p != predicted.pieces.end() && m != measured.pieces.end()) {
        if (p->key() < m->key()) {
            ++p;
        } else if (m->key() < p->key()) {
            ++m;
        } else {
            samples[p->kind].add(result.kinds[p->kind], p->duration, m->duration);
            all.add(result.total, p->duration, m->duration);
            ++p, ++m;
        }
    }
    for (std::size_t k = 0; k < samples.size(); ++k) samples[k].finish(result.kinds[k]);
    all.finish(result.total);
}

double relative(Nanoseconds predicted, Nanoseconds measured) {
    return measured > 0 ? double(predicted - measured) / double(measured) : 0.0;
}

} // namespace

double KindComparison::error() const {
    return relative(predicted.total, measured.total);
}

double Comparison::makespan_error() const {
    return relative(predicted_makespan, measured_makespan);
}

Comparison compare(Trace const& predicted, Trace const& measured, std::string_view phase_name) {
    Comparison result;
    result.total.name = "total";
    auto const here = phase(predicted, phase_name, true), there = phase(measured, phase_name, true);
    if (there && !here) refuse(predicted, "predicted", std::string(phase_name));
    if (here && !there) refuse(measured, "measured", std::string(phase_name));
    Side sides[] = {make_side(predicted, here.value_or(whole(predicted))),
                    make_side(measured, there.value_or(whole(measured)))};
    KindTimes KindComparison::* const members[] = {&KindComparison::predicted, &KindComparison::measured};
    std::map<std::string, std::size_t> by_name;
    for (std::size_t s = 0; s < 2; ++s) {
        auto const times = statistics(sides[s].trace, sides[s].window).kinds;
        std::vector<std::size_t> kind_of(times.size(), not_compared);
        for (std::size_t k = 0; k < times.size(); ++k) {
            StateKind const& kind = sides[s].trace.kinds()[k];
            if (kind.category != Category::work || (times[k].count == 0 && times[k].total == 0)) continue;
            auto const [at, fresh] = by_name.try_emplace(kind.name, result.kinds.size());
            if (fresh) result.kinds.emplace_back().name = kind.name;
            kind_of[k] = at->second;
            result.kinds[at->second].*members[s] = times[k];
            (result.total.*members[s]).count += times[k].count;
            (result.total.*members[s]).total += times[k].total;
        }
        collect_pieces(sides[s], kind_of);
    }
    if (same_tasks(sides[0].pieces, sides[1].pieces))
        result.match = MatchBy::task;
    else
        for (Side& side : sides) match_by_cblk(side.pieces);
    match(sides[0], sides[1], result);
    result.predicted = sides[0].window;
    result.measured = sides[1].window;
    result.predicted_makespan = sides[0].work.end - sides[0].work.begin;
    result.measured_makespan = sides[1].work.end - sides[1].work.begin;
    return result;
}

} // namespace espalier::trace
