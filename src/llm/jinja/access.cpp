// SPDX-License-Identifier: BSD-3-Clause
// Attributes, items and slices of values, and calls.
#include "base/error.h"
#include "base/utf8.h"
#include "llm/jinja/methods.h"
#include "llm/jinja/operators.h"
#include "llm/jinja/renderer.h"

#include <algorithm>

namespace pteron::jinja {
namespace {

// The item that Python's index means, or nothing beyond the ends.
std::optional<size_t> place_of(i64 index, size_t size) {
  if (index < 0) index += i64(size);
  if (index < 0 || index >= i64(size)) return {};
  return size_t(index);
}

struct Bounds {
  i64 start = 0, step = 1;
  size_t count = 0;
};

Result<std::optional<i64>> bound(const Value& value) {
  if (value.is_none()) return std::nullopt;
  TRY_DO(must_be_defined(value));
  if (!value.is_integral()) return invalid("a slice needs integers, not ", kind_of(value));
  return value.integer();
}

Result<Bounds> slice_bounds(size_t size, const Value& start_value, const Value& stop_value, const Value& step_value) {
  TRY(const auto given_start, bound(start_value));
  TRY(const auto given_stop, bound(stop_value));
  TRY(const auto given_step, bound(step_value));
  const i64 n = i64(size), step = std::clamp(given_step.value_or(1), -n - 1, n + 1);
  if (step == 0) return invalid("a slice's step is zero");
  const i64 lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
  const auto place = [&](i64 i) { return i < 0 ? (i < -n ? lowest : std::max(i + n, lowest)) : std::min(i, highest); };
  const i64 start = given_start ? place(*given_start) : step > 0 ? lowest : highest;
  const i64 stop = given_stop ? place(*given_stop) : step > 0 ? highest : lowest;
  Bounds out{start, step, 0};
  if (step > 0 && stop > start) out.count = size_t((stop - start + step - 1) / step);
  if (step < 0 && stop < start) out.count = size_t((start - stop - step - 1) / -step);
  return out;
}

std::string sliced_text(const std::string& text, const Bounds& b) {
  if (b.step == 1) {
    const size_t first = utf8::offset(text, size_t(b.start));
    const size_t length = utf8::offset(std::string_view(text).substr(first), b.count);
    return text.substr(first, length);
  }
  std::vector<size_t> places;
  for (size_t at = 0; at < text.size(); at += utf8::length_from(text[at])) places.push_back(at);
  std::string out;
  for (size_t i = 0; i < b.count; ++i) {
    const size_t at = places[size_t(b.start + i64(i) * b.step)];
    out += text.substr(at, utf8::length_from(text[at]));
  }
  return out;
}

Value loop_attribute(Renderer& renderer, const LoopObject& loop, std::string_view name) {
  const i64 index = i64(loop.index), size = i64(loop.items->items.size());
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return size - index;
  if (name == "revindex0") return size - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == size;
  if (name == "length") return size;
  if (name == "depth") return i64(1);  // it counts the levels of recursive loops
  if (name == "depth0") return i64(0);
  if (name == "previtem" && index > 0) return loop.items->items[loop.index - 1];
  if (name == "nextitem" && index + 1 < size) return loop.items->items[loop.index + 1];
  return renderer.undefined(str("the loop has no '", name, "' here"));
}

}  // namespace

Result<Value> Renderer::attribute(const Value& object, std::string_view name) {
  TRY_DO(must_be_defined(object));
  Object* const special = object.object();
  if (special && special->as_namespace())
    if (const Value* value = special->as_namespace()->attributes.find(name)) return *value;
  if (find_method(object, name)) {
    heap_.work(4);
    return Value(MethodRef(std::make_shared<const Method>(object, std::string(name))));
  }
  if (special && special->as_loop()) return loop_attribute(*this, *special->as_loop(), name);
  if (const Dict* dict = object.dict())
    if (const Value* value = dict->find(name)) return *value;
  return undefined(str(kind_of(object), " has no attribute '", name.substr(0, 100), "'"));
}

Result<Value> Renderer::item(const Value& object, const Value& index) {
  TRY_DO(must_be_defined(object));
  TRY_DO(must_be_defined(index));
  if (const Dict* dict = object.dict(); dict && Dict::can_be_key(index))
    if (const Value* value = dict->find(index)) return *value;
  const List* list = object.list();
  if (index.is_integral() && list && list->kind <= List::range) {
    if (const auto place = place_of(index.integer(), list->items.size())) return list->items[*place];
    return undefined(str("index ", index.integer(), " is outside of ", list->items.size(), " items"));
  }
  if (const std::string* s = object.text(); s && index.is_integral()) {
    heap_.work_on_bytes(s->size());
    if (const auto place = place_of(index.integer(), utf8::count(*s))) {
      const size_t at = utf8::offset(*s, *place);
      return text(s->substr(at, utf8::length_from((*s)[at])));
    }
    return undefined(str("index ", index.integer(), " is outside of the text"));
  }
  if (index.text()) return attribute(object, *index.text());
  return undefined(str(kind_of(object), " has no such item"));
}

Result<Value> slice(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step) {
  TRY_DO(must_be_defined(object));
  if (const std::string* text = object.text()) {
    heap.work_on_bytes(4 * text->size());
    TRY(const Bounds b, slice_bounds(utf8::count(*text), start, stop, step));
    return text_value(heap, sliced_text(*text, b));
  }
  const List* list = object.list();
  if (!list || list->kind > List::range) return invalid(kind_of(object), " can't be sliced");
  TRY(const Bounds b, slice_bounds(list->items.size(), start, stop, step));
  std::vector<Value> items;
  items.reserve(b.count);
  for (size_t i = 0; i < b.count; ++i) items.push_back(list->items[size_t(b.start + i64(i) * b.step)]);
  return list_value(heap, std::move(items), list->kind);
}

Result<ListRef> Renderer::iterate(const Value& value) {
  std::vector<Value> items;
  if (const auto* list = value.as<ListRef>()) {
    if ((*list)->kind != List::generator || !std::exchange((*list)->spent, true)) return *list;
  } else if (const Dict* dict = value.dict()) {
    for (const auto& entry : dict->entries()) items.push_back(entry.key);
  } else if (const std::string* s = value.text()) {
    TRY_DO(heap_.check_room(s->size() * 2 * sizeof(Text)));
    for (size_t at = 0; at < s->size(); at += utf8::length_from((*s)[at]))
      items.push_back(text(s->substr(at, utf8::length_from((*s)[at]))));
  } else if (!value.is_undefined()) {
    return invalid(kind_of(value), " can't be gone through");
  }
  TRY(const Value list, list_value(heap_, std::move(items)));
  return *list.as<ListRef>();
}

Result<Value> Renderer::call(const Value& callee, CallArguments arguments) {
  TRY_DO(must_be_defined(callee));
  if (const auto* method = callee.as<MethodRef>()) {
    const auto run = find_method((*method)->self, (*method)->name);
    return within(run(*this, (*method)->self, arguments), (*method)->name, "()");
  }
  if (Object* special = callee.object(); special && special->as_callable())
    return special->as_callable()->call(*this, std::move(arguments));
  return invalid(kind_of(callee), " can't be called");
}

}  // namespace pteron::jinja
