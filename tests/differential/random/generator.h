// SPDX-License-Identifier: BSD-3-Clause
// Draws valid graphs. Their tensors have few different shapes, so that ops meet: results are read by several ops,
// written over constants and inputs, and stand next to what passes look for.
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

namespace pteron::differential {

struct Dim {
  u32 size = 1;       // at most
  bool live = false;  // the dimension that changes from step to step
  friend bool operator==(const Dim&, const Dim&) = default;
};
using Sizes = std::vector<Dim>;

// What a tensor from outside holds.
struct Fill {
  enum Kind { values, bytes, scales, indices, position, truth } kind = values;
  u32 limit = 0;  // of indices and positions
};

class Generator {
 public:
  explicit Generator(Choices& choices);
  Sample run();

 private:
  struct Known {
    u32 id = 0;
    DType dtype = DType::f32;
    Sizes sizes;
    enum Origin { made, input, constant } origin = made;
    u32 memory = 0;  // the constant that this is a name of, else the id
    Fill fill;
    bool read = false, written = false;
    bool pending = false;  // no op has made it yet
  };
  using Production = void (Generator::*)();

  // Tensors. What `tensor` gives is there already, or is a new input or constant.
  u32 tensor(DType dtype, const Sizes& sizes);
  u32 constant(DType dtype, const Sizes& sizes, Fill fill = {});
  u32 input(DType dtype, const Sizes& sizes, Fill fill = {});
  // A constant by its own name or by that of a prepack.
  u32 name_of(u32 constant);
  // Where an op may write: a new tensor, or over something that is there.
  u32 result(DType dtype, const Sizes& sizes, bool over = true);
  u32 some(const Sizes& sizes) { return tensor(DType::f32, sizes); }
  Known* find(u32 id);
  std::vector<u32> like(DType dtype, const Sizes& sizes, bool writable);
  static Shape shape_of(const Sizes& sizes);
  static bool is_static(const Sizes& sizes);
  std::vector<std::byte> data(DType dtype, const Shape& shape, Fill fill, u64 seed, u32 step) const;
  Sizes live_sizes(const Sizes& sizes, u32 step) const;

  void op(const char* name, std::vector<u32> args);
  // Arguments of which the first two are in any order.
  std::vector<u32> either(u32 a, u32 b, std::vector<u32> rest) {
    rest.insert(rest.begin(), {a, b});
    if (choices_.percent(50)) std::swap(rest[0], rest[1]);
    return rest;
  }
  u32 integer(i64 v) { return b_.integer(v); }
  u32 null() { return b_.null(); }
  u32 length();                          // of the live dimension, a symbolic integer
  u32 size_list(const Sizes& sizes);     // an argument of a view
  u32 position(u32 capacity, u32 most);  // Int or SymInt from which `most` positions fit
  Sizes base();                          // one of the graph's shapes
  Sizes narrower(const Sizes& sizes);    // broadcasts to them
  u32 axis_of(const Sizes& sizes) { return choices_.below(u32(sizes.size())); }
  u32 static_axis(const Sizes& sizes);  // of an axis that is not live; sizes.size() if there is none

  // Elementwise ops.
  void chain();
  u32 elementwise(u32 x, const Sizes& sizes, bool over);
  void compare_and_choose();
  void integers();
  void halves();
  void fill();
  // 4-bit linears.
  struct Weight {
    u32 bytes, scales;
    u32 columns, depth, group;
  };
  void linears();
  const Weight& weight(u32 columns, u32 depth);
  u32 linear_q4(u32 x, const Sizes& sizes, const Weight& w, bool biased, bool over = true);
  void gated(u32 x, const Sizes& sizes, u32 columns);
  void planes(u32 x, const Sizes& sizes, u32 columns);
  void offsets(u32 x, const Sizes& sizes, u32 columns);
  void table_q4();
  // State.
  void mutate();
  void elementwise_into(u32 target, const Sizes& sizes);
  void requantise();
  void cache();
  void attention();
  u32 heads_of(const Sizes& sizes);
  void heads();
  void optimiser();
  void number_from_input();
  // Shapes.
  void reshape();
  void move();
  void join();
  void take();
  // Rows and matrices.
  void rows();
  void norm();
  void matrices();
  void images();
  void look_up();

  void choose_outputs();

  Choices& choices_;
  test::GraphBuilder b_;
  std::vector<Known> known_;
  std::vector<u32> order_;  // inputs, by the method's order
  std::vector<Weight> weights_;
  std::vector<u32> live_;  // by step
  u32 rows_ = 1, width_ = 8, data_ = 0, depth_ = 0;
  bool is_live_ = false, prepacks_ = false, may_be_refused_ = false;
  std::optional<u32> length_;
};

}  // namespace pteron::differential
