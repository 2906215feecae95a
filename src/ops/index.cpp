// SPDX-License-Identifier: BSD-3-Clause
// Elements that several tensors of indices name together, one for each of some axes: x[i, :, j], read and written.
#include "ops/elementwise.h"
#include "ops/scatter.h"
#include "ops/walk.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, rank, size, stride, fault, first, pad[2];
  Axes<1> axes;
};

// Which axes are indexed, and the shape that their indices broadcast to.
struct Choice {
  std::array<std::optional<TensorArg>, Shape::max_rank> indices{};
  u32 count = 0, first = 0, last = 0;
  Shape shape;

  bool adjacent() const { return last - first + 1 == count; }
};

constexpr std::string_view names[Shape::max_rank] = {"index of axis 0", "index of axis 1", "index of axis 2",
                                                     "index of axis 3", "index of axis 4", "index of axis 5",
                                                     "index of axis 6", "index of axis 7"};

// The list of indices at argument `arg`.
Result<Choice> choice_of(Plan& op, const TensorArg& x, u32 arg) {
  Choice choice;
  const u32 given = op.list_size(arg);
  REQUIRE(op, given >= 1 && given <= x.rank(), given, " indices are given for ", x.shape());
  for (u32 axis = 0; axis < given; ++axis) {
    const auto index = op.maybe_list_tensor(arg, axis);
    if (!index) continue;
    REQUIRE_SUPPORTED(op, index->dtype() != DType::boolean && index->dtype() != DType::u8, "axis ", axis,
                      " is indexed by a mask, so that only its contents tell the size of the result; use where, or the "
                      "indices of the elements");
    REQUIRE(op, index->dtype() == DType::i32, "indices must be int32 or int64, not ", index->dtype());
    choice.indices[axis] = index;
    if (choice.count++ == 0) choice.first = axis;
    choice.last = axis;
    auto joined = broadcast(choice.shape, index->shape());
    if (!joined && op.settled()) return Failure(std::move(joined.error()));
    if (joined) choice.shape = *joined;
  }
  REQUIRE(op, choice.count > 0, "no axis is indexed");
  return choice;
}

// Where in x each combination of indices points, as far as the indexed axes are concerned.
Result<Operand> offsets_of(Plan& op, const TensorArg& x, const Choice& choice) {
  Shape most;  // the indices' maximal shape
  for (const auto& index : choice.indices) {
    if (!index) continue;
    TRY(most, broadcast(most, index->max()));
  }
  const Operand offsets = op.scratch(std::max<u64>(most.numel(), 1) * sizeof(i32));
  const auto strides = strides_of(x.shape());
  for (u32 axis = 0; axis < x.rank(); ++axis) {
    if (!choice.indices[axis]) continue;
    const TensorArg& index = *choice.indices[axis];
    Params params{};
    params.count = u32(choice.shape.numel());
    params.size = x.shape()[axis];
    params.stride = strides[axis];
    params.first = axis == choice.first;
    op.check_indices(index, params.size, names[axis], true);
    params.fault = op.fault_slot(names[axis], params.size);
    std::reverse_copy(choice.shape.begin(), choice.shape.end(), params.axes.dims);
    set_strides(params.axes.strides[0], index.shape(), choice.shape);
    params.rank = params.axes.merge(choice.shape.rank());
    if (params.count == 0) continue;
    TRY_DO(op.dispatch(kernels::index_offsets, {index, offsets, op.fault()}, params, one_thread_per(params.count, 64)));
  }
  return offsets;
}

// The space of x[indices]: indices that stand side by side take the place of their axes, others come first.
Result<Layout> layout_of(Plan& op, const TensorArg& x, const Choice& choice) {
  REQUIRE(op, x.rank() - choice.count + choice.shape.rank() <= Shape::max_rank, "the result of ", x.shape(),
          " indexed by ", choice.shape, " would have more than ", Shape::max_rank, " axes");
  Layout layout;
  const auto strides = strides_of(x.shape()), index_strides = strides_of(choice.shape);
  const u32 place = choice.adjacent() ? choice.first : 0;
  const auto add_indices = [&] {
    for (u32 i = 0; i < choice.shape.rank(); ++i) layout.add_axis(choice.shape[i], 0, index_strides[i]);
  };
  for (u32 axis = 0; axis < x.rank(); ++axis) {
    if (axis == place) add_indices();
    if (!choice.indices[axis]) layout.add_axis(x.shape()[axis], strides[axis], 0);
  }
  return layout;
}

