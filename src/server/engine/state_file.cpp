// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/state_file.h"

#include "base/error.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstring>

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

class File {
 public:
  File(const std::filesystem::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  // None if it is no ordinary file.
  std::optional<u64> size() const {
    struct stat info{};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    return u64(info.st_size);
  }
  bool read(MutableBytes into) const {
    for (size_t at = 0; at < into.size();) {
      const ssize_t got = ::read(fd_, into.data() + at, into.size() - at);
      if (got <= 0) return false;
      at += size_t(got);
    }
    return true;
  }
  bool write(Bytes bytes) const {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t put = ::write(fd_, bytes.data() + at, bytes.size() - at);
      if (put <= 0) return false;
      at += size_t(put);
    }
    return true;
  }

 private:
  int fd_;
};

template <class T>
Bytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

u64 size_of_file(const Fixed& fixed) {
  return sizeof(Fixed) + fixed.layout_bytes + u64(fixed.tokens) * sizeof(u32) + fixed.state_bytes + digest_size;
}

Failure cut_short() { return invalid("it is shorter than it says"); }

// Leaves the file behind its tokens.
Result<StateHead> read_head(const File& file, Fixed& fixed) {
  if (!file.is_open()) return not_found("it can't be opened: ", std::strerror(errno));
  const auto size = file.size();
  if (!size) return invalid("it is no ordinary file");
  if (!file.read(std::as_writable_bytes(std::span(&fixed, 1)))) return cut_short();
  if (std::memcmp(fixed.magic, magic, sizeof magic) != 0) return invalid("it is no state of a conversation");
  if (fixed.version != version)
    return unsupported("it has version ", fixed.version, "; this server knows version ", version);
  if (fixed.layout_bytes > longest_layout || fixed.tokens > most_tokens || fixed.state_bytes > *size ||
      size_of_file(fixed) != *size)
    return invalid("its sizes do not add up to the ", *size, " bytes that it has");
  StateHead head{.owner = {.model = std::string(fixed.model, digest_size), .layout = {}},
                 .tokens = std::vector<u32>(fixed.tokens),
                 .file_bytes = *size};
  head.owner.layout.resize(fixed.layout_bytes);
  if (!file.read(std::as_writable_bytes(std::span(head.owner.layout))) ||
      !file.read(std::as_writable_bytes(std::span(head.tokens))))
    return cut_short();
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
  std::filesystem::path part = path;
  part += ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  const File file(part, O_WRONLY | O_CREAT | O_EXCL);
  const bool written = file.is_open() && file.write(bytes_of(fixed)) &&
                       file.write(std::as_bytes(std::span(owner.layout))) && file.write(std::as_bytes(tokens)) &&
                       file.write(state) && file.write(std::as_bytes(std::span(digest)));
  if (written && ::rename(part.c_str(), path.c_str()) == 0) return {};
  const Failure why = unsupported("'", path.string(), "' can't be written: ", std::strerror(errno));
  std::filesystem::remove(part, ignored);
  return why;
}

Result<StateHead> read_head(const std::filesystem::path& path) {
  Fixed fixed{};
  return read_head(File(path, O_RDONLY | O_NONBLOCK), fixed);
}

Result<std::vector<std::byte>> read_state(const std::filesystem::path& path, const StateHead& head, u64 bytes) {
  Fixed fixed{};
  const File file(path, O_RDONLY | O_NONBLOCK);
  TRY(const StateHead found, read_head(file, fixed));
  if (found.owner != head.owner || found.tokens != head.tokens) return invalid("it is not the file that it was");
  if (fixed.state_bytes != bytes)
    return invalid("its state has ", fixed.state_bytes, " bytes, but that of such a text has ", bytes);
  std::vector<std::byte> state(bytes);
  std::string digest(digest_size, ' ');
  if (!file.read(state) || !file.read(std::as_writable_bytes(std::span(digest)))) return cut_short();
  Sha256 sum;
  add_head(sum, fixed, found.owner, found.tokens);
  sum.update(state);
  if (sum.finish() != digest) return invalid("its checksum is wrong");
  return state;
}

}  // namespace pteron::server
