// SPDX-License-Identifier: BSD-3-Clause
#include "convert/convert.h"

#include "base/sha256.h"
#include "convert/model.h"
#include "support/corrupt.h"
#include "support/fixture.h"
#include "support/gguf_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace pteron::convert {
namespace {

using test::File;
using test::GgufFile;

struct Converted {
  File file;
  format::ProgramSpec program;
  format::DelegateGraph graph;

  Bytes named(const std::string& key) const {
    const format::DataRange range = program.named_data.at(key);
    return Bytes(file).subspan(range.offset, range.size);
  }
  std::string text(const std::string& key) const {
    const Bytes bytes = named(key);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  u32 count(std::string_view op) const {
    u32 n = 0;
    for (const auto& call : graph.calls) n += call.name == op;
    return n;
  }
};

Result<Converted> run(const File& model, const Options& options = {}) {
  Converted out;
  TRY_DO(convert(format::borrow_memory(model), options, [&](Bytes bytes) -> Status {
    out.file.insert(out.file.end(), bytes.begin(), bytes.end());
    return {};
  }));
  TRY(const auto header, format::read_program_header(Bytes(out.file).first(64), out.file.size()));
  TRY(out.program, format::read_program(Bytes(out.file).first(header.program_size), header, out.file.size()));
  const format::DataRange range = out.program.methods[0].delegates[0].blob;
  const Bytes blob = Bytes(out.file).subspan(range.offset, range.size);
  TRY(const auto delegate, format::read_delegate_header(blob));
  TRY(out.graph, format::read_delegate_graph(blob, delegate));
  return out;
}

Converted converted(const std::string& name, const Options& options = {}) {
  const File file = test::read_bytes(test::data_folder() / "gguf" / (name + ".gguf"));
  auto out = run(file, options);
  if (!out) throw std::runtime_error(out.error().to_string());
  return *std::move(out);
}

void expect_error(const GgufFile& file, const std::string& part, const Options& options = {}) {
  const File bytes = file.bytes();
  bool wrote = false;
  const auto report = convert(format::borrow_memory(bytes), options, [&](Bytes) -> Status {
    wrote = true;
    return {};
  });
  ASSERT_FALSE(report.has_value()) << part;
  EXPECT_NE(report.error().to_string().find(part), std::string::npos) << report.error().to_string();
  EXPECT_FALSE(wrote);
}

template <class Change>
GgufFile changed(Change change) {
  GgufFile file = GgufFile::tiny_llama();
  change(file);
  return file;
}

// --- the program

TEST(Convert, StoresEveryConstantOnceUnderTheHashOfItsBytes) {
  const Converted c = converted("llama_q4_1");
  std::set<std::string> keys;
  for (const auto& constant : c.graph.constants) {
    Sha256 hash;
    hash.update(c.named(constant.key));
    EXPECT_TRUE(constant.key.ends_with(hash.finish())) << constant.key;
    EXPECT_EQ(c.named(constant.key).size(), constant.length);
    keys.insert(constant.key);
  }
  EXPECT_LT(keys.size(), c.graph.constants.size());
  EXPECT_EQ(c.program.named_data.size(), keys.size() + 3);  // and what is attached
}

TEST(Convert, TiedWeightsAndCachesShareTheirBytes) {
  const Converted c = converted("llama_q4_1");
  std::string embedding_plane, head_plane;
  std::set<std::string> caches;
  const auto key_of = [&](u32 value) {
    return c.graph.constants[u32(std::get<format::GraphTensor>(c.graph.values[value]).constant)].key;
  };
  for (const auto& call : c.graph.calls) {
    if (call.name == "et_vk.embedding_q4gsw.default") embedding_plane = key_of(call.args[0]);
    if (call.name == "et_vk.linear_q4gsw.default") head_plane = key_of(call.args[1]);
    if (call.name == "sdpa_with_kv_cache.default") caches.insert({key_of(call.args[3]), key_of(call.args[4])});
  }
  EXPECT_EQ(embedding_plane, head_plane);
  EXPECT_EQ(caches.size(), 1u);
}

// Scales and minima of Q4_1 are halves in the GGUF file; those that 4 bits are fitted with need not be.
TEST(Convert, NamesConstantsThatHalvesWouldHold) {
  const auto is_marked = [](const Converted& c, std::string_view op, u32 arg) {
    for (const auto& call : c.graph.calls)
      if (call.name == op) {
        const auto& tensor = std::get<format::GraphTensor>(c.graph.values[call.args[arg]]);
        return c.graph.constants[u32(tensor.constant)].key.starts_with(format::halves_prefix);
      }
    throw std::runtime_error("no such op");
  };
  const Converted lossless = converted("llama_q4_1");
  EXPECT_TRUE(is_marked(lossless, "et_vk.linear_q4gsw.default", 2));
  EXPECT_TRUE(is_marked(lossless, "aten.linear.default", 1));
  EXPECT_FALSE(is_marked(lossless, "et_vk.linear_q4gsw.default", 1));
  Options options;
  options.quantization = Quantization::q4;
  EXPECT_FALSE(is_marked(converted("llama_q4_1", options), "et_vk.linear_q4gsw.default", 2));
}

// The two planes of an 8-bit weight have one constant of scales, which is also what its shift multiplies.
TEST(Convert, PlanesShareTheirScales) {
  const Converted c = converted("llama_q8_0_linear_rope");
  std::map<u32, u32> uses;
  for (const auto& call : c.graph.calls) {
    if (call.name == "et_vk.linear_q4gsw.default") ++uses[call.args[2]];
    if (call.name == "aten.mm.default") ++uses[call.args[1]];
  }
  EXPECT_EQ(uses.size(), 7u + 1);
  for (const auto& [scales, count] : uses) EXPECT_EQ(count, 3u) << scales;
}

TEST(Convert, AnswersWhatRunnersAsk) {
  const Converted c = converted("llama_q4_1");
  std::map<std::string, format::ProgramValue> answers;
  for (const auto& method : c.program.methods)
    if (method.delegates.empty()) answers[method.name] = method.values[method.outputs[0]];
  const auto integer = [&](const char* name) { return std::get<i64>(answers.at(name)); };
  EXPECT_EQ(integer("get_bos_id"), 1);
  EXPECT_EQ(integer("get_eos_ids"), 2);
  EXPECT_EQ(integer("get_max_seq_len"), 64);
  EXPECT_EQ(integer("get_max_context_len"), 64);
  EXPECT_EQ(integer("get_n_layers"), 2);
  EXPECT_EQ(integer("get_vocab_size"), 67);
  for (const char* name : {"use_kv_cache", "use_sdpa_with_kv_cache", "enable_dynamic_shape"})
    EXPECT_TRUE(std::get<bool>(answers.at(name))) << name;
}

TEST(Convert, CarriesTokenizerChatTemplateAndModelCard) {
  const Converted c = converted("llama_q4_1");
  EXPECT_EQ(c.text("pteron.chat_template"), "{{ messages[0]['content'] }}");
  const auto tokenizer = nlohmann::json::parse(c.text("pteron.tokenizer.json"));
  EXPECT_EQ(tokenizer["ggml.model"], "gpt2");
  EXPECT_EQ(tokenizer["ggml.tokens"].size(), 67u);
  EXPECT_EQ(tokenizer["ggml.tokens"][5], "t5");
  const auto card = nlohmann::json::parse(c.text("pteron.model.json"));
  EXPECT_EQ(card["architecture"], "llama");
  EXPECT_EQ(card["license"], "bsd-3-clause");
  EXPECT_EQ(card["eos_token_ids"], nlohmann::json({2}));
}

TEST(Convert, UsesOneSumOfAnInputForAllLinearsThatShareIt) {
  const Converted c = converted("llama_q4_1");
  // Per layer: q/k/v, attention output, gate/up, down; and the head.
  EXPECT_EQ(c.count("aten.sum.dim_IntList"), 2u * 4 + 1);
  EXPECT_EQ(c.count("aten.mm.default"), 2u * 7 + 1);
  EXPECT_EQ(c.count("aten.linear.default"), 2u * 7);  // the head has no minima
}

TEST(Convert, PlainFormsNeedNoCorrections) {
  const Converted q4_0 = converted("llama_q4_0");
  EXPECT_EQ(q4_0.count("et_vk.linear_q4gsw.default"), 2u * 7 + 1);
  EXPECT_EQ(q4_0.count("aten.linear.default"), 0u);
  Options options;
  options.quantization = Quantization::q4;
  const Converted q4 = converted("llama_q4_1", options);
  EXPECT_EQ(q4.count("et_vk.linear_q4gsw.default"), 2u * 7 + 1);
  EXPECT_EQ(q4.count("et_vk.embedding_q4gsw.default"), 1u);
  EXPECT_EQ(q4.count("aten.linear.default"), 0u);
  EXPECT_EQ(q4.count("aten.sum.dim_IntList"), 0u);
}

// --- options

TEST(Convert, TakesContextAndCallLengthFromTheModelOrTheOptions) {
  const auto sizes = [](const Options& options) {
    const Converted c = converted("llama_q4_0", options);
    const auto& forward = c.program.methods[0];
    for (const auto& call : c.graph.calls)
      if (call.name == "sdpa_with_kv_cache.default")
        return std::pair(std::get<format::TensorSpec>(forward.values[forward.inputs[0]]).shape[1],
                         std::get<format::GraphTensor>(c.graph.values[call.args[3]]).shape[1]);
    return std::pair(0u, 0u);
  };
  EXPECT_EQ(sizes({}), std::pair(64u, 64u));
  Options options;
  options.max_context = 48;
  EXPECT_EQ(sizes(options), std::pair(48u, 48u));
  options.max_seq_len = 16;
  EXPECT_EQ(sizes(options), std::pair(16u, 48u));
}

TEST(Convert, RefusesContextsAndCallLengthsThatCannotBe) {
  Options options;
  options.max_context = 17;
  expect_error(GgufFile::tiny_llama(), "a context of 17 was asked for; the model was trained for 1 to 16", options);
  options.max_context = 0;
  expect_error(GgufFile::tiny_llama(), "a context of 0 was asked for", options);
  options.max_context = 8;
  options.max_seq_len = 9;
  expect_error(GgufFile::tiny_llama(), "calls of up to 9 tokens were asked for; the context allows 1 to 8", options);
}

TEST(Convert, ReportsProgressInBytesAndCanBeCancelled) {
  const File file = GgufFile::tiny_llama().bytes();
  std::map<std::string, u64> done;
  Options options;
  options.progress = [&](const Progress& p) {
    EXPECT_GE(p.done, done[std::string(p.phase)]);
    EXPECT_LE(p.done, p.total);
    done[std::string(p.phase)] = p.done;
    return true;
  };
  const auto sink = [](Bytes) { return Status(); };
  const auto report = convert(format::borrow_memory(file), options, sink);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(done["writing"], report->constant_bytes);
  EXPECT_GT(done["hashing"], done["writing"]);
  options.progress = [](const Progress&) { return false; };
  const auto cancelled = convert(format::borrow_memory(file), options, sink);
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().kind, ErrorKind::cancelled);
}

TEST(Convert, PassesOnTheErrorOfAFullDisk) {
  const File file = GgufFile::tiny_llama().bytes();
  u64 room = 5000;
  const auto report = convert(format::borrow_memory(file), {}, [&](Bytes bytes) -> Status {
    if (bytes.size() > room) return invalid("the disk is full");
    room -= bytes.size();
    return {};
  });
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().message, "the disk is full");
}

