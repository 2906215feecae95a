// SPDX-License-Identifier: BSD-3-Clause
#include "llm/session_impl.h"

namespace pteron {

Status SessionBatch::begin(std::span<Run> runs) {
  if (broken_) return Failure(*broken_);
  lanes_.clear();
  runs_.clear();
  for (Run& run : runs) {
    Session::Impl& session = *run.session->impl_;
    run.status = session.prepare(run.wanted);
    if (run.status && session.input.size() != 1)
      run.status = invalid("the session has ", session.input.size(), " tokens to read; in a batch it is one");
    if (!run.status) continue;
    lanes_.push_back({&session.method, session.inputs(), session.outputs_of(session.wanted)});
    runs_.push_back(&run);
  }
  if (lanes_.empty()) return {};
  if (Status begun = batch_.begin(lanes_); !begun) return broken_ = begun.error(), begun;
  for (size_t i = 0; i < runs_.size(); ++i)
    if (lanes_[i].status) runs_[i]->session->impl_->running = true;
  return {};
}

Result<bool> SessionBatch::finish(bool wait) {
  auto done = batch_.finish(wait);
  if (done && !*done) return false;
  for (size_t i = 0; i < runs_.size(); ++i) {
    Session::Impl& session = *runs_[i]->session->impl_;
    session.running = false;
    runs_[i]->status = done ? std::move(lanes_[i].status) : Status(Failure(done.error()));
    if (runs_[i]->status) session.conclude();
  }
  runs_.clear();
  lanes_.clear();
  return done;
}

}  // namespace pteron
