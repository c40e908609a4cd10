#include "tokpack/torch/tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tokpack::libtorch {
namespace {

/// A tensor over memory that `owner` keeps alive. torch has no read-only tensors, hence the cast.
at::Tensor view_of(const void* data, at::IntArrayRef sizes, at::ScalarType type,
                   std::shared_ptr<const void> owner) {
  const auto release = [owner = std::move(owner)](void*) mutable { owner.reset(); };
  return at::from_blob(const_cast<void*>(data), sizes, release, at::TensorOptions().dtype(type));
}

at::ScalarType scalar_type_of(ElementType type) {
  switch (type) {
    case ElementType::kU8:
    case ElementType::kBytes:
      return at::kByte;
    case ElementType::kU16:
      return at::kUInt16;
    case ElementType::kU32:
      return at::kUInt32;
    case ElementType::kU64:
      return at::kUInt64;
    case ElementType::kI32:
      return at::kInt;
    case ElementType::kI64:
      return at::kLong;
    case ElementType::kF16:
      return at::kHalf;
    case ElementType::kBF16:
      return at::kBFloat16;
    case ElementType::kF32:
      return at::kFloat;
  }
  throw Exception({Errc::kElementType, Error::kNoOffset, "a column of an element type unknown to PyTorch"});
}

at::Tensor copy_of(const at::Tensor& view) {
  at::Tensor copy = at::empty(view.sizes(), view.options());
  copy.copy_(view);
  return copy;
}

std::int64_t size_of(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace

at::Tensor tokens(const PackView& pack) {
  const TokenSpan ids = pack.tokens();
  at::Tensor out = at::empty({size_of(ids.size())}, at::kLong);
  auto* to = out.mutable_data_ptr<std::int64_t>();
  if (ids.is_wide()) {
    std::copy(ids.wide().begin(), ids.wide().end(), to);
  } else {
    std::copy(ids.narrow().begin(), ids.narrow().end(), to);
  }
  return out;
}

at::Tensor cu_seqlens(const PackView& pack) { return copy_of(view_cu_seqlens(pack)); }

at::Tensor stored_labels(const PackView& pack) {
  at::Tensor out = at::empty({size_of(pack.tokens().size())}, at::kLong);
  auto* to = out.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < pack.tokens().size(); ++i) to[i] = pack.stored_label(i);
  return out;
}

at::Tensor column(const Reader& reader, const PackView& pack, std::string_view name) {
  return copy_of(view_column(reader, pack, name));
}

at::Tensor view_tokens(const PackView& pack) {
  const TokenSpan ids = pack.tokens();
  return view_of(ids.data(), {size_of(ids.size())}, ids.is_wide() ? at::kInt : at::kUInt16, pack.owner());
}

at::Tensor view_cu_seqlens(const PackView& pack) {
  const auto boundaries = pack.cu_seqlens();
  return view_of(boundaries.data(), {size_of(boundaries.size())}, at::kInt, pack.owner());
}

at::Tensor view_all_tokens(const Reader& reader) {
  const auto& sections = reader.layout().sections;
  const auto found = std::find_if(sections.begin(), sections.end(), [](const auto& section) {
    return section.kind == static_cast<std::uint16_t>(format::SectionKind::kTokens);
  });
  const auto section = value_or_throw(reader.section(static_cast<std::size_t>(found - sections.begin())));
  const bool wide = reader.header().token_type == static_cast<std::uint8_t>(ElementType::kU32);
  return view_of(section.bytes.data(), {size_of(section.bytes.size() / (wide ? 4 : 2))},
                 wide ? at::kInt : at::kUInt16, section.owner);
}

at::Tensor view_column(const Reader& reader, const PackView& pack, std::string_view name) {
  for (std::size_t index = 0; index < reader.columns(); ++index) {
    const ColumnView column = value_or_throw(pack.column(index));
    if (column.name != name) continue;
    if (column.ragged) {
      throw Exception({Errc::kOptions, Error::kNoOffset,
                       "the column '" + std::string(name) +
                           "' is ragged and no one tensor; take PackView::column and its offsets"});
    }
    std::vector<std::int64_t> sizes{static_cast<std::int64_t>(column.rows)};
    if (column.width != 1) sizes.push_back(column.width);
    return view_of(column.values.data(), sizes, scalar_type_of(column.type), column.owner);
  }
  throw Exception(
      {Errc::kColumnRange, Error::kNoOffset, "the file has no column '" + std::string(name) + "'"});
}

}  // namespace tokpack::libtorch
