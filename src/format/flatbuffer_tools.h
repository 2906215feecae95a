// SPDX-License-Identifier: BSD-3-Clause
// What every flatbuffer reader here needs: verification, null-safe vectors and strings. Stays inside src/format.
#pragma once

#include "base/error.h"

#include <pteron/types.h>

#include <flatbuffers/flatbuffers.h>

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace pteron::format {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian");

template <class T>
T load(Bytes bytes, u64 offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class Root>
bool verify(Bytes bytes, const char* identifier) {
  if (bytes.size() < 8 || bytes.size() > FLATBUFFERS_MAX_BUFFER_SIZE) return false;
  // Every table takes at least a vtable offset, so the size bounds the count that a valid file can have.
  flatbuffers::Verifier verifier(reinterpret_cast<const u8*>(bytes.data()), bytes.size(), /*max_depth=*/64,
                                 /*max_tables=*/flatbuffers::uoffset_t(bytes.size()));
  return verifier.VerifyBuffer<Root>(identifier);
}

template <class T>
u32 size(const flatbuffers::Vector<T>* v) {
  return v ? v->size() : 0;
}

constexpr u64 largest_flatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE;

// Tables of a flatbuffer can share their lists and texts, so a small file can describe as many as it likes. Files that
// exporters write share little: what is copied out of one is bounded by a multiple of its size.
class Budget {
 public:
  explicit Budget(Bytes flatbuffer) : left_(16 * u64(flatbuffer.size()) + (1 << 16)) {}

  template <class T>
  Status take(const flatbuffers::Vector<T>* v) {
    return take(v ? u64(v->size()) * sizeof(T) : 0);
  }
  // A name, a key or a word that an op takes. They are short, so that errors can quote them.
  Status take(const flatbuffers::String* s) {
    if (s && s->size() > longest_name)
      return invalid("a name or key has ", s->size(), " bytes; at most ", longest_name, " are read");
    return take_text(s);
  }
  Status take_text(const flatbuffers::String* s) { return take(s ? u64(s->size()) : 0); }

 private:
  static constexpr u32 longest_name = 1024;
  Status take(u64 bytes) {
    if (bytes > left_) return invalid("its lists and texts are shared so often that they exceed 16 times the file");
    left_ -= bytes;
    return {};
  }
  u64 left_;
};

inline std::string text(const flatbuffers::String* s) { return s ? s->str() : std::string(); }

// A range over a vector that may be absent.
template <class T>
class Items {
 public:
  explicit Items(const flatbuffers::Vector<T>* v) : v_(v) {}
  auto begin() const { return v_ ? v_->begin() : Iterator(nullptr, 0); }
  auto end() const { return v_ ? v_->end() : Iterator(nullptr, 0); }

 private:
  using Iterator = flatbuffers::Vector<T>::const_iterator;
  const flatbuffers::Vector<T>* v_;
};
template <class T>
Items<T> items(const flatbuffers::Vector<T>* v) {
  return Items<T>(v);
}

// Numbers are copied: that a vector begins at a multiple of four is all that verification says of its alignment.
template <class T>
  requires std::is_arithmetic_v<T>
std::vector<T> items(const flatbuffers::Vector<T>* v) {
  std::vector<T> out(size(v));
  if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
  return out;
}
template <class T>
  requires std::is_arithmetic_v<T>
T item(const flatbuffers::Vector<T>& v, u32 index) {
  T out;
  std::memcpy(&out, v.Data() + index * sizeof(T), sizeof out);
  return out;
}

}  // namespace pteron::format
