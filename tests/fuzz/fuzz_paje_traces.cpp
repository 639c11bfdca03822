// Fuzzes the reader of traces in the Paje format, and the statistics of the traces that it accepts.
#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "tolerate.hpp"
#include "tools/traces/paje_read.hpp"
#include "tools/traces/statistics.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace espalier;
    static int const file = ::memfd_create("trace", 0);
    static std::string const path = "/proc/self/fd/" + std::to_string(file);
    if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
        std::abort();
    fuzz::tolerate([] {
        trace::Trace const found = trace::read_paje(path);
        trace::Window const window = trace::whole(found);
        (void)trace::to_text(found, trace::statistics(found, window));
        (void)trace::to_text(found, trace::critical_path(found, window));
        (void)trace::to_text(trace::compare(found, found));
    });
    return 0;
}
