// The network between the hosts of tools/cluster-in-a-box on kernels without netem: a switch, a link of a
// given rate in each direction for each host, and a latency between hosts. Input: the latency, the rate, and
// an open TUN device for each host (with the header that allows omitting checksums). The address of host h
// ends in h. Output: each frame in the device of the host that it is addressed to, at the time
//
//     sent    = max(now, sender's link is free) + bytes / rate
//     arrives = max(sent + latency - bytes / rate, receiver's link is free) + bytes / rate
//
// so a frame on an idle network takes bytes / rate + latency, as under netem. Frames for a busy link wait in
// the queue of the sender's device, like in a network card. Between frames the process sleeps. It answers
// each line on standard input with a line of counters, and ends at the end of standard input.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace {

using Nanoseconds = std::int64_t;

constexpr std::size_t header_bytes = 10; // struct virtio_net_hdr
constexpr std::size_t frame_bytes = header_bytes + 65536;
constexpr std::size_t receiver_queue_bytes = std::size_t{64}
                                             << 20; // Further frames are dropped, as by a switch.
constexpr Nanoseconds ahead = 50'000;               // Frames are read this long before their link is free.

Nanoseconds clock_now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * Nanoseconds{1'000'000'000} + t.tv_nsec;
}

using Buffer = std::unique_ptr<unsigned char[]>;

struct Frame {
    Nanoseconds arrives = 0;
    std::size_t size = 0; // With the header.
    Buffer data;
};

struct Host {
    int device = -1;
    Nanoseconds up_free = 0, down_free = 0; // Times at which the link becomes free in each direction.
    std::deque<Frame> arriving;             // In the order of `arrives`.
    std::size_t arriving_bytes = 0;
};

struct Counts {
    std::uint64_t frames = 0, bytes = 0, dropped = 0;
    double late_sum = 0;       // Sum of the delays of frames beyond their arrival times, in nanoseconds.
    Nanoseconds late_most = 0; // Largest delay since the last report.
};

class Relay {
  public:
    Relay(Nanoseconds latency, double bits_per_s, std::vector<int> const& devices)
        : latency_(latency), ns_per_byte_(8e9 / bits_per_s), hosts_(devices.size()) {
        for (std::size_t h = 0; h < devices.size(); ++h) hosts_[h].device = devices[h];
    }

    /// Returns at the end of standard input.
    void run() {
        std::vector<pollfd> polled(hosts_.size() + 1);
        polled.back() = {STDIN_FILENO, POLLIN, 0};
        do {
            while (deliver() | take()) {
            }
        } while (sleep(polled));
    }

  private:
    /// Delivers one due frame to each host. Returns whether there was any.
    bool deliver() {
        bool any = false;
        for (Host& host : hosts_) {
            Nanoseconds const now = clock_now();
            if (host.arriving.empty() || host.arriving.front().arrives > now) continue;
            Frame frame = std::move(host.arriving.front());
            host.arriving.pop_front();
            host.arriving_bytes -= frame.size;
            any = true;
            counts_.late_sum += static_cast<double>(now - frame.arrives);
            counts_.late_most = std::max(counts_.late_most, now - frame.arrives);
            if (write(host.device, frame.data.get(), frame.size) == static_cast<ssize_t>(frame.size)) {
                ++counts_.frames;
                counts_.bytes += frame.size - header_bytes;
            } else {
                ++counts_.dropped;
            }
            spare_.push_back(std::move(frame.data));
        }
        return any;
    }

    /// Reads one frame from each host whose link is free. Returns whether there was any.
    bool take() {
        bool any = false;
        for (Host& host : hosts_) {
            if (host.up_free > clock_now() + ahead) continue;
            if (spare_.empty())
                spare_.push_back(std::make_unique_for_overwrite<unsigned char[]>(frame_bytes));
            ssize_t const size = read(host.device, spare_.back().get(), frame_bytes);
            if (size <= 0) continue;
            any = true;
            Frame frame{0, static_cast<std::size_t>(size), std::move(spare_.back())};
            spare_.pop_back();
            pass_on(host, std::move(frame));
        }
        return any;
    }

