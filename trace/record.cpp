#include "trace/record.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

// Releases a list of chunks in a loop; the destructors would recurse as deep as the list is long.
template <class Chunk> void release(std::unique_ptr<Chunk>& chunk) noexcept {
    while (chunk) chunk = std::move(chunk->before);
}

// add_process() puts the process after the machine.
constexpr std::int32_t process_container = 1;

std::int32_t add_container(std::vector<Container>& containers, std::string name, Place place,
                           std::int32_t parent) {
    containers.push_back({std::move(name), place, parent});
    return static_cast<std::int32_t>(containers.size()) - 1;
}

} // namespace

// The threads of a node are its workers in ascending order, and then its communication threads.
std::vector<std::int32_t> add_process(std::vector<Container>& containers, int process, int processes,
                                      std::vector<ThreadInfo> const& threads, std::string const& machine) {
    auto const known =
        std::find(containers.begin(), containers.end(), Container{machine, Place::machine, -1});
    auto const parent = static_cast<std::int32_t>(known - containers.begin());
    if (known == containers.end()) add_container(containers, machine, Place::machine, -1);
    std::string const name = fmt::format("P{}", process);
    std::string const prefix = processes > 1 ? name : "";
    std::vector<std::int32_t> result(threads.size() + 1);
    result.back() = add_container(containers, name, Place::process, parent);

    std::vector<int> order(threads.size());
    std::iota(order.begin(), order.end(), 0);
    auto const rank = [&](int t) {
        return std::make_tuple(threads[t].node, threads[t].worker < 0, threads[t].worker, t);
    };
    std::ranges::sort(order, {}, rank);

    int node_number = 0;
    int progress_threads = 0;
    std::int32_t node = -1;
    for (int const t : order) {
        ThreadInfo const& thread = threads[t];
        if (node < 0 || thread.node != node_number) {
            node_number = thread.node;
            node = add_container(containers, fmt::format("{}N{}", prefix, node_number), Place::node,
                                 result.back());
        }
        std::string own = thread.name;
        if (own.empty())
            own = thread.worker >= 0 ? fmt::format("T{}", thread.worker)
                                     : fmt::format("C{}", progress_threads++);
        result[t] = add_container(containers, prefix + own, Place::thread, node);
    }
    return result;
}

Track::~Track() {
    release(chunk_);
}

bool Track::next_chunk() noexcept {
    if (!spare_) {
        ++dropped_;
        return false;
    }
    spare_->before = std::move(chunk_);
    chunk_ = std::move(spare_);
    next_ = chunk_->events;
    end_ = next_ + Chunk::size;
    return true;
}

void Track::take_spare() noexcept {
    if (refused_) return;
    spare_ = recorder_.allocate();
    refused_ = spare_ == nullptr;
}

void Track::clear() noexcept {
    if (chunk_) release(chunk_->before);
    next_ = chunk_ ? chunk_->events : nullptr;
    dropped_ = 0;
    refused_ = false;
}

Recorder::Recorder(Options options)
    : options_(std::move(options)), first_reading_(ClockReading::take()), zero_(first_reading_.nanoseconds) {
    if (options_.process < 0 || options_.process >= options_.processes)
        throw Error(Status::usage,
                    fmt::format("trace: process {} is not one of {}", options_.process, options_.processes));
    options_.metadata.try_emplace("origin", "measured");
    tracks_.emplace_back(new Track(*this, {}));
    tracks_.front()->between_tasks();
}

Recorder::~Recorder() = default;

Track& Recorder::add_thread(ThreadInfo info) {
    std::lock_guard const lock(mutex_);
    if (Track* const known = worker(info.worker)) return *known;
    auto const number = info.worker;
    tracks_.emplace_back(new Track(*this, std::move(info)));
    Track& track = *tracks_.back();
    track.take_spare();
    if (track.spare_) track.next_chunk();
    track.take_spare();
    if (number >= 0) {
        if (number >= std::ssize(workers_)) workers_.resize(number + 1, nullptr);
        workers_[number] = &track;
    }
    return track;
}

Track* Recorder::worker(int number) const noexcept {
    return number >= 0 && number < std::ssize(workers_) ? workers_[number] : nullptr;
}

std::int64_t Recorder::reserve_tasks(std::int64_t count) noexcept {
    return tasks_.fetch_add(count, std::memory_order_relaxed);
}

void Recorder::add_dependencies(std::vector<Dependency> const& dependencies) {
    std::lock_guard const lock(mutex_);
    dependencies_.insert(dependencies_.end(), dependencies.begin(), dependencies.end());
}

void Recorder::set_metadata(std::string const& key, std::string const& value) {
    std::lock_guard const lock(mutex_);
    options_.metadata[key] = value;
}

