// A reference to a function object, as an argument of functions that are compiled once for all callers.
// Unlike std::function, it takes no memory and so cannot fail. The function object must outlive it.
#pragma once

namespace espalier {

template <class Signature> class FunctionRef;

template <class Result, class... Arguments> class FunctionRef<Result(Arguments...)> {
  public:
    template <class Function>
    FunctionRef(Function const& function) // NOLINT: implicit, because callers pass lambdas
        : function_(&function), call_([](void const* of, Arguments... arguments) -> Result {
              return (*static_cast<Function const*>(of))(arguments...);
          }) {}
    Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

  private:
    void const* function_;
    Result (*call_)(void const*, Arguments...);
};

} // namespace espalier
