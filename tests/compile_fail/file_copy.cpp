// bad: deleted.*File
// rooms: format core
// Two owners of one descriptor would close it twice.
#include <utility>

#include "tokpack/core/file.h"

tokpack::File take(tokpack::File& file) {
#ifdef BAD
  return file;
#else
  return std::move(file);
#endif
}
