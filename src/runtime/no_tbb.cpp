// A build without oneTBB.
#include "runtime/other_runtime.hpp"

namespace espalier {

std::unique_ptr<OtherRuntime> make_tbb_tasks(int /*threads*/) {
    return nullptr;
}

} // namespace espalier
