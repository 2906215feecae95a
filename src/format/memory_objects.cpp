// SPDX-License-Identifier: BSD-3-Clause
#include "format/memory_objects.h"

#include <algorithm>

namespace pteron::format {
namespace {

struct Object {
  u64 bytes = 0;
  size_t free_from = 0;  // the first call after its last user
};

u64 bytes_of(const GraphTensor& tensor) { return tensor.shape.numel() * size_of(tensor.dtype); }

// The free object that wastes least: the smallest that is large enough, else the largest.
Object* best_free(std::vector<Object>& objects, size_t call, u64 bytes) {
  Object* best = nullptr;
  for (Object& object : objects) {
    if (object.free_from > call) continue;
    const bool fits = object.bytes >= bytes, best_fits = best && best->bytes >= bytes;
    if (!best || (fits && !best_fits) || (fits == best_fits && (object.bytes < best->bytes) == fits)) best = &object;
  }
  return best;
}

template <class Visit>
void for_each_tensor(const DelegateGraph& graph, const GraphCall& call, Visit visit) {
  for (u32 arg : call.args) {
    if (const auto* list = std::get_if<GraphValueList>(&graph.values[arg])) {
      for (u32 item : list->items)
        if (std::holds_alternative<GraphTensor>(graph.values[item])) visit(item);
    } else if (std::holds_alternative<GraphTensor>(graph.values[arg])) {
      visit(arg);
    }
  }
}

}  // namespace

void assign_memory_objects(DelegateGraph& graph) {
  std::vector<size_t> free_from(graph.values.size(), 0);
  std::vector<bool> placed(graph.values.size(), false);
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    for_each_tensor(graph, graph.calls[i], [&](u32 id) { free_from[id] = i + 1; });
    if (graph.calls[i].name == "et_vk.prepack.default") placed[graph.calls[i].args.back()] = true;
  }
  for (u32 id : graph.outputs) free_from[id] = graph.calls.size();

  std::vector<Object> objects;
  const auto place = [&](u32 id, size_t call) {
    GraphTensor& tensor = std::get<GraphTensor>(graph.values[id]);
    if (placed[id] || tensor.constant >= 0) return;
    placed[id] = true;
    Object* object = best_free(objects, call, bytes_of(tensor));
    if (!object) object = &objects.emplace_back();
    *object = {std::max(object->bytes, bytes_of(tensor)), free_from[id]};
    tensor.mem_obj = i32(object - objects.data());
  };
  for (u32 id : graph.inputs) place(id, 0);
  for (size_t i = 0; i < graph.calls.size(); ++i) for_each_tensor(graph, graph.calls[i], [&](u32 id) { place(id, i); });
}

}  // namespace pteron::format
