// SPDX-License-Identifier: BSD-3-Clause
// Ops that look elements up by indices in another tensor.
#include "differential/reference/places.h"

namespace pteron::reference {
namespace {

// Slices of x along an axis, one for each index; the indices' axes take that axis's place.
Array slices(const Array& x, size_t axis, const Array& indices, bool negative = false) {
  Dims dims(x.dims.begin(), x.dims.begin() + i64(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + i64(axis) + 1, x.dims.end());
  Array y(x.dtype, dims);
  each(dims, [&](const Dims& index, i64 i) {
    const auto first = index.begin() + i64(axis), last = first + indices.rank();
    Dims in(index.begin(), first);
    in.push_back(checked(at(indices, Dims(first, last)), x.dims[axis], negative));
    in.insert(in.end(), last, index.end());
    y.data[size_t(i)] = at(x, in);
  });
  return y;
}

void embedding(Call& op) { op.give(slices(op.tensor(0), 0, op.tensor(1))); }

void index_select(Call& op) {
  const Array& x = op.tensor(0);
  const Array& indices = op.tensor(2);
  if (x.rank() > 0 && indices.rank() == 1) return op.give(slices(x, size_t(op.axis(1, x.rank())), indices));
  Array rows = x, one = indices;
  if (rows.rank() == 0) rows.dims = {1};
  one.dims = {1};
  Array y = slices(rows, size_t(op.axis(1, rows.rank())), one);
  if (x.rank() == 0) y.dims = {};
  op.give(std::move(y));
}

void index(Call& op) {
  const Places places = places_of(op);
  Array y = op.make(places.dims);
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = op.tensor(0).data[places.all[i]];
  op.give(std::move(y));
}

void gather(Call& op) {
  const Array &x = op.tensor(0), &indices = op.tensor(2);
  if (x.rank() == 0) return op.give(x);
  const size_t axis = size_t(op.axis(1, x.rank()));
  const Dims strides = strides_of(x.dims);
  Array y = op.make(indices.dims);
  each(indices.dims, [&](const Dims& index, i64 i) {
    i64 offset = 0;
    for (size_t a = 0; a < index.size(); ++a)
      offset += strides[a] * (a == axis ? checked(indices.data[size_t(i)], x.dims[a]) : index[a]);
    y.data[size_t(i)] = x.data[size_t(offset)];
  });
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.embedding.default", embedding},
    {"aten.index_select.default", index_select},
    {"aten.index.Tensor", index},
    {"aten.gather.default", gather},
};

}  // namespace

extern const OpRules indexing_rules = rules;

}  // namespace pteron::reference
