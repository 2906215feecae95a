// SPDX-License-Identifier: BSD-3-Clause
#include "differential/random/shrink.h"

#include "differential/random/generator.h"

namespace pteron::differential {

Sample sample_of(Choices& choices) { return Generator(choices).run(); }

Sample sample_of(std::vector<u32> choices) {
  Choices replay(std::move(choices));
  return sample_of(replay);
}

namespace {

class Shrinker {
 public:
  Shrinker(std::vector<u32> choices, const std::function<bool(const Sample&)>& fails, u32 tries,
           Sample (*make)(Choices&))
      : best_(std::move(choices)), fails_(fails), left_(tries), make_(make) {}

  std::vector<u32> run() {
    for (bool better = true; better && left_ > 0;) {
      better = drop_spans();
      if (lower()) better = true;
    }
    return best_;
  }

 private:
  // Takes the list if it fails too. What a replay did not ask for is cut off.
  bool take(const std::vector<u32>& list) {
    if (left_ == 0 || list == best_) return false;
    --left_;
    Choices choices(list);
    const Sample sample = make_(choices);
    if (!simpler(choices.made()) || !fails_(sample)) return false;
    best_ = choices.made();
    return true;
  }

  bool simpler(const std::vector<u32>& list) const {
    return list.size() != best_.size() ? list.size() < best_.size() : list < best_;
  }

  bool drop_spans() {
    bool any = false;
    Choices replay(best_);
    make_(replay);
    auto spans = replay.spans();
    for (size_t i = spans.size(); i-- > 0;) {
      std::vector<u32> list = best_;
      if (spans[i].end > list.size()) continue;
      list.erase(list.begin() + i64(spans[i].begin), list.begin() + i64(spans[i].end));
      if (!take(list)) continue;
      any = true;
      Choices again(best_);
      make_(again);
      spans = again.spans();
      i = std::min(i, spans.size());
    }
    return any;
  }

  bool lower() {
    bool any = false;
    for (size_t i = 0; i < best_.size(); ++i)
      for (const u32 v : {0u, best_[i] / 2, best_[i] - 1}) {
        if (best_[i] == 0 || v >= best_[i]) continue;
        std::vector<u32> list = best_;
        list[i] = v;
        any |= take(list);
        if (i >= best_.size()) break;
      }
    return any;
  }

  std::vector<u32> best_;
  const std::function<bool(const Sample&)>& fails_;
  u32 left_;
  Sample (*make_)(Choices&);
};

}  // namespace

std::vector<u32> shrink(std::vector<u32> choices, const std::function<bool(const Sample&)>& fails, u32 tries,
                        Sample (*make)(Choices&)) {
  return Shrinker(std::move(choices), fails, tries, make).run();
}

}  // namespace pteron::differential