// index(x, [indices or Null…], out)
Status index_tensor(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  TRY(const Choice choice, choice_of(op, x, 1));
  if (choice.count == 1) return take_slices(op, x, choice.first, *choice.indices[choice.first], y, {"index", true});
  TRY(const Layout layout, layout_of(op, x, choice));
  TRY(const Operand offsets, offsets_of(op, x, choice));
  return take_at(op, x, offsets, y, layout);
}

// The axes in front of a mask, if a list of indices is nothing but one.
std::optional<u32> mask_in(Plan& op, u32 arg) {
  std::optional<u32> place;
  for (u32 i = 0; i < op.list_size(arg); ++i) {
    const auto index = op.maybe_list_tensor(arg, i);
    if (!index) continue;
    if (place || index->dtype() != DType::boolean) return std::nullopt;
    place = i;
  }
  return place;
}

Shape with_axes(Shape shape, u32 more) {
  for (u32 i = 0; i < more; ++i) shape.push_back(1);
  return shape;
}

// One number wherever a mask says so.
Status put_masked(Plan& op, const TensorArg& x, u32 place, bool accumulate) {
  const TensorArg mask = op.list_tensor(1, place), value = op.tensor(2), y = op.last_output();
  REQUIRE_SUPPORTED(op, value.max().numel() == 1,
                    "as many values are taken as a mask has set, which only its contents tell; one is supported");
  REQUIRE(op, place + mask.rank() <= x.rank(), "a mask of shape ", mask.shape(), " does not fit to ", x.shape());
  const u32 behind = x.rank() - place - mask.rank();
  const Shape live = with_axes(mask.shape(), behind), max = with_axes(mask.max(), behind), single;
  const TensorArg wide(mask.id(), mask.dtype(), &live, &max), number(value.id(), value.dtype(), &single, &single);
  return arithmetic(op, std::array{x, number, wide}, y,
                    accumulate ? "a + select(V(0), b, truth(c))" : "select(a, b, truth(c))");
}

// index_put(x, [indices or Null…], values, accumulate, out)
Status index_put(Plan& op) {
  const TensorArg x = op.tensor(0), values = op.tensor(2), y = op.last_output();
  const bool accumulate = op.flag(3);
  if (const auto place = mask_in(op, 1)) return put_masked(op, x, *place, accumulate);
  TRY(const Choice choice, choice_of(op, x, 1));
  TRY(Layout layout, layout_of(op, x, choice));
  const Shape shape = layout.shape();
  auto joined = broadcast(shape, values.shape());
  REQUIRE_LIVE(op, joined && *joined == shape, "values ", values.shape(), " don't fit to the place ", shape);
  u32 strides[Shape::max_rank] = {};
  set_strides(strides, values.shape(), shape);
  for (u32 i = 0; i < layout.rank; ++i) layout.source_strides[i] = strides[layout.rank - 1 - i];
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0 || shape.numel() == 0) return copy(op, x, y);
  TRY(const Operand offsets, offsets_of(op, x, choice));
  Scatter scatter{.offsets = offsets, .size = u32(x.numel()), .layout = layout};
  scatter.source = values;
  if (accumulate) scatter.how = Scatter::sum;
  return run_scatter(op, x, y, scatter);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.index.Tensor", index_tensor, "x, indices: maybe_tensors -> out"_sig},
    {"aten.index_put.default", index_put, "x, indices: maybe_tensors, values, accumulate: flag = false -> out"_sig},
};
extern const OpList index_ops = entries;

}  // namespace pteron::ops
