#include "core/id_limit.hpp"

#include <fmt/format.h>

namespace espalier {

void reject_count(std::int64_t count, char const* things, char const* remedy) {
    throw Error(Status::unsupported,
                fmt::format("{} {} exceed the limit of {}; {}", count, things, most_ids.load(), remedy));
}

} // namespace espalier
