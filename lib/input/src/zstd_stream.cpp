#include "zstd_stream.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "no_memory.h"

namespace tokpack::input {
namespace {

struct FreeContext {
  void operator()(ZSTD_DStream* context) const noexcept { ZSTD_freeDStream(context); }
};

class ZstdStream final : public ByteStream {
 public:
  using Context = std::unique_ptr<ZSTD_DStream, FreeContext>;

  ZstdStream(std::unique_ptr<ByteStream> compressed, std::string name, Context context)
      : compressed_(std::move(compressed)),
        name_(std::move(name)),
        context_(std::move(context)),
        buffer_(ZSTD_DStreamInSize()),
        plain_(ZSTD_DStreamOutSize()) {}

  Filled fill(std::span<char> out) override {
    Filled filled;
    while (filled.bytes < out.size()) {
      if (plain_taken_ == plain_bytes_) {
        if (ended_) break;
        decompress();
      }
      const std::size_t bytes = std::min(out.size() - filled.bytes, plain_bytes_ - plain_taken_);
      std::memcpy(out.data() + filled.bytes, plain_.data() + plain_taken_, bytes);
      plain_taken_ += bytes;
      filled.bytes += bytes;
    }
    filled.end = ended_ && plain_taken_ == plain_bytes_;
    if (filled.end) filled.error = error_;
    return filled;
  }
  Progress progress() const override { return compressed_->progress(); }
  bool is_plain() const override { return false; }

 private:
  std::uint64_t position() const { return taken_ + input_.pos; }

  void fail(std::string detail) {
    error_ = Error{Errc::kInputCompressed, position(), std::move(detail)};
    ended_ = true;
  }

  /// The next piece into plain_. Always of one size, whatever the caller asks for: what zstd says of damaged
  /// data, and how much of it comes out before, depends on the room that it is given.
  void decompress() {
    plain_taken_ = plain_bytes_ = 0;
    ZSTD_outBuffer output{plain_.data(), plain_.size(), 0};
    while (output.pos < output.size && !ended_) {
      if (input_.pos == input_.size && !more_output_) refill();
      if (ended_) break;
      const std::size_t before = output.pos;
      const std::size_t state = ZSTD_decompressStream(context_.get(), &output, &input_);
      if (ZSTD_isError(state) != 0) {
        const bool large_window = ZSTD_getErrorCode(state) == ZSTD_error_frameParameter_windowTooLarge;
        fail(large_window
                 ? fmt::format(
                       "{}: the zstd frame at byte {} needs a window of more than 128 MiB to read, as `zstd "
                       "--long=28` and above write it; decompress it first (zstd -d --long=31)",
                       name_, position())
                 : fmt::format("{}: damaged zstd data near byte {}: {}", name_, position(),
                               ZSTD_getErrorName(state)));
        break;
      }
      // 0 = a frame is complete and flushed. Within a frame the context can hold more output even when all of
      // the input is taken: ask again before reading on.
      in_frame_ = state != 0;
      more_output_ = in_frame_ && (output.pos == output.size || output.pos > before);
    }
    plain_bytes_ = output.pos;
  }

  void refill() {
    if (source_ended_) {
      if (source_error_) {
        error_ = source_error_;
      } else if (in_frame_) {
        fail(fmt::format(
            "{}: zstd data are cut: the file ends after {} bytes in the middle of a frame; copy it again",
            name_, position()));
      }
      ended_ = true;
      return;
    }
    taken_ += input_.pos;
    Filled filled = compressed_->fill(buffer_);
    input_ = {buffer_.data(), filled.bytes, 0};
    source_ended_ = filled.end;
    source_error_ = std::move(filled.error);
    if (filled.bytes == 0 && source_ended_) refill();
  }

  std::unique_ptr<ByteStream> compressed_;
  std::string name_;
  Context context_;
  std::vector<char> buffer_, plain_;
  std::size_t plain_bytes_ = 0, plain_taken_ = 0;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  std::uint64_t taken_ = 0;
  bool in_frame_ = false, more_output_ = false, source_ended_ = false, ended_ = false;
  std::optional<Error> error_, source_error_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> open_zstd(std::unique_ptr<ByteStream> compressed, std::string name) {
  ZstdStream::Context context(ZSTD_createDStream());
  if (context == nullptr) {
    return no_memory(name, "to decompress it");
  }
  return std::unique_ptr<ByteStream>(
      std::make_unique<ZstdStream>(std::move(compressed), std::move(name), std::move(context)));
}

}  // namespace tokpack::input
