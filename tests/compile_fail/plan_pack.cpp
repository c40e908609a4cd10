// bad: deleted.*pack
// rooms: format core
// A pack of a temporary plan would point into freed memory.
#include "tokpack/core/planner.h"

std::size_t first_index() {
#ifdef BAD
  return tokpack::Plan{}.pack(0).size();
#else
  const tokpack::Plan plan;
  return plan.pack(0).size();
#endif
}
