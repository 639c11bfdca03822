// Recording of a run. Each thread writes events of 32 bytes into its own chunks of memory, without locks. It
// allocates the next chunk between tasks, never while a task runs. When all threads are idle, the events are
// converted to the parts of a trace.
//
//     Recorder recorder({.process = rank, .processes = size, .metadata = {{"matrix", "lap3d:40"}}});
//     Track& track = recorder.add_thread({.worker = w, .node = node});   // on the thread itself
//     for (...) {
//         track.between_tasks();
//         Scope scope(&track, Kind::update, {.task = t, .cblk = k, .level = depth});
//         ...
//     }
//     Trace trace(recorder.collect());                                   // merge() joins several processes
//
// A null Track* records nothing and costs one branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trace/clock.hpp"
#include "trace/kinds.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

/// The properties of a state besides its kind and time; -1 if unknown.
struct StateInfo {
    std::int64_t task = -1;
    std::int32_t cblk = -1;
    std::int32_t level = -1;
};

struct ThreadInfo {
    int worker = -1;    ///< The number of a worker; -1 for a communication thread.
    int node = 0;       ///< The NUMA node, numbered within the process.
    std::string name{}; ///< If empty, "T<worker>", or "C<n>" for the n-th communication thread.
};

/// Adds one of `processes` with its NUMA nodes and threads to the containers. Returns the container of each
/// thread, and that of the process at the end. The names are "P0", "N0" and "T0", or "P0", "P0N0" and "P0T0"
/// if there are several processes. Processes of one machine share its container.
std::vector<std::int32_t> add_process(std::vector<Container>& containers, int process, int processes,
                                      std::vector<ThreadInfo> const& threads,
                                      std::string const& machine = "machine");

class Recorder;

/// The record of one thread, or of the phases of a process. Only the owner may call its members.
class alignas(64) Track {
  public:
    Track(Track const&) = delete;
    Track& operator=(Track const&) = delete;

    /// Records a state from `start` to `end`, both from ticks(). States may be nested.
    void state(Kind kind, Ticks start, Ticks end, StateInfo info = {}) noexcept {
        write({start, end, info.task, info.cblk, static_cast<std::int16_t>(kind),
               static_cast<std::int16_t>(info.level < max_level ? info.level : max_level)});
    }
    /// Records that a task was stolen from the queue of worker `victim`. `distance` is in the unit of the
    /// policy.
    void steal(int victim, std::int64_t task, int distance) noexcept {
        write({ticks(), static_cast<Ticks>(distance), task, victim, code_steal, 0});
    }
    /// Records a message to process `to`, or from process `from`. Messages between two processes are matched
    /// by their tags, and in order if tags are equal.
    void sent(int to, std::int64_t tag, std::int64_t bytes, Ticks when) noexcept {
        write({when, static_cast<Ticks>(bytes), tag, to, code_sent, 0});
    }
    void received(int from, std::int64_t tag, std::int64_t bytes) noexcept {
        write({ticks(), static_cast<Ticks>(bytes), tag, from, code_received, 0});
    }
    /// Records the value of a counter from now on, for the process or NUMA node of this thread.
    void sample(Counter counter, std::int64_t value) noexcept {
        write({ticks(), static_cast<Ticks>(value), 0, static_cast<std::int32_t>(counter), code_sample, 0});
    }

    /// Allocates the next chunk if necessary; to be called between tasks. Events without memory are dropped
    /// and counted.
    void between_tasks() noexcept {
        if (!spare_) [[unlikely]]
            take_spare();
    }

  private:
    friend class Recorder;
    static constexpr int max_level = 32767;
    static constexpr std::int16_t code_steal = -1, code_sent = -2, code_received = -3, code_sample = -4;

    struct Event {
        Ticks start;
        Ticks end;         ///< Or bytes, distance, value.
        std::int64_t task; ///< Or tag.
        std::int32_t cblk; ///< Or victim, peer, counter.
        std::int16_t code; ///< A Kind, or one of the codes above.
        std::int16_t level;
    };
    static_assert(sizeof(Event) == 32);
    struct Chunk {
        static constexpr std::size_t size = 8192;
        Event events[size];
        std::unique_ptr<Chunk> before;
    };

