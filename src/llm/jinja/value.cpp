// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/value.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pteron::jinja {
namespace {

// Every walk over a value is recursive, so nesting is limited where it is made.
constexpr u32 max_depth = 200;
constexpr size_t few_entries = 8;

u64 hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

u64 hash_of(const Value& key) {
  if (const auto* text = key.text()) return hash_of(*text);
  if (!key.is_number()) return 0;
  // Equal numbers of different types are the same key.
  const f64 real = key.real() + 0.0;
  return std::bit_cast<u64>(real) * 0x9E37'79B9'7F4A'7C15 >> 7;
}

bool equal_scalars(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.integer() == b.integer();
    return a.real() == b.real();
  }
  if (a.text() && b.text()) return *a.text() == *b.text();
  return a.data().index() == b.data().index() && !a.is_number() && !a.text();
}

bool equal_items(Heap& heap, const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::equal(a, b, [&](const Value& x, const Value& y) { return equal(heap, x, y); });
}

bool equal_dicts(Heap& heap, const Dict& a, const Dict& b) {
  if (a.entries().size() != b.entries().size()) return false;
  return std::ranges::all_of(a.entries(), [&](const Dict::Entry& e) {
    const Value* other = b.find(e.key);
    return other && equal(heap, e.value, *other);
  });
}

}  // namespace

const std::string* Value::text() const {
  const auto* ref = as<TextRef>();
  return ref ? &(*ref)->text : nullptr;
}
const List* Value::list() const {
  const auto* ref = as<ListRef>();
  return ref ? ref->get() : nullptr;
}
const Dict* Value::dict() const {
  const auto* ref = as<DictRef>();
  return ref ? ref->get() : nullptr;
}
Object* Value::object() const {
  auto* const* ref = as<Object*>();
  return ref ? *ref : nullptr;
}

i64 Value::integer() const {
  if (const bool* b = as<bool>()) return *b;
  return *as<i64>();
}
f64 Value::real() const {
  if (const f64* f = as<f64>()) return *f;
  return f64(integer());
}

bool Value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return real() != 0;
  if (const auto* t = text()) return !t->empty();
  if (const List* l = list()) return l->kind == List::generator || !l->items.empty();
  if (const Dict* d = dict()) return !d->entries().empty();
  return true;
}

u32 Value::depth() const {
  if (const List* l = list()) return l->depth;
  if (const Dict* d = dict()) return d->depth();
  return 0;
}

std::string_view kind_of(const Value& value) {
  struct Names {
    std::string_view operator()(const Undefined&) const { return "undefined"; }
    std::string_view operator()(const None&) const { return "none"; }
    std::string_view operator()(bool) const { return "a boolean"; }
    std::string_view operator()(i64) const { return "an integer"; }
    std::string_view operator()(f64) const { return "a float"; }
    std::string_view operator()(const TextRef&) const { return "text"; }
    std::string_view operator()(const ListRef& l) const {
      static constexpr std::string_view names[] = {"a list", "a tuple", "a range", "a view", "a generator"};
      return names[l->kind];
    }
    std::string_view operator()(const DictRef&) const { return "a dictionary"; }
    std::string_view operator()(const MethodRef&) const { return "a method"; }
    std::string_view operator()(const Object* o) const { return o->kind(); }
  };
  return std::visit(Names(), value.data());
}

bool equal(Heap& heap, const Value& a, const Value& b) {
  heap.work(1);
  if (heap.is_exhausted()) return false;
  if (a.text() && b.text()) heap.work_on_bytes(std::min(a.text()->size(), b.text()->size()));
  const List *x = a.list(), *y = b.list();
  if (x && y) {
    if (x == y) return true;
    return x->kind == y->kind && x->kind != List::generator && equal_items(heap, x->items, y->items);
  }
  if (a.dict() && b.dict()) return a.dict() == b.dict() || equal_dicts(heap, *a.dict(), *b.dict());
  if (a.as<MethodRef>() && b.as<MethodRef>()) return *a.as<MethodRef>() == *b.as<MethodRef>();
  if (a.object() || b.object()) return a.object() == b.object();
  return equal_scalars(a, b);
}

bool Dict::can_be_key(const Value& key) { return key.is_none() || key.is_number() || key.text(); }

template <class Equal>
const Dict::Entry* Dict::find(u64 hash, const Equal& is_equal) const {
  if (slots_.empty()) {
    const auto at = std::ranges::find_if(entries_, is_equal);
    return at != entries_.end() ? &*at : nullptr;
  }
  for (size_t slot = hash % slots_.size(); slots_[slot] != 0; slot = (slot + 1) % slots_.size())
    if (const Entry& e = entries_[slots_[slot] - 1]; is_equal(e)) return &e;
  return nullptr;
}

const Value* Dict::find(const Value& key) const {
  const Entry* e = find(hash_of(key), [&](const Entry& entry) { return equal_scalars(entry.key, key); });
  return e ? &e->value : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const Entry* e = find(hash_of(key), [&](const Entry& entry) { return entry.key.text() && *entry.key.text() == key; });
  return e ? &e->value : nullptr;
}

void Dict::set(Value key, Value value) {
  depth_ = std::max(depth_, value.depth() + 1);
  if (const Value* known = find(key)) {
    *const_cast<Value*>(known) = std::move(value);
    return;
  }
  entries_.push_back({std::move(key), std::move(value)});
  if (entries_.size() <= few_entries) return;
  if (slots_.size() >= 2 * entries_.size()) return index(u32(entries_.size() - 1));
  slots_.assign(4 * entries_.size(), 0);
  for (u32 i = 0; i < entries_.size(); ++i) index(i);
}

void Dict::index(u32 entry) {
  size_t slot = hash_of(entries_[entry].key) % slots_.size();
  while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
  slots_[slot] = entry + 1;
}

Value text_value(Heap& heap, std::string text) {
  heap.work_on_bytes(text.size());
  Heap::Share share(heap, text.size() + sizeof(Text));
  return TextRef(std::make_shared<const Text>(std::move(text), std::move(share)));
}

namespace {

Status check_depth(u32 depth) {
  if (depth <= max_depth) return {};
  return unsupported("lists and dictionaries are nested deeper than ", max_depth, " levels");
}

}  // namespace

Result<Value> list_value(Heap& heap, std::vector<Value> items, List::Kind kind) {
  u32 depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  TRY_DO(check_depth(depth + 1));
  heap.work(items.size() / 4);
  Heap::Share share(heap, items.size() * sizeof(Value) + sizeof(List));
  return Value(ListRef(std::make_shared<const List>(kind, std::move(items), depth + 1, false, std::move(share))));
}

Result<Value> dict_value(Heap& heap, Dict dict) {
  TRY_DO(check_depth(dict.depth()));
  heap.work(dict.entries().size());
  dict.share = Heap::Share(heap, dict.entries().size() * (sizeof(Dict::Entry) + 16) + sizeof(Dict));
  return Value(DictRef(std::make_shared<const Dict>(std::move(dict))));
}

}  // namespace pteron::jinja
