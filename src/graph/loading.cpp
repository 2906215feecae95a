// SPDX-License-Identifier: BSD-3-Clause
#include "graph/loading.h"

#include "graph/dtype_cast.h"

#include <algorithm>

namespace pteron::graph {
namespace {

// Writes are staged in host memory until a submit completes, so submit and wait this often.
constexpr u64 upload_window = 4 << 20;

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte(0); });
}

}  // namespace

std::shared_ptr<GpuConstant> ConstantStore::find(const Key& key) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [k, constant] : entries_)
    if (k == key) return constant.lock();
  return nullptr;
}

void ConstantStore::add(Key key, const std::shared_ptr<GpuConstant>& constant) {
  const std::scoped_lock lock(mutex_);
  entries_.emplace_back(std::move(key), constant);
}

Loading::Loading(std::shared_ptr<Context> context, std::shared_ptr<const CompiledGraph> compiled, ConstantStore& store)
    : loaded_(std::make_shared<LoadedGraph>()), c_(*compiled), store_(store) {
  loaded_->context = std::move(context);
  loaded_->compiled = std::move(compiled);
}

Result<std::unique_ptr<Loading>> Loading::begin(std::shared_ptr<Context> context,
                                                std::shared_ptr<const CompiledGraph> compiled, ConstantStore& store) {
  std::unique_ptr<Loading> self(new Loading(std::move(context), std::move(compiled), store));
  TRY_DO(self->start_pipelines());
  TRY_DO(self->plan_constants());
  return self;
}

Status Loading::start_pipelines() {
  std::vector<gpu::PipelineSpec> missing;
  loaded_->pipelines.resize(c_.pipelines.size());
  for (u32 i = 0; i < c_.pipelines.size(); ++i) {
    gpu::PipelineSpec spec = assemble(c_.pipelines[i]);
    if (auto shared = loaded_->context->find(spec.source)) {
      loaded_->pipelines[i] = std::move(shared);
      continue;
    }
    const auto found = std::find(sources_.begin(), sources_.end(), spec.source);
    if (found != sources_.end()) {
      wanted_by_[size_t(found - sources_.begin())].push_back(i);
      continue;
    }
    sources_.push_back(spec.source);
    wanted_by_.push_back({i});
    missing.push_back(std::move(spec));
  }
  if (missing.empty()) return {};
  TRY(batch_, loaded_->context->device().compile(std::move(missing)));
  return {};
}

Result<std::shared_ptr<GpuConstant>> Loading::allocate(u64 bytes, const std::vector<u64>& split,
                                                       std::string_view label) {
  auto constant = std::make_shared<GpuConstant>();
  for (size_t i = 0; i <= split.size(); ++i) {
    const u64 begin = i == 0 ? 0 : split[i - 1], end = i == split.size() ? bytes : split[i];
    TRY(auto buffer, loaded_->context->device().create_buffer(end - begin, gpu::BufferUse::gpu, label));
    constant->pieces.push_back({begin, std::move(buffer)});
  }
  return constant;
}

Status Loading::plan_constants() {
  for (const ConstantUse& use : c_.constants) {
    ConstantStore::Key key{{}, use.split};
    for (const ConstantPiece& piece : use.pieces)
      key.pieces.push_back({c_.graph.constants[piece.constant].location, piece.from, piece.to, piece.packing});
    auto shared = store_.find(key);
    if (!shared) {
      TRY(shared, allocate(use.bytes, use.split, c_.graph.constants[use.pieces[0].constant].name));
      for (const ConstantPiece& piece : use.pieces) {
        const DataLocation& location = c_.graph.constants[piece.constant].location;
        if (location.range.size > 0)
          tasks_.push_back(
              {location, piece.from, piece.to, piece.packing, shared, piece.offset, std::nullopt, use.bytes, 0});
      }
      fresh_.emplace_back(std::move(key), shared);
    }
    loaded_->constants.push_back(std::move(shared));
  }
  loaded_->initial_states.resize(c_.states.size());
  for (u32 i = 0; i < c_.states.size(); ++i) {
    const StateUse& use = c_.states[i];
    const DataLocation& location = c_.graph.constants[use.constant].location;
    if (location.range.size > 0)
      tasks_.push_back({location, use.from, use.to, std::nullopt, nullptr, 0, i, use.bytes, 0});
  }
  // In file order, so that a stream can be read once, front to back.
  std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
    return std::pair(a.location.source, a.location.range.offset) <
           std::pair(b.location.source, b.location.range.offset);
  });
  for (const Task& task : tasks_) total_bytes_ += task.location.range.size;
  return {};
}

// Rows are converted before they are packed, so they may be shorter in the file.
u64 Loading::file_row_bytes(const Task& task) {
  return task.packing->row_bytes / size_of(task.to) * size_of(task.from);
}

