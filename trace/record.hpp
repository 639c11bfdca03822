// Recording of a run. Each thread writes 32-byte events into chunks of memory that only it touches: no lock,
// and no allocation while a task runs, as the next chunk is taken between tasks. When all threads have
// come to rest, the events become the parts of a trace.
//
//     Recorder recorder({.process = rank, .processes = size, .metadata = {{"matrix", "lap3d:40"}}});
//     Track& track = recorder.add_thread({.worker = w, .node = node});   // on the thread itself
//     for (...) {
//         track.between_tasks();
//         Scope scope(&track, Kind::update, {.task = t, .cblk = k, .level = depth});
//         ...
//     }
//     Trace trace(recorder.collect());                                   // or merge() of several processes'
//
// A null Track* records nothing, for the price of one branch.
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

/// What is known of a state besides its kind and time; -1 for what is not.
struct StateInfo {
    std::int64_t task = -1;
    std::int32_t cblk = -1;
    std::int32_t level = -1;
};

struct ThreadInfo {
    int worker = -1;    ///< Number of a worker, by which thieves name it; -1 for a progress thread.
    int node = 0;       ///< NUMA node, numbered within the process.
    std::string name{}; ///< "T<worker>" when empty, and "C<n>" for the n-th progress thread.
};

/// Adds a process of a run of `processes` to the containers, with its NUMA nodes and threads: for each of
/// `threads` its container, and that of the process at the end. Names are those of every trace: "P0", and in
/// it "N0" and "T0", or "P0N0" and "P0T0" where there are several processes. Processes of the same machine
/// share it.
std::vector<std::int32_t> add_process(std::vector<Container>& containers, int process, int processes,
                                      std::vector<ThreadInfo> const& threads,
                                      std::string const& machine = "machine");

class Recorder;

/// What one thread records, or the phases of a process. Every member is for the thread that owns it.
class alignas(64) Track {
  public:
    Track(Track const&) = delete;
    Track& operator=(Track const&) = delete;

    /// The thread was in this state from `start` to `end`, both from ticks(). States may lie inside one
    /// another.
    void state(Kind kind, Ticks start, Ticks end, StateInfo info = {}) noexcept {
        write({start, end, info.task, info.cblk, static_cast<std::int16_t>(kind),
               static_cast<std::int16_t>(info.level < max_level ? info.level : max_level)});
    }
    /// A task was taken from the queue of worker `victim`; `distance` is in the policy's own unit.
    void steal(int victim, std::int64_t task, int distance) noexcept {
        write({ticks(), static_cast<Ticks>(distance), task, victim, code_steal, 0});
    }
    /// A message left for process `to`, or came in from process `from`. Tags name the message among those
    /// of the two processes; those with the same tag are matched in order.
    void sent(int to, std::int64_t tag, std::int64_t bytes) noexcept { sent(to, tag, bytes, ticks()); }
    void sent(int to, std::int64_t tag, std::int64_t bytes, Ticks when) noexcept {
        write({when, static_cast<Ticks>(bytes), tag, to, code_sent, 0});
    }
    void received(int from, std::int64_t tag, std::int64_t bytes) noexcept {
        write({ticks(), static_cast<Ticks>(bytes), tag, from, code_received, 0});
    }
    /// A counter has this value from now on, on the process or NUMA node of this thread.
    void sample(Counter counter, std::int64_t value) noexcept {
        write({ticks(), static_cast<Ticks>(value), 0, static_cast<std::int32_t>(counter), code_sample, 0});
    }

    /// To be called between tasks: takes the memory that will be needed next. What finds no room is dropped
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
    std::unique_ptr<Chunk> chunk_; ///< The one that is written; leads to those that are full.
    std::unique_ptr<Chunk> spare_;
    std::int64_t dropped_ = 0;
    bool refused_ = false; ///< The memory is used up; no use in asking again.
    Recorder& recorder_;
    ThreadInfo info_;
};

/// Records a state from its construction to its destruction.
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

/// One in a process.
class Recorder {
  public:
    struct Options {
        int process = 0;
        int processes = 1;
        std::string machine = "machine"; ///< Processes of the same one stand under one container.
        std::size_t max_bytes = std::size_t(512) << 20; ///< Of events; 32 bytes each.
        std::map<std::string, std::string> metadata{};
    };

    explicit Recorder(Options options);
    ~Recorder();
    Recorder(Recorder const&) = delete;
    Recorder& operator=(Recorder const&) = delete;

    /// A track for a thread; best called by the thread itself, whose NUMA node then holds its first chunks.
    /// Any thread at any time. The reference stays valid. A worker that is already known gets its track.
    Track& add_thread(ThreadInfo info);
    /// The track of a worker, or null when it has none. Not while others call add_thread().
    [[nodiscard]] Track* worker(int number) const noexcept;
    /// The track of the process itself, for phases and memory; it has no messages and steals. For one thread
    /// at a time.
    [[nodiscard]] Track& phases() noexcept {
        tracks_.front()->between_tasks();
        return *tracks_.front();
    }

    /// Numbers for the tasks of a graph: 0 .. count-1 are to be shifted by what is returned.
    std::int64_t reserve_tasks(std::int64_t count) noexcept;
    /// Which task waits for which; for the critical path. Before or after the run.
    void add_dependencies(std::vector<Dependency> const& dependencies);
    void set_metadata(std::string const& key, std::string const& value);

    /// Time zero of the trace is when this process's steady_now() was `zero`; by default when the recorder
    /// was made. Processes whose clocks differ are brought together later (clock_offset.hpp).
    void set_zero(Nanoseconds zero) noexcept { zero_ = zero; }
    [[nodiscard]] Nanoseconds zero() const noexcept { return zero_; }

    /// All that was recorded, as parts of a trace; the recorder is then empty and records on. No other
    /// thread may record meanwhile, and what they recorded must be visible to the caller.
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
    std::mutex mutex_; ///< Of tracks_ while threads are added, and of what follows.
    std::vector<std::unique_ptr<Track, DeleteTrack>> tracks_; ///< The first is that of the process.
    std::vector<Track*> workers_;
    std::vector<Dependency> dependencies_;
};

} // namespace espalier::trace
