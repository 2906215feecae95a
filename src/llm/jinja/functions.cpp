// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/functions.h"

#include "base/error.h"
#include "llm/jinja/builtin.h"

namespace pteron::jinja {
namespace {

using Args = const CallArguments&;

constexpr i64 max_range = 100'000;  // as in Jinja's sandbox

Result<Value> raise_exception(Renderer& r, Args args) {
  TRY(const auto a, take(args, {"message"}, 1));
  TRY(const std::string message, r.str_of(*a[0]));
  return invalid(message);
}

Result<Value> strftime_now(Renderer& r, Args args) {
  TRY(const auto a, take(args, {"format"}, 1));
  TRY(const std::string format, text_or(a[0], ""));
  TRY(std::string text, format_time(r.local_time(), format));
  return r.text(std::move(text));
}

Result<Value> range(Renderer& r, Args args) {
  if (args.positional.empty() || args.positional.size() > 3 || !args.named.empty())
    return invalid("range() takes one to three integers");
  i64 numbers[3] = {};
  for (size_t i = 0; i < args.positional.size(); ++i) {
    TRY(numbers[i], integer_or(&args.positional[i], 0));
  }
  const bool from_zero = args.positional.size() == 1;
  const i64 start = from_zero ? 0 : numbers[0], stop = from_zero ? numbers[0] : numbers[1],
            step = args.positional.size() == 3 ? numbers[2] : 1;
  if (step == 0) return invalid("range() has a step of zero");
  std::vector<Value> items;
  for (i64 i = start; step > 0 ? i < stop : i > stop;) {
    if (i64(items.size()) >= max_range) return unsupported("range() has more than ", max_range, " items");
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return list_value(r.heap(), std::move(items), List::range);
}

// What dict() and namespace() take: a dictionary or pairs, and named values.
Result<Dict> dict_from(Renderer& r, Args args) {
  if (args.positional.size() > 1) return invalid("at most one dictionary is taken");
  Dict out;
  if (!args.positional.empty()) {
    const Value& source = args.positional[0];
    if (const Dict* dict = source.dict()) {
      for (const auto& [key, value] : dict->entries()) out.set(key, value);
    } else {
      TRY(const ListRef pairs, r.iterate(source));
      for (const Value& pair : pairs->items) {
        TRY(const ListRef two, r.iterate(pair));
        if (two->items.size() != 2 || !Dict::can_be_key(two->items[0]))
          return invalid("pairs of a key and a value are needed");
        out.set(two->items[0], two->items[1]);
      }
    }
  }
  for (const auto& [name, value] : args.named) out.set(r.text(name), value);
  return out;
}

Result<Value> dict(Renderer& r, Args args) {
  TRY(Dict out, dict_from(r, args));
  return dict_value(r.heap(), std::move(out));
}

Result<Value> make_namespace(Renderer& r, Args args) {
  TRY(Dict attributes, dict_from(r, args));
  auto* space = r.create<Namespace>();
  space->attributes = std::move(attributes);
  return Value(static_cast<Object*>(space));
}

constexpr NamedFunction functions[] = {{"raise_exception", raise_exception},
                                       {"strftime_now", strftime_now},
                                       {"range", range},
                                       {"dict", dict},
                                       {"namespace", make_namespace}};

}  // namespace

std::span<const NamedFunction> global_functions() { return functions; }

}  // namespace pteron::jinja
