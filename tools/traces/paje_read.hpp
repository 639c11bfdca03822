// Traces from files in the Paje format, written by write_paje() or by other programs.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace espalier::trace {

/// Reads a file, which may be compressed by gzip. One unit of time is a microsecond. The definitions at the
/// head of the file give the order of the fields; unknown events are skipped. If a container has several
/// types of states, the first one is read. Error{io_error} names the file. Error{bad_input} names the file
/// and the line of an event without a definition, an undefined name, a wrong number, or decreasing time.
Trace read_paje(std::string const& path);

} // namespace espalier::trace
