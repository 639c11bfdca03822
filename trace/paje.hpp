// Traces as files in the Pajé format (de Kergommeaux, Stein 2000; Schnorr, "Paje Trace File Format", 2016),
// which ViTE and pajeng read. One event a line, sorted by time; times are microseconds with three digits
// after the point, so that nanoseconds survive.
//
// What the format has no word for is carried so that every reader accepts it: level, task and cblk are extra
// fields of PajeSetState; a kind's category, a variable's unit and a link's bytes, tag and distance likewise;
// metadata and dependencies are PajeNewEvent events of the machine, of types "Info" ("key = value") and
// "After" ("task before before ...; task before ...").
//
// A thread has two types of states, "Level" and then "State", and is never without one: "none" is where
// nothing was recorded. ViTE shows the one set last, so the kinds; `levels_on_top` turns this around.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace espalier::trace {

/// Takes the text in pieces of some 64 KiB.
using Sink = std::function<void(std::string_view)>;

struct PajeWriteOptions {
    bool levels_on_top = false;
};

/// Writes the whole trace. Memory is needed for the links only. What the sink throws comes out.
void write_paje(Trace const& trace, Sink const& sink, PajeWriteOptions options = {});

struct PajeReadOptions {
    /// What one unit of time is; Espalier writes microseconds, which is also what it reads when a file says
    /// so.
    double nanoseconds_per_unit = 1000;
    std::int64_t max_events = 200'000'000;
};

/// Reads a file, compressed by gzip or not: one that write_paje() wrote, or another program's. Fields are
/// found by the definitions at the head of the file, whatever their order; events that mean nothing here
/// are passed over. Of several types of states in a container the first one counts.
/// Error{io_error} naming the file; Error{bad_input} naming file and line of what cannot be understood: an
/// event without definition, a name never declared, a number that is none, time that runs backwards.
Trace read_paje(std::string const& path, PajeReadOptions options = {});

} // namespace espalier::trace
