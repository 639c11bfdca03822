#include "comm/run_failure.hpp"

#include <exception>
#include <new>

namespace espalier {

Error current_error() {
    try {
        throw;
    } catch (Error const& e) {
        return e;
    } catch (std::bad_alloc const&) {
        return {Status::out_of_memory, "out of memory"};
    } catch (std::exception const& e) {
        return {Status::internal, e.what()};
    } catch (...) {
        return {Status::internal, "an exception of unknown type"};
    }
}

} // namespace espalier