// --- models that can't be converted

TEST(Convert, RefusesOtherArchitectures) {
  expect_error(changed([](GgufFile& f) { f.set("general.architecture", "mamba"); }),
               "the architecture 'mamba' is not supported; llama, qwen2, qwen3 are");
  expect_error(changed([](GgufFile& f) { f.erase("general.architecture"); }), "does not say its architecture");
  expect_error(changed([](GgufFile& f) { f.set("llama.expert_count", 8u); }), "a mixture of 8 experts");
}

TEST(Convert, RefusesMetadataThatIsMissingOrImpossible) {
  for (const char* key : {"llama.block_count", "llama.context_length", "llama.embedding_length",
                          "llama.feed_forward_length", "llama.attention.head_count"}) {
    expect_error(changed([&](GgufFile& f) { f.erase(key); }), std::string("metadata '") + key + "' is missing");
    expect_error(changed([&](GgufFile& f) { f.set(key, 0u); }), std::string("metadata '") + key + "' is 0");
    expect_error(changed([&](GgufFile& f) { f.set(key, "x"); }), "is a string, not an integer");
    expect_error(changed([&](GgufFile& f) { f.set(key, 0xFFFFFFFFu); }), "should be between 1 and");
  }
  expect_error(changed([](GgufFile& f) { f.erase("llama.attention.layer_norm_rms_epsilon"); }), "epsilon' is missing");
  expect_error(changed([](GgufFile& f) { f.set("llama.attention.layer_norm_rms_epsilon", NAN); }), "epsilon is nan");
  expect_error(changed([](GgufFile& f) { f.set("llama.attention.head_count", 3u); }), "can't be split into 3 heads");
  expect_error(changed([](GgufFile& f) { f.set("llama.attention.head_count_kv", 3u); }), "can't share 3 key heads");
  expect_error(changed([](GgufFile& f) { f.set("llama.attention.key_length", 4096u); }), "at most 1024 are supported");
  expect_error(changed([](GgufFile& f) { f.set("llama.attention.value_length", 2u); }), "only equal are supported");
  expect_error(changed([](GgufFile& f) { f.set("llama.rope.dimension_count", 6u); }), "dimension_count is 6");
  expect_error(changed([](GgufFile& f) { f.set("llama.rope.dimension_count", 3u); }), "dimension_count is 3");
  expect_error(changed([](GgufFile& f) { f.set("llama.rope.freq_base", 0.0f); }), "freq_base is 0");
  expect_error(changed([](GgufFile& f) { f.set("llama.rope.scaling.type", "longrope"); }),
               "rope scaling 'longrope' is not supported");
  expect_error(changed([](GgufFile& f) { f.set("llama.rope.scaling.factor", -2.0f); }), "scaling factor is -2");
  expect_error(changed([](GgufFile& f) { f.set("tokenizer.ggml.eos_token_id", 5u); }),
               "'tokenizer.ggml.eos_token_id' is 5, but the vocabulary has 5 tokens");
}

