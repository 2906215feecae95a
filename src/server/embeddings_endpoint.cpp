// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "server/api/embeddings.h"
#include "server/service.h"

namespace pteron::server {
namespace {

// One text of a request at a time, so that answers go on in between.
class EmbeddingsTask : public Task {
 public:
  EmbeddingsTask(EncoderPtr encoder, EmbeddingsRequest request, std::shared_ptr<http::Reply> reply,
                 std::chrono::seconds time)
      : encoder_(std::move(encoder)),
        request_(std::move(request)),
        reply_(std::move(reply)),
        deadline_(Job::Clock::now() + time) {}

  bool wanted() const override { return !reply_->gone(); }
  Result<bool> step() override {
    if (Job::Clock::now() >= deadline_)
      return pteron::fail(ErrorKind::cancelled, "the request took longer than the server allows");
    TRY(auto vector, encoder_->encoder.embed(request_.inputs[vectors_.size()]));
    vectors_.push_back(std::move(vector));
    if (vectors_.size() < request_.inputs.size()) return true;
    reply_->send({.body = to_text(embeddings_object(request_, vectors_, encoder_->id))});
    return false;
  }
  void fail(const Error& error) override { reply_->send(to_response(to_api_error(error))); }

 private:
  EncoderPtr encoder_;
  EmbeddingsRequest request_;
  std::shared_ptr<http::Reply> reply_;
  Job::Clock::time_point deadline_;
  std::vector<std::vector<f32>> vectors_;
};

}  // namespace

void Service::embeddings(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  const Json body = parse_body(request.body);
  const Fields fields(body);
  const std::string id = fields.text("model").value_or("");
  const EncoderPtr encoder = models_.find_encoder(id);
  if (const ModelPtr other = encoder ? nullptr : models_.find(id))
    refuse("model", "the model '", other->id, "' writes texts and has no embeddings; serve an encoder for them");
  if (!encoder)
    throw ApiError{.status = 404,
                   .message = str("the encoder '", id, "' does not exist; see /v1/models"),
                   .param = "model",
                   .code = "model_not_found"};
  auto wanted = read_embeddings(fields, encoder->encoder, options_.limits);
  if (!scheduler_.submit(std::make_unique<EmbeddingsTask>(encoder, std::move(wanted), reply, options_.limits.time)))
    refuse_full();
}

}  // namespace pteron::server
