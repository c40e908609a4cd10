// bad: deleted.*view
// rooms: format core input
// A view borrows from its batch: one of a temporary batch would dangle.
#include "tokpack/input/source.h"

tokpack::Batch look(tokpack::input::SampleBatch& batch, std::vector<tokpack::ColumnInput>& storage) {
#ifdef BAD
  return tokpack::input::SampleBatch(batch).view(storage);
#else
  return batch.view(storage);
#endif
}