TEST(Convert, RefusesTensorsThatAreMissingWrongOrUnknown) {
  for (const auto& item : GgufFile::tiny_llama().items)
    expect_error(changed([&](GgufFile& f) { f.erase_item(item.name); }), "tensor '" + item.name + "' is missing");
  expect_error(changed([](GgufFile& f) { f.item("blk.0.attn_k.weight").sizes = {4, 8}; }),
               "tensor 'blk.0.attn_k.weight' has shape [8, 4]; the metadata says it should be [4, 8]");
  expect_error(changed([](GgufFile& f) { f.add("blk.0.attn_sinks.weight", {2}); }),
               "tensor 'blk.0.attn_sinks.weight' has no place in a llama model");
  expect_error(changed([](GgufFile& f) { f.set("llama.block_count", 2u); }),
               "tensor 'blk.1.attn_norm.weight' is missing");
  expect_error(changed([](GgufFile& f) { f.add("rope_freqs.weight", {3}); }), "but 2 pairs are rotated");
  expect_error(changed([](GgufFile& f) { f.add("rope_freqs.weight", {2}); }), "must hold positive numbers");
}

TEST(Convert, BelievesNoCountOfLayersOrTokens) {
  expect_error(changed([](GgufFile& f) { f.set("llama.block_count", 1u << 20); }),
               "'blk.1.attn_norm.weight' is missing");
  expect_error(changed([](GgufFile& f) { f.set("llama.block_count", (1u << 20) + 1); }), "should be between 1 and");
  expect_error(changed([](GgufFile& f) { f.item("token_embd.weight").sizes = {8, 1u << 30}; }),
               "truncated or corrupted");
}

