// Traces as files in the Paje format (de Kergommeaux, Stein 2000; Schnorr, "Paje Trace File Format", 2016),
// which ViTE and pajeng read. Each line is an event, and lines are sorted by time. Times are microseconds
// with three digits after the point, so that nanoseconds survive.
//
// The format has no fields for some properties; they are written so that every reader accepts them. Level,
// task and cblk are extra fields of PajeSetState. The category of a kind, the unit of a variable, and the
// bytes, tag and distance of a link are extra fields, too. Metadata and dependencies are PajeNewEvent events
// of the machine, of the types "Info"
// ("key = value") and "After" ("task before before ...; task before ...").
//
// A thread has two types of states, "Level" and then "State", and is always in one of each; "none" marks time
// without a record. ViTE shows the type that is set last, which is the kind.
#pragma once

#include <functional>
#include <string_view>

#include "trace/trace.hpp"

namespace espalier::trace {

/// Receives the text in pieces of about 64 KiB.
using Sink = std::function<void(std::string_view)>;

/// Writes the whole trace. The additional memory is proportional to the number of links. Exceptions of the
/// sink are passed on.
void write_paje(Trace const& trace, Sink const& sink);

} // namespace espalier::trace
