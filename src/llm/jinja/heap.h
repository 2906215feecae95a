// SPDX-License-Identifier: BSD-3-Clause
// What a template may use up. A template comes with a model and is no more to be trusted than the model's numbers: it
// must not be able to hang the program or to fill its memory.
#pragma once

#include "base/error.h"

#include <pteron/chat_template.h>

#include <utility>

namespace pteron::jinja {

class Heap {
 public:
  explicit Heap(const TemplateLimits& limits) : limits_(limits) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Bytes that are given back when it goes.
  class Share {
   public:
    Share() = default;
    Share(Heap& heap, u64 bytes) : heap_(&heap), bytes_(bytes) { heap.live_ += bytes; }
    Share(Share&& other) noexcept : heap_(std::exchange(other.heap_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(heap_, other.heap_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (heap_) heap_->live_ -= bytes_;
    }

   private:
    Heap* heap_ = nullptr;
    u64 bytes_ = 0;
  };

  // Counts work: one unit for a step, one for each few bytes that are copied or compared.
  void work(u64 units) { work_ += units; }
  void work_on_bytes(u64 bytes) { work_ += bytes / 32; }
  // To be called often: whether all of it is still within the limits.
  Status check() const {
    if (work_ <= limits_.steps && live_ <= limits_.memory) [[likely]]
      return {};
    return exhausted();
  }
  Status spend(u64 units) {
    work_ += units;
    return check();
  }
  bool is_exhausted() const { return work_ > limits_.steps; }
  // Before something of this size is made.
  Status check_room(u64 bytes) const {
    if (bytes > limits_.memory || live_ > limits_.memory - bytes) return exhausted();
    return check();
  }
  const TemplateLimits& limits() const { return limits_; }

 private:
  Failure exhausted() const {
    if (work_ > limits_.steps)
      return unsupported("the template takes more than ", limits_.steps, " steps; it may not end at all");
    return unsupported("the template needs more than ", human_bytes(limits_.memory), " of memory");
  }

  TemplateLimits limits_;
  u64 work_ = 0, live_ = 0;
};

}  // namespace pteron::jinja
