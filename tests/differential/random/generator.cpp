// SPDX-License-Identifier: BSD-3-Clause
#include "differential/random/generator.h"

#include "differential/reference/array.h"

#include <algorithm>

namespace pteron::differential {

Generator::Generator(Choices& choices) : choices_(choices) {
  static constexpr u32 widths[] = {8, 16, 32, 3, 5, 1, 12, 64, 7};
  static constexpr u32 heights[] = {1, 2, 3, 5, 4, 9, 0};
  width_ = choices_.of(widths);
  rows_ = choices_.of(heights);
  is_live_ = choices_.percent(25);
  if (is_live_) rows_ = 2 + choices_.below(5);
  prepacks_ = choices_.percent(40);
  const u32 steps = 1 + choices_.below(3);
  for (u32 i = 0; i < steps; ++i) live_.push_back(is_live_ ? rows_ - choices_.below(rows_) : rows_);
  data_ = choices_.below(1u << 20);
}

Sample Generator::run() {
  // What passes look for comes more often.
  static constexpr struct {
    u32 weight;
    Production grow;
  } productions[] = {
      {16, &Generator::chain},     {30, &Generator::linears},  {8, &Generator::mutate},
      {5, &Generator::cache},      {5, &Generator::optimiser}, {5, &Generator::reshape},
      {4, &Generator::requantise}, {4, &Generator::attention}, {4, &Generator::move},
      {3, &Generator::join},       {3, &Generator::take},      {3, &Generator::rows},
      {4, &Generator::norm},       {4, &Generator::matrices},  {3, &Generator::images},
      {3, &Generator::look_up},    {3, &Generator::table_q4},  {3, &Generator::number_from_input},
      {3, &Generator::integers},   {2, &Generator::halves},    {3, &Generator::compare_and_choose},
      {2, &Generator::fill},       {6, &Generator::heads},
  };
  u32 total = 0;
  for (const auto& p : productions) total += p.weight;
  const auto grow = [&] {
    u32 drawn = choices_.below(total);
    const auto* p = productions;
    while (drawn >= p->weight) drawn -= (p++)->weight;
    (this->*p->grow)();
  };
  choices_.repeat(65, [&](u32) {
    grow();
    return b_.graph.calls.size() < 12;
  });
  choose_outputs();

  Sample out{b_, {}, may_be_refused_};
  for (u32 step = 0; step < live_.size(); ++step) {
    out.steps.emplace_back();
    out.steps.back().reset = step > 0 && choices_.percent(15);
    for (u32 id : order_) {
      const Known& k = *find(id);
      const Shape shape = shape_of(live_sizes(k.sizes, step));
      Tensor t(k.dtype, shape);
      std::ranges::copy(data(k.dtype, shape, k.fill, u64(data_) << 24 ^ u64(step + 1) << 16 ^ id, step),
                        t.bytes().begin());
      out.steps.back().inputs.push_back(std::move(t));
    }
  }
  return out;
}

void Generator::choose_outputs() {
  const auto add = [&](const Known& k) { b_.output(k.id, !is_static(k.sizes)); };
  for (size_t i = 0; i < known_.size(); ++i) {
    const Known& k = known_[i];
    if (k.pending) continue;
    const u32 chance = k.origin == Known::made ? (k.read ? 8 : 80) : k.written ? 70 : 4;
    if (choices_.percent(chance)) add(k);
  }
  std::vector<Known> there;
  std::ranges::copy_if(known_, std::back_inserter(there), [](const Known& k) { return !k.pending; });
  if (b_.graph.outputs.empty()) add(there.back());
  if (choices_.percent(5)) add(there[choices_.below(u32(there.size()))]);
}

Shape Generator::shape_of(const Sizes& sizes) {
  Shape out;
  for (const Dim& d : sizes) out.push_back(d.size);
  return out;
}

bool Generator::is_static(const Sizes& sizes) {
  return std::ranges::none_of(sizes, [](const Dim& d) { return d.live; });
}

Sizes Generator::live_sizes(const Sizes& sizes, u32 step) const {
  Sizes out = sizes;
  for (Dim& d : out)
    if (d.live) d.size = live_[step];
  return out;
}

std::vector<std::byte> Generator::data(DType dtype, const Shape& shape, Fill fill, u64 seed, u32 step) const {
  std::mt19937_64 random(seed);
  reference::Array out(dtype, reference::dims_of(shape));
  for (f64& v : out.data) {
    const u64 r = random();
    switch (fill.kind) {
      case Fill::values: v = is_float(dtype) ? f64(i64(r % 65) - 32) / 16 : f64(i64(r % 9) - 4); break;
      case Fill::bytes: v = f64(r % 256); break;
      case Fill::scales: v = f64(1 + r % 16) / 64; break;
      case Fill::indices: v = f64(r % std::max(fill.limit, 1u)); break;
      case Fill::position: v = f64((r % 2 + step) % std::max(fill.limit, 1u)); break;
      case Fill::truth: v = f64(r % 2); break;
    }
  }
  const Tensor t = reference::to_tensor(out);
  return {t.bytes().begin(), t.bytes().end()};
}

Generator::Known* Generator::find(u32 id) {
  const auto found = std::ranges::find(known_, id, &Known::id);
  return found == known_.end() ? nullptr : &*found;
}

std::vector<u32> Generator::like(DType dtype, const Sizes& sizes, bool writable) {
  std::vector<u32> out;
  for (const Known& k : known_)
    if (!k.pending && k.dtype == dtype && k.sizes == sizes && k.fill.kind == Fill::values &&
        (!writable || (k.origin != Known::made && is_static(sizes))))
      out.push_back(k.id);
  return out;
}

u32 Generator::tensor(DType dtype, const Sizes& sizes) {
  const std::vector<u32> there = like(dtype, sizes, false);
  if (!there.empty() && choices_.percent(75)) {
    const u32 id = there[there.size() - 1 - choices_.below(u32(there.size()))];
    find(id)->read = true;
    return id;
  }
  const bool fixed = is_static(sizes) && choices_.percent(40);
  const u32 id = fixed ? name_of(constant(dtype, sizes)) : input(dtype, sizes);
  find(id)->read = true;
  return id;
}

u32 Generator::constant(DType dtype, const Sizes& sizes, Fill fill) {
  const u32 next = u32(b_.graph.values.size());
  const u32 id =
      b_.constant_bytes(dtype, shape_of(sizes), data(dtype, shape_of(sizes), fill, u64(data_) << 24 ^ next, 0));
  known_.push_back({id, dtype, sizes, Known::constant, id, fill});
  return id;
}

u32 Generator::input(DType dtype, const Sizes& sizes, Fill fill) {
  const u32 id = b_.input(b_.tensor(dtype, shape_of(sizes)), !is_static(sizes));
  known_.push_back({id, dtype, sizes, Known::input, id, fill});
  order_.push_back(id);
  return id;
}

u32 Generator::name_of(u32 id) {
  const Known k = *find(id);
  if (k.origin != Known::constant) return id;
  std::vector<u32> names;
  for (const Known& other : known_)
    if (other.memory == k.memory) names.push_back(other.id);
  if (prepacks_ && choices_.percent(25)) {
    Known other = k;
    other.id = b_.tensor(k.dtype, shape_of(k.sizes));
    op("et_vk.prepack.default", {k.memory, other.id});
    known_.push_back(other);
    return other.id;
  }
  return names[choices_.below(u32(names.size()))];
}

u32 Generator::result(DType dtype, const Sizes& sizes, bool over) {
  const std::vector<u32> there = over ? like(dtype, sizes, true) : std::vector<u32>();
  if (!there.empty() && choices_.percent(20)) {
    const u32 id = name_of(there[choices_.below(u32(there.size()))]);
    find(id)->written = true;
    return id;
  }
  const u32 id = b_.tensor(dtype, shape_of(sizes));
  known_.push_back({id, dtype, sizes, Known::made, id, {}});
  known_.back().pending = true;
  return id;
}

void Generator::op(const char* name, std::vector<u32> args) {
  std::vector<u32> made{args.back()};
  if (const auto* list = std::get_if<format::GraphValueList>(&b_.graph.values[args.back()])) made = list->items;
  for (u32 id : made)
    if (Known* k = find(id)) k->pending = false;
  b_.op(name, std::move(args));
}

u32 Generator::length() {
  if (length_) return *length_;
  const u32 x = some({{rows_, true}, {width_}});
  length_ = b_.symint();
  op("sym_size.int", {x, integer(0), *length_});
  return *length_;
}

u32 Generator::size_list(const Sizes& sizes) {
  if (is_static(sizes)) {
    std::vector<i64> list;
    for (const Dim& d : sizes) list.push_back(d.size);
    return b_.ints(list);
  }
  std::vector<u32> items;
  for (const Dim& d : sizes) items.push_back(d.live ? length() : integer(d.size));
  return b_.list(items);
}

u32 Generator::position(u32 capacity, u32 most) {
  const u32 last = capacity - most;
  if (!choices_.percent(60)) return integer(choices_.below(last + 1));
  static constexpr DType types[] = {DType::i32, DType::i64};
  const u32 x = input(choices_.of(types), {{1}}, {Fill::position, last + 1}), out = b_.symint();
  op("et_vk.select_as_symint.default", {x, integer(0), integer(0), out});
  return out;
}

Sizes Generator::base() {
  const Dim rows{rows_, is_live_}, width{width_};
  switch (choices_.below(8)) {
    default: return {rows, width};
    case 5: return {width};
    case 6: return {{1}, rows, width};
    case 7: return {};
  }
}

Sizes Generator::narrower(const Sizes& sizes) {
  switch (choices_.below(6)) {
    case 3: return {};
    case 4: return sizes.empty() ? sizes : Sizes(sizes.begin() + 1, sizes.end());
    case 5: {
      Sizes out = sizes;
      if (!out.empty()) out[axis_of(out)] = {1};
      return out;
    }
    default: return sizes;
  }
}

u32 Generator::static_axis(const Sizes& sizes) {
  std::vector<u32> axes;
  for (u32 i = 0; i < sizes.size(); ++i)
    if (!sizes[i].live) axes.push_back(i);
  return axes.empty() ? u32(sizes.size()) : axes[choices_.below(u32(axes.size()))];
}

}  // namespace pteron::differential
