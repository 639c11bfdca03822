// A lack of memory.
#pragma once

#include <fstream>

#include <sys/resource.h>

namespace espalier {

/// Limits the address space to a little more than is in use.
class LittleMemory {
  public:
    explicit LittleMemory(std::size_t more) {
        getrlimit(RLIMIT_AS, &before_);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit limit = before_;
        limit.rlim_cur = pages * 4096 + more;
        setrlimit(RLIMIT_AS, &limit);
    }
    ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }
    LittleMemory(LittleMemory const&) = delete;
    LittleMemory& operator=(LittleMemory const&) = delete;

  private:
    rlimit before_;
};

} // namespace espalier
