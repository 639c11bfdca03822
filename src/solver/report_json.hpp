// The report as one line of JSON.
#pragma once

#include <string>
#include <vector>

#include "espalier/report.hpp"

namespace espalier {

/// Fields named "a.b" become members of an object "a" and must be consecutive. A number that is not finite
/// becomes null.
std::string to_json(std::vector<ReportField> const& fields);

} // namespace espalier
