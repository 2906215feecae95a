// SPDX-License-Identifier: BSD-3-Clause
// A pass that asks for something illegal gets "no".
#include "graph/rewriter.h"

#include "graph/op.h"
#include "support/builder.h"

#include <gtest/gtest.h>

namespace pteron::graph {
namespace {

// A graph of relus, adds and cache updates, without the detour over a file.
class Draft {
 public:
  Graph graph;

  ValueId tensor(bool constant = false) {
    Tensor t{DType::f32, {1, 4, 1, 2}, {}};
    if (constant) {
      t.constant = u32(graph.constants.size());
      graph.constants.push_back({});
    }
    graph.values.push_back(t);
    return ValueId(graph.values.size() - 1);
  }
  ValueId input() { return graph.inputs.emplace_back(tensor()); }
  // Another id of the same constant.
  ValueId same(ValueId constant) {
    graph.values.push_back(graph.values[constant]);
    return ValueId(graph.values.size() - 1);
  }
  u32 op(std::string_view name, std::vector<ValueId> args) {
    Op op;
    op.name = std::string(name);
    op.entry = find_op(name);
    op.args = std::move(args);
    op.position = u32(graph.ops.size());
    EXPECT_EQ(op.args.size(), op.entry->signature.params.size());
    graph.ops.push_back(std::move(op));
    return u32(graph.ops.size() - 1);
  }
  u32 relu(ValueId x, ValueId y) { return op("aten.relu.default", {x, y}); }
  u32 mul(ValueId a, ValueId b, ValueId y) { return op("aten.mul.Tensor", {a, b, y}); }
  u32 update(ValueId value, ValueId cache) {
    graph.values.push_back(i64(0));
    const ValueId start = ValueId(graph.values.size() - 1);
    return op("update_cache.default", {value, cache, start, tensor()});
  }
};

// relu(x) → a; what the test puts in between; relu(a) → y: fused into relu(x) → y?
bool fuses(Draft& d, ValueId x, ValueId a, ValueId y, u32 first, u32 last) {
  Rewriter e(d.graph);
  return e.fuse(last, e.make("aten.relu.default", {x, y}, e.op(last)), std::array{first, last}) &&
         !e.is_removed(last) && e.is_removed(first) && a != y;
}

TEST(Rewriter, FusesWhatNobodyDisturbs) {
  Draft d;
  const ValueId x = d.input(), other = d.input(), a = d.tensor(), b = d.tensor(), y = d.tensor();
  const u32 first = d.relu(x, a);
  d.relu(other, b);
  const u32 last = d.relu(a, y);
  d.graph.outputs = {y, b};
  EXPECT_TRUE(fuses(d, x, a, y, first, last));
}

TEST(Rewriter, DoesNotMoveAReadOverAWrite) {
  for (int way = 0; way < 4; ++way) {
    Draft d;
    const ValueId value = d.input(), state = d.tensor(true), a = d.tensor(), y = d.tensor();
    const u32 first = d.relu(state, a);
    if (way == 0) d.update(value, state);
    if (way == 1) d.relu(value, state);
    if (way == 2) d.relu(value, d.same(state));
    if (way == 3) d.relu(state, d.tensor());
    const u32 last = d.relu(a, y);
    d.graph.outputs = {y};
    EXPECT_EQ(fuses(d, state, a, y, first, last), way == 3) << way;
  }
}

TEST(Rewriter, DoesNotMoveAWriteOverAReadOrAWrite) {
  for (int way = 0; way < 3; ++way) {
    Draft d;
    const ValueId x = d.input(), state = d.tensor(true), a = d.tensor(), b = d.tensor();
    const u32 first = d.relu(x, a);
    if (way == 0) d.relu(state, b);
    if (way == 1) d.relu(x, state);
    const u32 last = d.relu(x, state);
    d.graph.outputs = {a, b};
    Rewriter e(d.graph);
    EXPECT_EQ(e.can_move(last, first), way == 2) << way;
  }
}

TEST(Rewriter, KeepsResultsThatSomebodyWants) {
  for (int way = 0; way < 3; ++way) {
    Draft d;
    const ValueId x = d.input(), a = d.tensor(), y = d.tensor();
    const u32 first = d.relu(x, a), last = d.relu(a, y);
    d.graph.outputs = {y};
    if (way == 0) d.relu(a, d.tensor());
    if (way == 1) d.graph.outputs.push_back(a);
    EXPECT_EQ(fuses(d, x, a, y, first, last), way == 2) << way;
  }
}

TEST(Rewriter, KeepsUpdates) {
  Draft d;
  const ValueId value = d.input(), cache = d.tensor(true), y = d.tensor();
  const u32 update = d.update(value, cache), last = d.relu(value, y);
  d.graph.outputs = {y};
  Rewriter e(d.graph);
  EXPECT_FALSE(e.fuse(last, e.make("aten.relu.default", {value, y}, e.op(last)), std::array{update, last}));
  EXPECT_FALSE(e.remove(update));
}

TEST(Rewriter, RefusesAnOpThatDoesSomethingElse) {
  Draft d;
  const ValueId x = d.input(), other = d.input(), a = d.tensor(), y = d.tensor(), z = d.tensor();
  const u32 first = d.relu(x, a), last = d.relu(a, y);
  d.relu(other, z);
  d.graph.outputs = {y, z};
  Rewriter e(d.graph);
  EXPECT_FALSE(e.fuse(last, e.make("aten.relu.default", {other, y}, e.op(last)), std::array{first, last}));
  EXPECT_FALSE(e.fuse(last, e.make("aten.relu.default", {x, z}, e.op(last)), std::array{first, last}));
  EXPECT_FALSE(e.fuse(last, e.make("aten.relu.default", {x, y}, e.op(last)), std::array{first}));
  EXPECT_TRUE(e.fuse(last, e.make("aten.relu.default", {x, y}, e.op(last)), std::array{first, last}));
}

// y = relu(x); z = relu(x) reads what the first one wrote if they are the same memory.
TEST(Rewriter, DoesNotJoinOpsOfWhichOneFeedsTheOther) {
  Draft d;
  const ValueId x = d.tensor(true), other = d.input(), z = d.tensor();
  const u32 first = d.mul(x, other, x), last = d.mul(x, other, z);
  d.graph.outputs = {z};
  Rewriter e(d.graph);
  // One op that reads x once and makes both would give z the old x.
  Op both = e.make("et_vk.apply_rotary_emb.default", {}, e.op(first));
  both.args = {x, other, x, other, e.add(ValueList{{x, z}})};
  EXPECT_FALSE(e.fuse(last, std::move(both), std::array{first, last}));
}

TEST(Rewriter, RepeatsOnlyWhatIsTheSameLater) {
  for (bool written : {false, true}) {
    Draft d;
    const ValueId table = d.tensor(true), x = d.input(), part = d.tensor(), y = d.tensor();
    const u32 cut = d.relu(table, part);
    if (written) d.relu(x, table);
    const u32 last = d.mul(x, part, y);
    d.graph.outputs = {y};
    Rewriter e(d.graph);
    EXPECT_EQ(e.fuse(last, e.make("aten.mul.Tensor", {x, table, y}, e.op(last)), std::array{last}, std::array{cut}),
              !written);
    EXPECT_EQ(e.is_removed(cut), !written);
  }
}

TEST(Rewriter, DoesNotRepeatAnUpdate) {
  Draft d;
  const ValueId x = d.input(), cache = d.tensor(true), y = d.tensor();
  const u32 update = d.update(x, cache), last = d.mul(x, d.graph.ops[update].args.back(), y);
  d.graph.outputs = {y};
  Rewriter e(d.graph);
  EXPECT_FALSE(
      e.fuse(last, e.make("aten.mul.Tensor", {x, cache, y}, e.op(last)), std::array{last}, std::array{update}));
}

TEST(Rewriter, DoesNotLetAnOpReadWhatNobodyMakesAnyMore) {
  Draft d;
  const ValueId x = d.input(), a = d.tensor(), y = d.tensor();
  const u32 first = d.relu(x, a), last = d.mul(a, a, y);
  d.graph.outputs = {y};
  Rewriter e(d.graph);
  EXPECT_FALSE(e.fuse(last, e.make("aten.mul.Tensor", {x, a, y}, e.op(last)), std::array{first, last}));
  EXPECT_TRUE(e.fuse(last, e.make("aten.mul.Tensor", {x, x, y}, e.op(last)), std::array{first, last}));
}

TEST(Rewriter, RemovesWhatNobodyReadsAndNothingElse) {
  Draft d;
  const ValueId x = d.input(), state = d.tensor(true), a = d.tensor(), b = d.tensor(), y = d.tensor();
  const u32 unread = d.relu(x, a), read = d.relu(x, b), writes = d.relu(x, state), last = d.relu(b, y);
  d.graph.outputs = {y};
  Rewriter e(d.graph);
  EXPECT_TRUE(e.remove(unread));
  EXPECT_FALSE(e.remove(unread));
  EXPECT_FALSE(e.remove(read));
  EXPECT_FALSE(e.remove(writes));
  EXPECT_FALSE(e.remove(last));
  e.commit();
  EXPECT_EQ(d.graph.ops.size(), 3u);
}

TEST(Rewriter, FollowsCopiesOfWhatStaysAsItIs) {
  Draft d;
  const ValueId x = d.input(), state = d.tensor(true), a = d.tensor(), b = d.tensor(), c = d.tensor();
  d.op("aten.alias_copy.default", {x, a});
  d.op("aten.alias_copy.default", {a, b});
  d.op("aten.alias_copy.default", {state, c});
  d.relu(x, state);
  d.graph.outputs = {b, c};
  Rewriter e(d.graph);
  EXPECT_EQ(e.source(b).value, x);
  EXPECT_EQ(e.source(b).copies, (std::vector<u32>{1, 0}));
  EXPECT_EQ(e.source(c).value, c);
  EXPECT_FALSE(e.is_fixed(state));
}

// first makes a, the last op reads it: the first one writes `form` besides, and the last one reads that too.
TEST(Rewriter, HandsOnToTheOnlyReaderBehindCopies) {
  for (int way = 0; way < 7; ++way) {
    Draft d;
    const ValueId x = d.input(), other = d.input(), a = d.tensor(), b = d.tensor(), copy = d.tensor(), y = d.tensor(),
                  known = d.tensor();
    d.graph.values.push_back(ValueList{{a, b}});
    const u32 first = d.op("et_vk.apply_rotary_emb.default", {x, x, other, other, ValueId(d.graph.values.size() - 1)});
    if (way == 1) d.relu(a, d.tensor());
    d.op("aten.alias_copy.default", {a, copy});
    if (way == 2) d.relu(copy, d.tensor());
    if (way == 3) d.relu(b, d.tensor());
    if (way == 4) d.relu(other, known);
    const u32 last = d.mul(copy, other, y);
    d.graph.outputs = {y};
    if (way == 5) d.graph.outputs.push_back(copy);
    Rewriter e(d.graph);
    const ValueId form = way == 4 ? known : e.add(*d.graph.tensor(a));
    Op maker = e.op(first);
    maker.args.back() = e.add(ValueList{{a, b, form}});
    const Op reader = e.make("aten.cat.default", {e.add(ValueList{{copy, other, form}}), e.add(i64(0)), y}, e.op(last));
    const Op stranger = e.make("aten.cat.default", {e.add(ValueList{{copy, x, form}}), e.add(i64(0)), y}, e.op(last));
    EXPECT_EQ(e.hand_on(form, first, maker, last, way == 6 ? stranger : reader), way == 0) << way;
    EXPECT_EQ(e.uses(form), way == 0 ? 1u : 0u) << way;
  }
}

}  // namespace
}  // namespace pteron::graph
