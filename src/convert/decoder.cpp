// SPDX-License-Identifier: BSD-3-Clause
#include "convert/decoder.h"

#include "convert/matrix_ops.h"

#include <set>

namespace pteron::convert {
namespace {

class Builder {
 public:
  Builder(const Gguf& file, const Model& model, const DecoderOptions& options)
      : file_(file), model_(model), options_(options) {}

  Result<GraphDraft> run() {
    tokens_ = g_.input(g_.activation({1, options_.max_tokens}, DType::i32), true, DType::i64);
    const u32 position = g_.input(g_.activation({1}, DType::i32), false, DType::i64);
    length_ = g_.make_live(tokens_, 1);
    start_ = g_.host_element(position, 0);
    make_rope();

    TRY(const Weight table, matrix("token_embd", model_.vocabulary, model_.width));
    u32 x = ops_.embedding(tokens_, table);
    for (u32 layer = 0; layer < model_.layers; ++layer) {
      TRY(x, attention(x, layer));
      TRY(x, feed_forward(x, layer));
    }
    if (!options_.all_logits) x = g_.last_of_axis(x, 1);
    TRY(x, norm(x, "output_norm", model_.width));
    u32 logits = 0;
    if (file_.tensor("output.weight")) {
      TRY(logits, linear(x, "output", model_.vocabulary));
    } else {
      logits = ops_.linear(x, table, nullptr);
    }
    g_.output(logits, options_.all_logits);
    TRY_DO(check_all_used());
    return std::move(g_);
  }

 private:
  // --- tensors

  Result<Weight> tensor(const std::string& name, const Shape& shape, Quantization quantization) {
    const GgufTensor* found = file_.tensor(name);
    if (!found) return invalid("tensor '", name, "' is missing");
    if (!(found->shape == shape))
      return invalid("tensor '", name, "' has shape ", found->shape, "; the metadata says it should be ", shape);
    used_.insert(name);
    return Weight(file_, *found, quantization);
  }
  Result<Weight> matrix(const std::string& name, u32 rows, u32 columns) {
    return tensor(name + ".weight", Shape{rows, columns}, options_.quantization);
  }
  Result<Weight> vector(const std::string& name, u32 size) { return tensor(name, Shape{size}, Quantization::lossless); }

  Status check_all_used() const {
    for (const GgufTensor& t : file_.tensors())
      if (!used_.contains(t.name) && t.name != "rope_freqs.weight")
        return unsupported("tensor '", t.name, "' has no place in a ", model_.architecture->name,
                           " model as it is known here; leaving it out would change the answers");
    return {};
  }

  // --- layers

  Result<u32> norm(u32 x, const std::string& name, u32 size) {
    TRY(const Weight weight, vector(name + ".weight", size));
    return g_.rms_norm(x, g_.constant(weight.numbers()), model_.epsilon);
  }

  Result<u32> linear(u32 x, const std::string& name, u32 rows, bool needs_bias = false) {
    TRY(const Weight weight, matrix(name, rows, g_.axes(x).back().max));
    if (!needs_bias && !file_.tensor(name + ".bias")) return ops_.linear(x, weight, nullptr);
    TRY(const Weight bias, vector(name + ".bias", rows));
    return ops_.linear(x, weight, &bias);
  }

  void make_rope() {
    RopeTables tables = rope_tables(model_.rope, options_.context);
    cosines_ = g_.prepacked(numbers(tables.shape, std::move(tables.cosines)));
    sines_ = g_.prepacked(numbers(tables.shape, std::move(tables.sines)));
    if (!model_.rope.interleaved) return;
    const u32 end = g_.sum(start_, *length_.symint);
    cosines_ = g_.slice(cosines_, start_, end, length_);
    sines_ = g_.slice(sines_, start_, end, length_);
  }

  void rotate(u32& q, u32& k) {
    const u32 rotated_q = g_.activation(g_.axes(q)), rotated_k = g_.activation(g_.axes(k));
    const u32 outputs = g_.list({rotated_q, rotated_k});
    if (model_.rope.interleaved)
      g_.op("et_vk.apply_rotary_emb.default", {q, k, cosines_, sines_, outputs});
    else
      g_.op("et_vk.apply_rotary_emb_hf.default", {q, k, cosines_, sines_, start_, outputs});
    q = rotated_q;
    k = rotated_k;
  }

  // q, k or v of one layer: [1, S, heads, head width].
  Result<u32> heads_of(u32 x, const std::string& name, u32 heads) {
    TRY(const u32 flat, linear(x, name, heads * model_.head_width, model_.architecture->qkv_bias));
    return g_.view(flat, {1, length_, heads, model_.head_width});
  }

  Result<u32> attention(u32 x, u32 layer) {
    const std::string prefix = str("blk.", layer, ".attn_");
    TRY(const u32 normed, norm(x, prefix + "norm", model_.width));
    TRY(u32 q, heads_of(normed, prefix + "q", model_.heads));
    TRY(u32 k, heads_of(normed, prefix + "k", model_.kv_heads));
    TRY(const u32 v, heads_of(normed, prefix + "v", model_.kv_heads));
    if (model_.architecture->query_key_norm) {
      TRY(q, norm(q, prefix + "q_norm", model_.head_width));
      TRY(k, norm(k, prefix + "k_norm", model_.head_width));
    }
    rotate(q, k);
    const Shape cache{1, options_.context, model_.kv_heads, model_.head_width};
    const u32 k_cache = g_.constant(zeros(cache)), v_cache = g_.constant(zeros(cache));
    const u32 scale = model_.attention_scale ? g_.number(*model_.attention_scale) : g_.null();
    const u32 y = g_.activation(g_.axes(q));
    g_.op("sdpa_with_kv_cache.default",
          {q, k, v, k_cache, v_cache, start_, g_.integer(1), g_.null(), g_.integer(0), g_.boolean(true), scale, y});
    const u32 flat = g_.view(y, {1, length_, model_.heads * model_.head_width});
    TRY(const u32 out, linear(flat, prefix + "output", model_.width));
    return g_.add(x, out);
  }

  Result<u32> feed_forward(u32 x, u32 layer) {
    const std::string prefix = str("blk.", layer, ".ffn_");
    TRY(const u32 normed, norm(x, prefix + "norm", model_.width));
    TRY(const u32 gate, linear(normed, prefix + "gate", model_.hidden));
    const u32 active = g_.multiply(gate, g_.sigmoid(gate));
    TRY(const u32 up, linear(normed, prefix + "up", model_.hidden));
    TRY(const u32 down, linear(g_.multiply(active, up), prefix + "down", model_.width));
    return g_.add(x, down);
  }

  const Gguf& file_;
  const Model& model_;
  const DecoderOptions& options_;
  GraphDraft g_;
  MatrixOps ops_{g_};
  std::set<std::string, std::less<>> used_;
  u32 tokens_ = 0, start_ = 0, cosines_ = 0, sines_ = 0;
  Axis length_{1};
};

}  // namespace

Result<GraphDraft> build_decoder(const Gguf& file, const Model& model, const DecoderOptions& options) {
  return Builder(file, model, options).run();
}

}  // namespace pteron::convert
