// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/state_file.h"

#include "base/error.h"
#include "base/os.h"
#include "base/path.h"
#include "base/sha256.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace pteron::server {
namespace {

constexpr char magic[8] = {'P', 'T', 'E', 'R', 'O', 'N', 'S', 'T'};
constexpr u32 version = 1;
constexpr size_t digest_size = 64;
constexpr u32 longest_layout = 1 << 20, most_tokens = 1 << 24;

// As it stands in the file, on machines that count from the low end.
struct Fixed {
  char magic[8];
  u32 version, layout_bytes, tokens, unused;
  u64 state_bytes;
  char model[digest_size];
};
static_assert(sizeof(Fixed) == 96);

// A file from its beginning on.
class Reader {
 public:
  static Result<Reader> open(const std::filesystem::path& path) {
    TRY(auto file, os::open_file(os::text(path)));
    return Reader(std::move(file));
  }
  u64 size() const { return file_->size(); }
  template <class T>
  Status read(std::span<T> into) {
    const u64 from = std::exchange(at_, at_ + into.size_bytes());
    return file_->read(from, std::as_writable_bytes(into));
  }

 private:
  explicit Reader(std::unique_ptr<os::File> file) : file_(std::move(file)) {}

  std::unique_ptr<os::File> file_;
  u64 at_ = 0;
};

template <class T>
Bytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

u64 size_of_file(const Fixed& fixed) {
  return sizeof(Fixed) + fixed.layout_bytes + u64(fixed.tokens) * sizeof(u32) + fixed.state_bytes + digest_size;
}

// Leaves the file behind its tokens.
Result<StateHead> read_head(Reader& file, Fixed& fixed) {
  if (file.size() < sizeof fixed) return invalid("it has only ", file.size(), " bytes");
  TRY_DO(file.read(std::span(&fixed, 1)));
  if (std::memcmp(fixed.magic, magic, sizeof magic) != 0) return invalid("it is no state of a conversation");
  if (fixed.version != version)
    return unsupported("it has version ", fixed.version, "; this server knows version ", version);
  if (fixed.layout_bytes > longest_layout || fixed.tokens > most_tokens || fixed.state_bytes > file.size() ||
      size_of_file(fixed) != file.size())
    return invalid("its sizes do not add up to the ", file.size(), " bytes that it has");
  StateHead head{.owner = {.model = std::string(fixed.model, digest_size), .layout = {}},
                 .tokens = std::vector<u32>(fixed.tokens),
                 .file_bytes = file.size()};
  head.owner.layout.resize(fixed.layout_bytes);
  TRY_DO(file.read(std::span(head.owner.layout)));
  TRY_DO(file.read(std::span(head.tokens)));
  return head;
}

void add_head(Sha256& sum, const Fixed& fixed, const StateOwner& owner, std::span<const u32> tokens) {
  sum.update(bytes_of(fixed));
  sum.update(std::as_bytes(std::span(owner.layout)));
  sum.update(std::as_bytes(tokens));
}

}  // namespace

Status write_state(const std::filesystem::path& path, const StateOwner& owner, std::span<const u32> tokens,
                   Bytes state) {
  if (owner.model.size() != digest_size || owner.layout.size() > longest_layout || tokens.size() > most_tokens)
    return unsupported("the state is too large to be kept");
  Fixed fixed{.version = version,
              .layout_bytes = u32(owner.layout.size()),
              .tokens = u32(tokens.size()),
              .unused = 0,
              .state_bytes = state.size()};
  std::memcpy(fixed.magic, magic, sizeof magic);
  std::memcpy(fixed.model, owner.model.data(), digest_size);
  Sha256 sum;
  add_head(sum, fixed, owner, tokens);
  sum.update(state);
  const std::string digest = sum.finish();
  return os::write_private_file(
      os::text(path), std::array{bytes_of(fixed), std::as_bytes(std::span(owner.layout)), std::as_bytes(tokens), state,
                                 std::as_bytes(std::span(digest))});
}

Result<StateHead> read_head(const std::filesystem::path& path) {
  Fixed fixed{};
  TRY(Reader file, Reader::open(path));
  return read_head(file, fixed);
}

Result<std::vector<std::byte>> read_state(const std::filesystem::path& path, const StateHead& head, u64 bytes) {
  Fixed fixed{};
  TRY(Reader file, Reader::open(path));
  TRY(const StateHead found, read_head(file, fixed));
  if (found.owner != head.owner || found.tokens != head.tokens) return invalid("it is not the file that it was");
  if (fixed.state_bytes != bytes)
    return invalid("its state has ", fixed.state_bytes, " bytes, but that of such a text has ", bytes);
  std::vector<std::byte> state(bytes);
  std::string digest(digest_size, ' ');
  TRY_DO(file.read(std::span(state)));
  TRY_DO(file.read(std::span(digest)));
  Sha256 sum;
  add_head(sum, fixed, found.owner, found.tokens);
  sum.update(state);
  if (sum.finish() != digest) return invalid("its checksum is wrong");
  return state;
}

}  // namespace pteron::server
