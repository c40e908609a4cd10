// What a pack holds as tensors on the CPU: copies, in the types that models take, and views of the mapped
// file.
//
// The copies are yours. The views copy nothing: their memory is the file's, and each (and each slice of it)
// keeps the mapping alive, so it outlives Reader and PackView. THE FILE IS MAPPED READ-ONLY: a write through
// a view ends the process with SIGSEGV (in pread mode it changes that view's own buffer). PyTorch has no
// read-only tensors, so that a view is asked for by its name.
//
// Types: tokens of a view are uint16, or int32 where the file has 32-bit ids (all are below 2^31). PyTorch
// can slice, copy and convert uint16, but embed, index and pickle it not: convert with .to(at::kLong).
//
// Threads: pure functions. Errors: Exception with kColumnRange and others of PackView::column; kOptions where
// a column is ragged.
//
//   const PackView pack = reader.pack(7).value();
//   at::Tensor ids = tokpack::libtorch::tokens(pack);              // int64 [T], a copy
//   at::Tensor cu = tokpack::libtorch::cu_seqlens(pack);           // int32 [N + 1]
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "tokpack/core/reader.h"
#include "tokpack/torch/exception.h"

namespace tokpack::libtorch {

/// [T] int64.
at::Tensor tokens(const PackView& pack);
/// [N + 1] int32.
at::Tensor cu_seqlens(const PackView& pack);
/// [T] int64: the stored, unshifted label of each token, or the file's ignore index. What a model takes,
/// labels or targets, a loader gives (loader.h).
at::Tensor stored_labels(const PackView& pack);
/// A column's rows of this pack, [rows, width], or [rows] for width 1; of its own element type.
at::Tensor column(const Reader& reader, const PackView& pack, std::string_view name);

/// [T] uint16 or int32, in place.
at::Tensor view_tokens(const PackView& pack);
/// [N + 1] int32, in place.
at::Tensor view_cu_seqlens(const PackView& pack);
/// All tokens of the file one after another, uint16 or int32, in place (pread mode: read into one buffer).
at::Tensor view_all_tokens(const Reader& reader);
/// As column(), in place.
at::Tensor view_column(const Reader& reader, const PackView& pack, std::string_view name);

}  // namespace tokpack::libtorch
