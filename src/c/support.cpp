// SPDX-License-Identifier: BSD-3-Clause
// What the engine computes, asked without a program: an op with its arguments becomes a graph of one call.
#include "runtime/support.h"
#include "c/call.h"

namespace {

using namespace pteron;

class OneCall {
 public:
  explicit OneCall(std::span<const pteron_argument> arguments) : arguments_(arguments) {}

  Status read(std::string name) {
    format::GraphCall call{0, std::move(name), {}};
    while (next_ < arguments_.size()) {
      const size_t begin = next_;
      if (auto id = within(value(0), "argument ", call.args.size()); !id)
        return Failure(std::move(id.error()));
      else
        call.args.push_back(*id);
      last_ = begin;
    }
    if (call.args.empty()) return invalid("an op has at least a result; no argument was given");
    graph_.calls.push_back(std::move(call));
    add_borders();
    return {};
  }

  Status check() const { return check_graph(graph_, is_static_); }

 private:
  // A tensor or symbolic integer of the record at `record`.
  struct Border {
    u32 value;
    size_t record;
  };

  u32 add(format::GraphValue value) {
    graph_.values.push_back(std::move(value));
    return u32(graph_.values.size() - 1);
  }

  Result<u32> value(u32 depth) {
    if (next_ >= arguments_.size()) return invalid("the list should have further items");
    const size_t record = next_++;
    const pteron_argument& given = arguments_[record];
    switch (given.kind) {
      case PTERON_ARGUMENT_NONE: return add(std::monostate());
      case PTERON_ARGUMENT_INTEGER: return add(i64(given.integer));
      case PTERON_ARGUMENT_NUMBER: return add(f64(given.number));
      case PTERON_ARGUMENT_BOOLEAN: return add(given.integer != 0);
      case PTERON_ARGUMENT_TEXT:
        if (!given.text) return invalid("the text is NULL");
        return add(std::string(given.text));
      case PTERON_ARGUMENT_SYMBOL:
        borders_.push_back({add(format::GraphSymInt{}), record});
        return borders_.back().value;
      case PTERON_ARGUMENT_TENSOR: return tensor(given, record);
      case PTERON_ARGUMENT_LIST:
        if (depth > 0) return invalid("a list can't hold lists");
        return list(given.count);
      default: return invalid("its kind ", given.kind, " is unknown");
    }
  }

  Result<u32> tensor(const pteron_argument& given, size_t record) {
    if (given.dtype < 0 || given.dtype > PTERON_INT64) return invalid("the dtype ", given.dtype, " is unknown");
    if (given.count > PTERON_MAX_RANK)
      return invalid("it has rank ", given.count, "; at most ", int(PTERON_MAX_RANK), " is supported");
    format::GraphTensor out;
    out.dtype = DType(given.dtype);
    TRY(out.shape, Shape::from(std::span<const i64>(given.shape, given.count)));
    if (given.is_constant) {
      out.constant = i32(graph_.constants.size());
      graph_.constants.push_back({"constant", {}, 0});
      return add(out);
    }
    borders_.push_back({add(out), record});
    return borders_.back().value;
  }

  // Plain numbers of one kind are a list of their own type, anything else is a list of values.
  Result<u32> list(u32 count) {
    const size_t first = graph_.values.size();
    format::GraphValueList items;
    for (u32 i = 0; i < count; ++i) {
      TRY(const u32 item, value(1));
      items.items.push_back(item);
    }
    const auto begin = graph_.values.begin() + std::ptrdiff_t(first);
    const auto all = [&]<class T>(std::vector<T> plain) -> std::optional<u32> {
      for (auto at = begin; at != graph_.values.end(); ++at) {
        if (!std::holds_alternative<T>(*at)) return std::nullopt;
        plain.push_back(std::get<T>(*at));
      }
      graph_.values.erase(begin, graph_.values.end());
      return add(std::move(plain));
    };
    if (const auto id = all(std::vector<i64>())) return *id;
    if (const auto id = all(std::vector<f64>())) return *id;
    if (const auto id = all(std::vector<bool>())) return *id;
    return add(std::move(items));
  }

  // The last argument is what the op gives; what else is no constant comes from outside.
  void add_borders() {
    for (const Border& border : borders_) {
      if (border.record >= last_) {
        graph_.outputs.push_back(border.value);
      } else {
        graph_.inputs.push_back(border.value);
        is_static_.push_back(!arguments_[border.record].is_dynamic);
      }
    }
  }

  std::span<const pteron_argument> arguments_;
  size_t next_ = 0, last_ = 0;  // the record to read next; where the last argument begins
  std::vector<Border> borders_;
  std::vector<u8> is_static_;
  format::DelegateGraph graph_;
};

}  // namespace

pteron_status pteron_check_op(const char* name, const pteron_argument* arguments, size_t count, pteron_error** error) {
  return c::call(error, [&]() -> Status {
    TRY_DO(c::require(name, "name"));
    TRY_DO(c::require(arguments || count == 0, "arguments"));
    OneCall op({arguments, count});
    TRY_DO(op.read(name));
    return op.check();
  });
}

pteron_status pteron_check_delegate(const void* blob, size_t size, pteron_error** error) {
  return c::call(error, [&]() -> Status {
    TRY_DO(c::require(blob || size == 0, "blob"));
    return check_delegate({static_cast<const std::byte*>(blob), size});
  });
}
