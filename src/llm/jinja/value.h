// SPDX-License-Identifier: BSD-3-Clause
// The values of a template: Python's, as far as templates can see them. Immutable but for objects (namespaces, loops),
// which belong to the run of a template.
#pragma once

#include "llm/jinja/heap.h"

#include <pteron/result.h>
#include <pteron/types.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pteron::jinja {

class Value;
class Object;
struct Text;
struct List;
class Dict;
struct Method;
using TextRef = std::shared_ptr<const Text>;
using ListRef = std::shared_ptr<const List>;
using DictRef = std::shared_ptr<const Dict>;
using MethodRef = std::shared_ptr<const Method>;

struct None {};
// A name, key or attribute that does not exist; it prints as nothing, but most uses are errors.
struct Undefined {
  TextRef what;  // for the message
};

class Value {
 public:
  using Data = std::variant<Undefined, None, bool, i64, f64, TextRef, ListRef, DictRef, MethodRef, Object*>;

  Value() = default;
  template <class T>
    requires(!std::same_as<T, Value> && std::constructible_from<Data, T>)
  Value(T data) : data_(std::move(data)) {}

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data_);
  }
  const Data& data() const { return data_; }

  bool is_undefined() const { return as<Undefined>(); }
  bool is_none() const { return as<None>(); }
  const std::string* text() const;
  const List* list() const;
  const Dict* dict() const;
  Object* object() const;

  // Booleans are 0 and 1, as in Python.
  bool is_number() const { return as<bool>() || as<i64>() || as<f64>(); }
  bool is_integral() const { return as<bool>() || as<i64>(); }
  i64 integer() const;  // of an integral value
  f64 real() const;     // of a number

  bool truth() const;
  u32 depth() const;  // of lists and dictionaries inside of each other

 private:
  Data data_;
};

// What all values on the heap have: their share of its limit.
struct Text {
  std::string text;
  Heap::Share share;
};

struct List {
  // A view is what dict.items() gives. A generator's items are there from the start, but can be walked once only.
  enum Kind { list, tuple, range, view, generator } kind = list;
  std::vector<Value> items;
  u32 depth = 1;
  mutable bool spent = false;
  Heap::Share share;
};

// In the order of insertion. Keys are what Python can hash of our values, but tuples: none, booleans, numbers, text.
class Dict {
 public:
  struct Entry {
    Value key, value;
  };
  static bool can_be_key(const Value& key);

  const std::vector<Entry>& entries() const { return entries_; }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);
  u32 depth() const { return depth_; }

  Heap::Share share;

 private:
  template <class Equal>
  const Entry* find(u64 hash, const Equal& equal) const;
  void index(u32 entry);

  std::vector<Entry> entries_;
  std::vector<u32> slots_;  // entry + 1 by hash, open addressing; empty while there are few entries
  u32 depth_ = 1;
};

// A method that was looked up, but not called yet.
struct Method {
  Value self;
  std::string name;
};

// Something that only templates have, with attributes: a namespace, a loop, a macro, a function.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string_view kind() const = 0;
  virtual class Namespace* as_namespace() { return nullptr; }
  virtual class LoopObject* as_loop() { return nullptr; }
  virtual class Callable* as_callable() { return nullptr; }
};

// "text", "a list", "none": for messages.
std::string_view kind_of(const Value& value);

// ==, which all values have. Takes as long as the values are large, so it counts as work; once that is used up the
// answer is no longer right, and the next check of the heap fails.
bool equal(Heap& heap, const Value& a, const Value& b);

Value text_value(Heap& heap, std::string text);
Result<Value> list_value(Heap& heap, std::vector<Value> items, List::Kind kind = List::list);
Result<Value> dict_value(Heap& heap, Dict dict);

}  // namespace pteron::jinja
