// bad: nodiscard
// rooms: format core
// An error must not be dropped by accident.
#ifdef BAD
#pragma GCC diagnostic error "-Wunused-result"
#endif
#include "tokpack/core/planner.h"

bool check(const tokpack::PlanOptions& options) {
#ifdef BAD
  tokpack::check_plan_options(options);
  return true;
#else
  return tokpack::check_plan_options(options).ok();
#endif
}