// The chunk is zeroed, so that its pages are touched here and not while tasks run.
std::unique_ptr<Track::Chunk> Recorder::allocate() noexcept {
    if (bytes_.fetch_add(sizeof(Track::Chunk), std::memory_order_relaxed) + sizeof(Track::Chunk) >
        options_.max_bytes) {
        bytes_.fetch_sub(sizeof(Track::Chunk), std::memory_order_relaxed);
        return nullptr;
    }
    std::unique_ptr<Track::Chunk> chunk(new (std::nothrow) Track::Chunk());
    if (!chunk) bytes_.fetch_sub(sizeof(Track::Chunk), std::memory_order_relaxed);
    return chunk;
}

std::vector<std::int32_t> Recorder::place_tracks(TraceParts& parts) const {
    std::vector<ThreadInfo> threads;
    for (std::size_t t = 1; t < tracks_.size(); ++t) threads.push_back(tracks_[t]->info_);
    auto placed =
        add_process(parts.containers, options_.process, options_.processes, threads, options_.machine);
    std::rotate(placed.begin(), placed.end() - 1, placed.end()); // the track of the process comes first
    return placed;
}

void Recorder::translate(Track const& track, std::int32_t container, ClockConversion const& clock,
                         std::vector<std::int32_t> const& container_of_worker, TraceParts& parts) const {
    std::vector<std::pair<Track::Event const*, Track::Event const*>> pieces; // from the newest to the oldest
    for (Track::Chunk const* chunk = track.chunk_.get(); chunk; chunk = chunk->before.get())
        pieces.emplace_back(chunk->events, pieces.empty() ? track.next_ : chunk->events + Track::Chunk::size);
    std::int32_t const node = parts.containers[container].parent;
    bool const is_thread = container != process_container;

    auto const add = [&](Track::Event const& event) {
        Nanoseconds const time = clock(event.start) - zero_;
        auto const number = static_cast<std::int64_t>(event.end);
        switch (event.code) {
        case Track::code_steal:
            if (is_thread && event.cblk >= 0 && event.cblk < std::ssize(container_of_worker) &&
                container_of_worker[event.cblk] >= 0)
                parts.links.push_back({time, time, 0, event.task, container_of_worker[event.cblk], container,
                                       static_cast<std::int32_t>(number), LinkKind::steal});
            break;
        case Track::code_sent:
        case Track::code_received: {
            if (!is_thread) break;
            bool const sent = event.code == Track::code_sent;
            parts.message_ends.push_back({time, number, event.task, sent ? options_.process : event.cblk,
                                          sent ? event.cblk : options_.process, container, sent});
            break;
        }
        case Track::code_sample: {
            Place const place = parts.variables[event.cblk].place;
            std::int32_t const where = place == Place::node ? node : process_container;
            if (parts.containers[where].place == place)
                parts.samples.push_back({time, static_cast<double>(number), where, event.cblk});
            break;
        }
        default:
            parts.states.push_back({time, clock(event.end) - zero_, event.task, event.cblk, container,
                                    event.code, event.level, false});
        }
    };
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
        for (auto const* event = piece->first; event != piece->second; ++event) add(*event);
}

TraceParts Recorder::collect() {
    std::lock_guard const lock(mutex_);
    // The rate of the counter cannot be derived from readings that are too close.
    constexpr Nanoseconds enough = 10'000'000;
    Nanoseconds const age = steady_now() - first_reading_.nanoseconds;
    if (age < enough) std::this_thread::sleep_for(std::chrono::nanoseconds(enough - age));
    ClockConversion const clock(first_reading_, ClockReading::take());

    TraceParts parts;
    parts.metadata = options_.metadata;
    parts.kinds = standard_kinds();
    parts.variables = standard_variables();
    std::vector<std::int32_t> const container_of_track = place_tracks(parts);
    std::vector<std::int32_t> container_of_worker(workers_.size(), -1);
    for (std::size_t t = 1; t < tracks_.size(); ++t)
        if (int const worker = tracks_[t]->info_.worker; worker >= 0)
            container_of_worker[worker] = container_of_track[t];

    for (std::size_t t = 0; t < tracks_.size(); ++t) {
        translate(*tracks_[t], container_of_track[t], clock, container_of_worker, parts);
        parts.dropped_events += tracks_[t]->dropped_;
        tracks_[t]->clear();
    }
    parts.dependencies = std::exchange(dependencies_, {});
    std::size_t held = 0;
    for (auto const& track : tracks_) held += (track->chunk_ ? 1 : 0) + (track->spare_ ? 1 : 0);
    bytes_.store(held * sizeof(Track::Chunk), std::memory_order_relaxed);
    return parts;
}

} // namespace espalier::trace