    void pass_on(Host& sender, Frame frame) {
        unsigned char const* const packet = frame.data.get() + header_bytes;
        // The host number is the last byte of the IPv4 destination. There is no other traffic.
        bool const is_ipv4 = frame.size >= header_bytes + 20 && packet[0] >> 4 == 4;
        std::size_t const number = is_ipv4 ? packet[19] : 0u;
        if (number < 1 || number > hosts_.size()) return spare_.push_back(std::move(frame.data));

        auto const on_wire =
            static_cast<Nanoseconds>(ns_per_byte_ * static_cast<double>(frame.size - header_bytes));
        sender.up_free = std::max(clock_now(), sender.up_free) + on_wire;
        Host& receiver = hosts_[number - 1];
        if (receiver.arriving_bytes + frame.size > receiver_queue_bytes) {
            ++counts_.dropped;
            return spare_.push_back(std::move(frame.data));
        }
        receiver.down_free = std::max(sender.up_free + latency_ - on_wire, receiver.down_free) + on_wire;
        frame.arrives = receiver.down_free;
        receiver.arriving_bytes += frame.size;
        receiver.arriving.push_back(std::move(frame));
    }

    /// Sleeps until a frame is due, a frame can be read, or a request arrives. Returns false at the end of
    /// standard input.
    bool sleep(std::vector<pollfd>& polled) {
        Nanoseconds const now = clock_now();
        Nanoseconds next = std::numeric_limits<Nanoseconds>::max();
        for (std::size_t h = 0; h < hosts_.size(); ++h) {
            Host const& host = hosts_[h];
            bool const link_is_taken = host.up_free > now + ahead;
            polled[h] = {link_is_taken ? -1 : host.device, POLLIN, 0};
            if (link_is_taken) next = std::min(next, host.up_free - ahead);
            if (!host.arriving.empty()) next = std::min(next, host.arriving.front().arrives);
        }
        Nanoseconds const wait = std::max<Nanoseconds>(next - now, 0);
        timespec const timeout{wait / 1'000'000'000, wait % 1'000'000'000};
        bool const forever = next == std::numeric_limits<Nanoseconds>::max();
        if (ppoll(polled.data(), polled.size(), forever ? nullptr : &timeout, nullptr) < 0 && errno != EINTR)
            return false;
        return polled.back().revents == 0 || answer();
    }

    bool answer() {
        char line[64];
        if (read(STDIN_FILENO, line, sizeof line) <= 0) return false;
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        auto const seconds = [](timeval t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        std::printf("{\"frames\": %ju, \"bytes\": %ju, \"dropped\": %ju, \"late_sum_s\": %.9f, "
                    "\"late_most_s\": %.9f, "
                    "\"cpu_s\": %.6f}\n",
                    std::uintmax_t{counts_.frames}, std::uintmax_t{counts_.bytes},
                    std::uintmax_t{counts_.dropped}, 1e-9 * counts_.late_sum,
                    1e-9 * static_cast<double>(counts_.late_most),
                    seconds(used.ru_utime) + seconds(used.ru_stime));
        counts_.late_most = 0;
        return std::fflush(stdout) == 0;
    }

    Nanoseconds latency_;
    double ns_per_byte_;
    std::vector<Host> hosts_;
    std::vector<Buffer> spare_; // A stack, because the last used buffer is in cache.
    Counts counts_;
};

} // namespace

int main(int argc, char** argv) {
    double const latency_ns = argc > 2 ? std::atof(argv[1]) : -1,
                 bits_per_s = argc > 2 ? std::atof(argv[2]) : 0;
    if (argc < 4 || !(latency_ns >= 0 && latency_ns <= 1e10) || !(bits_per_s >= 1e3 && bits_per_s <= 1e15)) {
        std::fputs("usage: link_relay LATENCY_NS BITS_PER_S DEVICE_FD...\n", stderr);
        return 2;
    }
    std::vector<int> devices;
    for (int i = 3; i < argc; ++i) {
        devices.push_back(std::atoi(argv[i]));
        int const flags = fcntl(devices.back(), F_GETFL);
        if (flags < 0 || fcntl(devices.back(), F_SETFL, flags | O_NONBLOCK) < 0) {
            std::fprintf(stderr, "link_relay: %s is not an open file descriptor\n", argv[i]);
            return 2;
        }
    }
    // A real network does not wait for a core, so the relay has priority over all programs of the hosts and
    // wakes with a precision of a microsecond. It also works without the necessary rights; its counters show
    // the delays.
    sched_param const first{1};
    sched_setscheduler(0, SCHED_FIFO, &first);
    prctl(PR_SET_TIMERSLACK, 1UL);
    Relay(static_cast<Nanoseconds>(latency_ns), bits_per_s, devices).run();
    return 0;
}
