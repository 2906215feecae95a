// SPDX-License-Identifier: BSD-3-Clause
// What may stand behind 'is'.
#include "base/error.h"
#include "llm/jinja/builtin.h"

namespace pteron::jinja {
namespace {

using Subject = const Value&;
using Args = const CallArguments&;

bool is_callable(Subject v) {
  return v.is_undefined() || v.as<MethodRef>() || (v.object() && v.object()->as_callable());
}
bool is_sequence(Subject v) {
  return v.text() || v.dict() || v.is_undefined() || (v.list() && v.list()->kind <= List::range);
}

struct PlainTest {
  std::string_view name;
  bool (*run)(Subject);
};
constexpr PlainTest plain_tests[] = {
    {"defined", [](Subject v) { return !v.is_undefined(); }},
    {"undefined", [](Subject v) { return v.is_undefined(); }},
    {"none", [](Subject v) { return v.is_none(); }},
    {"boolean", [](Subject v) { return v.as<bool>() != nullptr; }},
    {"true", [](Subject v) { return v.as<bool>() && *v.as<bool>(); }},
    {"false", [](Subject v) { return v.as<bool>() && !*v.as<bool>(); }},
    {"integer", [](Subject v) { return v.as<i64>() != nullptr; }},
    {"float", [](Subject v) { return v.as<f64>() != nullptr; }},
    {"number", [](Subject v) { return v.is_number(); }},
    {"string", [](Subject v) { return v.text() != nullptr; }},
    {"mapping", [](Subject v) { return v.dict() != nullptr; }},
    {"sequence", is_sequence},
    {"iterable", [](Subject v) { return is_sequence(v) || v.list() != nullptr; }},
    {"callable", is_callable},
};

struct ComparingTest {
  std::string_view name;
  Comparison op;
};
constexpr ComparingTest comparing_tests[] = {
    {"eq", Comparison::equal},
    {"equalto", Comparison::equal},
    {"==", Comparison::equal},
    {"ne", Comparison::not_equal},
    {"!=", Comparison::not_equal},
    {"lt", Comparison::less},
    {"<", Comparison::less},
    {"lessthan", Comparison::less},
    {"le", Comparison::less_equal},
    {"<=", Comparison::less_equal},
    {"gt", Comparison::greater},
    {">", Comparison::greater},
    {"greaterthan", Comparison::greater},
    {"ge", Comparison::greater_equal},
    {">=", Comparison::greater_equal},
    {"in", Comparison::in},
};

Result<bool> leaves_rest(Renderer& r, Subject subject, const Value& by, i64 wanted) {
  TRY(const Value rest, arithmetic(r.heap(), Binary::modulo, subject, by));
  return equal(r.heap(), rest, Value(wanted));
}

// The same object, as far as templates can tell.
bool same_as(Heap& heap, Subject a, Subject b) {
  if (a.data().index() != b.data().index() || a.is_undefined()) return false;
  if (a.list()) return a.list() == b.list();
  if (a.dict()) return a.dict() == b.dict();
  return equal(heap, a, b);
}

}  // namespace

Result<bool> Renderer::test(std::string_view name, const Value& subject, const CallArguments& arguments) {
  const auto run = [&]() -> Result<bool> {
    const auto plain = std::ranges::find(plain_tests, name, &PlainTest::name);
    if (plain != std::end(plain_tests)) {
      TRY_DO(take_none(arguments));
      return plain->run(subject);
    }
    if (name == "even" || name == "odd") {
      TRY_DO(take_none(arguments));
      return leaves_rest(*this, subject, Value(i64(2)), name == "odd");
    }
    const auto comparing = std::ranges::find(comparing_tests, name, &ComparingTest::name);
    if (comparing == std::end(comparing_tests) && name != "divisibleby" && name != "sameas") {
      for (std::string_view known : {"lower", "upper", "escaped", "filter", "test"})
        if (name == known) return unsupported("the test '", name, "' is not supported");
      return invalid("there is no test '", name, "'");
    }
    TRY(const auto a, take(arguments, {"other"}, 1));
    if (name == "divisibleby") return leaves_rest(*this, subject, *a[0], 0);
    if (name == "sameas") return same_as(heap_, subject, *a[0]);
    return compare(heap_, comparing->op, subject, *a[0]);
  };
  return within(run(), "is ", name);
}

}  // namespace pteron::jinja