    Track(Recorder& recorder, ThreadInfo info) : recorder_(recorder), info_(std::move(info)) {}
    ~Track();
    void write(Event const& event) noexcept {
        if (next_ == end_) [[unlikely]]
            if (!next_chunk()) return;
        *next_++ = event;
    }
    bool next_chunk() noexcept;
    void take_spare() noexcept;
    void clear() noexcept;

    Event* next_ = nullptr;
    Event* end_ = nullptr;
    std::unique_ptr<Chunk> chunk_; ///< The current chunk, the head of a list of full ones.
    std::unique_ptr<Chunk> spare_;
    std::int64_t dropped_ = 0;
    bool refused_ = false; ///< No memory is left.
    Recorder& recorder_;
    ThreadInfo info_;
};

/// Records a state during its lifetime.
class Scope {
  public:
    Scope(Track* track, Kind kind, StateInfo info = {}) noexcept : track_(track), kind_(kind), info_(info) {
        if (track_) start_ = ticks();
    }
    ~Scope() {
        if (track_) track_->state(kind_, start_, ticks(), info_);
    }
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;

  private:
    Track* track_;
    Kind kind_;
    StateInfo info_;
    Ticks start_ = 0;
};

/// The recorder of a process.
class Recorder {
  public:
    struct Options {
        int process = 0;
        int processes = 1;
        std::string machine = "machine";   ///< Processes of one machine are in one container.
        std::size_t max_bytes = 512 << 20; ///< The memory of all events, of 32 bytes each.
        std::map<std::string, std::string> metadata{};
    };

    explicit Recorder(Options options);
    ~Recorder();
    Recorder(Recorder const&) = delete;
    Recorder& operator=(Recorder const&) = delete;

    /// The track of a thread, which is created unless the worker has one. The thread should call this itself,
    /// so that its NUMA node holds its first chunks. Thread-safe. The reference stays valid.
    Track& add_thread(ThreadInfo info);
    /// The track of a worker, or null. Must not run concurrently with add_thread().
    [[nodiscard]] Track* worker(int number) const noexcept;
    /// The track of the process, for phases and memory, without messages and steals. Not thread-safe.
    [[nodiscard]] Track& phases() noexcept {
        tracks_.front()->between_tasks();
        return *tracks_.front();
    }

    /// Reserves numbers for the tasks of a graph, and returns the first of them.
    std::int64_t reserve_tasks(std::int64_t count) noexcept;
    /// Records the dependencies of tasks for the critical path, before or after the run.
    void add_dependencies(std::vector<Dependency> const& dependencies);
    void set_metadata(std::string const& key, std::string const& value);

    /// Sets time zero of the trace, as a value of steady_now() of this process; by default the construction
    /// of the recorder. The clocks of several processes are aligned later (clock_offset.hpp).
    void set_zero(Nanoseconds zero) noexcept { zero_ = zero; }
    [[nodiscard]] Nanoseconds zero() const noexcept { return zero_; }

    /// Converts the record to parts of a trace, and empties the recorder, which can be used again. No thread
    /// may record meanwhile, and the caller must have synchronized with all of them.
    TraceParts collect();

  private:
    friend class Track;
    std::unique_ptr<Track::Chunk> allocate() noexcept;
    [[nodiscard]] std::vector<std::int32_t> place_tracks(TraceParts& parts) const;
    void translate(Track const& track, std::int32_t container, ClockConversion const& clock,
                   std::vector<std::int32_t> const& container_of_worker, TraceParts& parts) const;

    struct DeleteTrack {
        void operator()(Track* track) const { delete track; }
    };
    Options options_;
    ClockReading first_reading_;
    Nanoseconds zero_;
    std::atomic<std::size_t> bytes_{0};
    std::atomic<std::int64_t> tasks_{0};
    std::mutex mutex_; ///< Guards tracks_ while threads are added, and the members below.
    std::vector<std::unique_ptr<Track, DeleteTrack>> tracks_; ///< The first belongs to the process.
    std::vector<Track*> workers_;
    std::vector<Dependency> dependencies_;
};

} // namespace espalier::trace