u64 Loading::chunk_of(const Task& task) const {
  const u64 left = task.location.range.size - task.done;
  if (!task.packing) return std::min(left, chunk_bytes);
  const u64 group = task.packing->group_rows * file_row_bytes(task);
  return std::min(left, std::max(group, chunk_bytes / std::max<u64>(group, 1) * group));
}

Loading::Need Loading::next() const {
  if (current_ < tasks_.size()) {
    const Task& task = tasks_[current_];
    return {Need::data, {task.location.source, {task.location.range.offset + task.done, chunk_of(task)}}};
  }
  if (compiled_count_ < sources_.size()) return {Need::pipelines, {}};
  return {Need::nothing, {}};
}

Status Loading::supply(Bytes bytes) {
  if (current_ >= tasks_.size()) return internal_error("bytes were supplied that nobody asked for");
  Task& task = tasks_[current_];
  if (bytes.size() != chunk_of(task))
    return invalid(bytes.size(), " bytes were supplied, but ", chunk_of(task), " were asked for");
  TRY_DO(task.packing ? supply_packed(task, bytes) : supply_raw(task, bytes));
  task.done += bytes.size();
  done_bytes_ += bytes.size();
  if (task.done == task.location.range.size) ++current_;
  if (unsent_bytes_ >= upload_window || current_ == tasks_.size()) {
    TRY_DO(loaded_->context->device().submit(gpu::Submission{}));
    TRY_DO(loaded_->context->device().wait_idle());
    unsent_bytes_ = 0;
  }
  return {};
}

Status Loading::supply_raw(Task& task, Bytes bytes) {
  if (task.state && !task.target) {
    if (all_zero(bytes)) return {};
    TRY(task.target, allocate(task.gpu_bytes, {}, "initial state"));
    loaded_->initial_states[*task.state] = task.target;
  }
  const u64 offset = task.offset + task.done / size_of(task.from) * size_of(task.to);
  if (task.from == task.to && bytes.size() % 4 == 0) return write(task, offset, bytes);
  const u64 converted = bytes.size() / size_of(task.from) * size_of(task.to);
  buffer_.assign((converted + 3) / 4 * 4, std::byte(0));
  TRY_DO(convert(bytes, task.from, MutableBytes(buffer_).first(converted), task.to));
  return write(task, offset, buffer_);
}

Status Loading::supply_packed(Task& task, Bytes bytes) {
  const Packing& packing = *task.packing;
  const u64 first_row = task.done / file_row_bytes(task);
  const u64 rows = bytes.size() / file_row_bytes(task);
  const u64 groups = (rows + packing.group_rows - 1) / packing.group_rows;
  if (task.from != task.to) {
    converted_.resize(rows * packing.row_bytes);
    TRY_DO(convert(bytes, task.from, converted_, task.to));
    bytes = converted_;
  }
  buffer_.assign(groups * packing.group_bytes, std::byte(0));
  TRY_DO(packing.pack(packing, bytes, first_row, buffer_));
  return write(task, task.offset + first_row / packing.group_rows * packing.group_bytes, buffer_);
}

Status Loading::write(const Task& task, u64 offset, Bytes bytes) {
  for (const GpuConstant::Piece& piece : task.target->pieces) {
    const u64 begin = std::max(offset, piece.offset),
              end = std::min(offset + bytes.size(), piece.offset + piece.buffer.size());
    if (begin >= end) continue;
    TRY_DO(loaded_->context->device().write(piece.buffer.id(), begin - piece.offset,
                                            bytes.subspan(begin - offset, end - begin)));
  }
  unsent_bytes_ += bytes.size();
  return {};
}

Status Loading::poll(bool wait) {
  TRY(compiled_count_, batch_->poll(wait));
  return {};
}

Result<std::shared_ptr<const LoadedGraph>> Loading::finish() {
  if (next().kind != Need::nothing) return internal_error("the program is not loaded yet");
  if (batch_) {
    TRY(auto pipelines, batch_->take());
    for (size_t i = 0; i < pipelines.size(); ++i) {
      const auto shared = loaded_->context->add(sources_[i], std::move(pipelines[i]));
      for (u32 index : wanted_by_[i]) loaded_->pipelines[index] = shared;
    }
    batch_.reset();
  }
  TRY_DO(loaded_->context->device().health());
  for (auto& [key, constant] : fresh_) store_.add(std::move(key), constant);  // whole from now on
  fresh_.clear();
  return loaded_;
}

Progress Loading::progress() const {
  if (current_ < tasks_.size()) return {"weights", done_bytes_, total_bytes_};
  return {"pipelines", compiled_count_, sources_.size()};
}

}  // namespace pteron::graph
