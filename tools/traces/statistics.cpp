#include "tools/traces/statistics.hpp"

#include <algorithm>
#include <map>

namespace espalier::trace {
namespace {

// In the order of Category.
constexpr Nanoseconds ThreadTimes::* time_in[] = {&ThreadTimes::busy, &ThreadTimes::communication,
                                                  &ThreadTimes::overhead, &ThreadTimes::idle};

bool is_progress_thread(Trace const& trace, std::int32_t container) {
    auto const category_of = [&](State const& state) { return trace.kinds()[state.kind].category; };
    auto const has = [&](Category category) {
        return std::ranges::count(trace.states_of(container), category, category_of) > 0;
    };
    return has(Category::communication) && !has(Category::work);
}

// Whether events at the end of the window belong to it: the trace ends there, or a phase ends there and no
// other phase goes on.
bool includes_its_end(Trace const& trace, Window window) {
    if (window.end == trace.end()) return true;
    bool ends = false;
    for (std::int32_t const process : trace.at(Place::process))
        for (State const& state : trace.states_of(process)) {
            if (state.start <= window.end && state.end > window.end) return false;
            ends = ends || state.end == window.end;
        }
    return ends;
}

ThreadTimes times_of(Trace const& trace, std::int32_t container, Window window, auto const& inside,
                     std::vector<KindTimes>& kinds) {
    ThreadTimes times;
    times.container = container;
    times.is_progress = is_progress_thread(trace, container);
    Nanoseconds covered = 0;
    for (State const& state : trace.states_of(container)) {
        auto const kind = state.kind;
        auto const category = trace.kinds()[kind].category;
        Nanoseconds const part =
            std::max<Nanoseconds>(0, std::min(state.end, window.end) - std::max(state.start, window.begin));
        bool const counts = inside(state.start) && !state.continued;
        times.*time_in[int(category)] += part;
        covered += part;
        kinds[kind].total += part;
        kinds[kind].count += counts ? 1 : 0;
        times.tasks += counts && category == Category::work ? 1 : 0;
    }
    times.unrecorded = window.end - window.begin - covered;
    return times;
}

} // namespace

Window whole(Trace const& trace) {
    return {trace.begin(), trace.end()};
}

void extend(std::optional<Window>& window, Window const& part) {
    if (!window) window = part;
    window->begin = std::min(window->begin, part.begin);
    window->end = std::max(window->end, part.end);
}

std::optional<Window> phase(Trace const& trace, std::string_view name, bool only_last) {
    std::optional<Window> found;
    for (std::int32_t const process : trace.at(Place::process)) {
        std::optional<Window> here;
        for (State const& state : trace.states_of(process)) {
            if (trace.kinds()[state.kind].name != name) continue;
            if (only_last && !state.continued) here.reset();
            extend(here, {state.start, state.end});
        }
        if (here) extend(found, *here);
    }
    return found;
}

std::vector<std::string> phases(Trace const& trace) {
    std::vector<std::pair<Nanoseconds, std::string>> named; // with the first start
    std::vector<bool> known(trace.kinds().size(), false);
    for (std::int32_t const process : trace.at(Place::process))
        for (State const& state : trace.states_of(process)) {
            auto const kind = state.kind;
            if (!known[kind]) named.emplace_back(state.start, trace.kinds()[kind].name);
            known[kind] = true;
        }
    std::sort(named.begin(), named.end());
    std::vector<std::string> names;
    for (auto& [start, name] : named) names.push_back(std::move(name));
    return names;
}

Statistics statistics(Trace const& trace, Window window) {
    Statistics result;
    result.window = window;
    result.kinds.resize(trace.kinds().size());
    bool const includes_end = includes_its_end(trace, window);
    auto const inside = [&](Nanoseconds time) {
        return time >= window.begin && (time < window.end || (includes_end && time == window.end));
    };
    for (std::int32_t const thread : trace.at(Place::thread))
        result.threads.push_back(times_of(trace, thread, window, inside, result.kinds));

    for (Link const& link : trace.links()) {
        if (!inside(link.start)) continue;
        bool const message = link.kind == LinkKind::message;
        result.messages += message ? 1 : 0;
        result.message_bytes += message ? link.bytes : 0;
        result.steals += message ? 0 : 1;
    }
    result.peaks.assign(trace.variables().size(), 0.0);
    std::map<std::pair<std::int32_t, std::int32_t>, double> at_begin; // by container and variable
    auto const include = [&](std::int32_t variable, double value) {
        double& peak = result.peaks[variable];
        peak = std::max(peak, value);
    };
    for (Sample const& sample : trace.samples()) {
        if (sample.time <= window.begin)
            at_begin[{sample.container, sample.variable}] = sample.value;
        else if (inside(sample.time))
            include(sample.variable, sample.value);
    }
    for (auto const& [key, value] : at_begin) include(key.second, value);
    return result;
}

ThreadTimes& ThreadTimes::operator+=(ThreadTimes const& other) {
    for (auto const time : time_in) this->*time += other.*time;
    unrecorded += other.unrecorded;
    tasks += other.tasks;
    return *this;
}

ThreadTimes Statistics::total() const {
    return total_of(false) += total_of(true);
}

ThreadTimes Statistics::total_of(bool progress) const {
    ThreadTimes sum;
    sum.is_progress = progress;
    for (auto const& times : threads)
        if (times.is_progress == progress) sum += times;
    return sum;
}

std::int64_t Statistics::progress_threads() const {
    return std::ranges::count(threads, true, &ThreadTimes::is_progress);
}

bool is_work(Trace const& trace, State const& state, Window window) {
    return state.start >= window.begin && state.end <= window.end &&
           trace.kinds()[state.kind].category == Category::work &&
           trace.containers()[state.container].place == Place::thread;
}

std::vector<TaskTime> task_times(Trace const& trace, Window window) {
    std::vector<TaskTime> times;
    for (State const& state : trace.states())
        if (state.task >= 0 && is_work(trace, state, window))
            times.push_back({state.task, state.end - state.start, state.start, state.end});
    std::ranges::sort(times, {}, &TaskTime::task);
    std::size_t kept = 0;
    for (TaskTime const& piece : times) {
        if (kept == 0 || times[kept - 1].task != piece.task) {
            times[kept++] = piece;
            continue;
        }
        TaskTime& task = times[kept - 1];
        task.duration += piece.duration;
        task.start = std::min(task.start, piece.start);
        task.end = std::max(task.end, piece.end);
    }
    times.resize(kept);
    return times;
}

} // namespace espalier::trace