// Sizes of the file's own metadata must be those of its tensors.
TEST(Convert, TrustsNoSizeOverATensors) {
  for (const char* key : {"embedding_length", "feed_forward_length", "attention.head_count_kv", "attention.key_length"})
    for (const u32 size : {6u, 1024u})
      EXPECT_FALSE(run(changed([&](GgufFile& f) { f.set(std::string("llama.") + key, size); }).bytes()).has_value())
          << key << " " << size;
}

TEST(Convert, RefusesWeightsThatAreNotFinite) {
  const u32 nan = 0x7FC00000;
  expect_error(changed([&](GgufFile& f) { std::memcpy(f.item("blk.0.ffn_up.weight").data.data(), &nan, 4); }),
               "tensor 'blk.0.ffn_up.weight' holds a number that is not finite");
}

TEST(Convert, RefusesTokensThatAreNotText) {
  for (const char* bytes : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
    expect_error(changed([&](GgufFile& f) { f.set_strings("tokenizer.ggml.tokens", {"a", bytes}); }),
                 "metadata 'tokenizer.ggml.tokens': it holds text that is not valid UTF-8");
  const File fine = changed([](GgufFile& f) { f.set_strings("tokenizer.ggml.tokens", {"é€𝄞", "\x01"}); }).bytes();
  EXPECT_TRUE(run(fine).has_value());
}

// Whatever happens to a model file, converting it fails with a message or gives a program that can be read.
TEST(Convert, SurvivesDamage) {
  const File whole = GgufFile::tiny_llama().bytes();
  const auto use = [](const File& broken) {
    u64 size = 0;
    Options options;
    options.max_context = 4;
    const auto report = convert(format::borrow_memory(broken), options, [&](Bytes bytes) -> Status {
      size += bytes.size();
      return {};
    });
    if (report)
      EXPECT_EQ(size, report->file_bytes);
    else
      EXPECT_FALSE(report.error().message.empty());
  };
  test::for_each_corruption(whole, 3000, 5, use);
}

}  // namespace
}  // namespace pteron::convert
