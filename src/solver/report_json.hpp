// The report as one line of JSON.
#pragma once

#include <string>
#include <vector>

#include "espalier/report.hpp"

namespace espalier {

/// Fields named "a.b" become members of an object "a"; those of one object must follow each other. A number
/// that is not finite is null.
std::string to_json(std::vector<ReportField> const& fields);

} // namespace espalier
