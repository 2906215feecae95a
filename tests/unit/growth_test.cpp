// SPDX-License-Identifier: BSD-3-Clause
// Time that reading takes: an input 16 times as long may take about 16 times as long, and some more because it is in no
// cache; it may not take 256 times as long.
#include "base/os.h"
#include "base/text.h"
#include "llm/json/json.h"
#include "runtime/method_loading.h"
#include "runtime/outside.h"
#include "support/builder.h"

#include <pteron/chat_template.h>
#include <pteron/grammar.h>
#include <pteron/tokenizer.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace pteron {
namespace {

using Text = std::function<std::string(u32 size)>;
using Use = std::function<bool(const std::string&)>;

f64 seconds(const Use& use, const std::string& text) {
  f64 best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const f64 start = os::thread_cpu_seconds();
    EXPECT_TRUE(use(text));
    best = std::min(best, os::thread_cpu_seconds() - start);
  }
  return best;
}

// What takes less than a millisecond is not measured: caches and the clock would be.
void expect_linear(const Text& text, const Use& use, u32 size = 1000) {
  for (; size < 1u << 24; size *= 2) {
    const f64 once = seconds(use, text(size));
    if (once < 1e-3) continue;
    EXPECT_LT(seconds(use, text(16 * size)), 80 * once) << "of " << size;
    return;
  }
}

std::string joined(u32 count, const std::function<std::string(u32)>& item) {
  std::string out;
  for (u32 i = 0; i < count; ++i) out += (i > 0 ? "," : "") + item(i);
  return out;
}

bool loads(const std::string& text) { return Tokenizer::load(std::as_bytes(std::span(text))).has_value(); }

TEST(Growth, JsonWithManyKeysIsReadInLinearTime) {
  const auto keys = [](u32 n) {
    return "{" + joined(n, [](u32 i) { return "\"k" + std::to_string(i) + "\":1"; }) + "}";
  };
  expect_linear(keys, [](const std::string& text) { return Json::parse(text).has_value(); });
}

TEST(Growth, JsonWithOneKeyManyTimesIsReadInLinearTime) {
  const auto same = [](u32 n) { return "{" + joined(n, [](u32) { return std::string("\"k\":1"); }) + "}"; };
  expect_linear(same, [](const std::string& text) { return Json::parse(text).has_value(); });
}

TEST(Growth, TokenizersWithManyMergesAreReadInLinearTime) {
  const auto file = [](u32 n) {
    const auto token = [](u32 i) { return "t" + std::to_string(i); };
    return R"({"model": {"type": "BPE", "vocab": {)" +
           joined(n,
                  [&](u32 i) {
                    return "\"" + token(i) + "\":" + std::to_string(2 * i) + ",\"" + token(i) + "t" +
                           std::to_string(i) + "\":" + std::to_string(2 * i + 1);
                  }) +
           R"(}, "merges": [)" + joined(n, [&](u32 i) { return "\"" + token(i) + " " + token(i) + "\""; }) + "]}}";
  };
  expect_linear(file, loads);
}

const Tokenizer& bytes_tokenizer() {
  static const Tokenizer tokenizer = [] {
    std::string file = R"({"model": {"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2, "b": 3, "ab": 4},)";
    file += R"( "merges": ["a a", "aa aa", "a b"], "unk_token": "a"}})";
    return *Tokenizer::load(std::as_bytes(std::span(file)));
  }();
  return tokenizer;
}

TEST(Growth, OneLongWordIsCutInLinearTime) {
  const auto encodes = [](const std::string& text) { return bytes_tokenizer().encode(text).has_value(); };
  expect_linear([](u32 n) { return std::string(n, 'a'); }, encodes);
  expect_linear([](u32 n) { return std::string(n, 'b'); }, encodes);
}

TEST(Growth, PatternsOfTokenizersMatchInLinearTime) {
  // GPT-2's, with its look ahead over white space.
  const std::string file =
      R"({"model": {"type": "BPE", "vocab": {"a": 0, " ": 1}, "merges": [], "unk_token": "a"}, "pre_tokenizer": {"type": )"
      R"("Split", "behavior": "Isolated", "pattern": {"Regex": "'s|'t| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"}}})";
  const auto tokenizer = Tokenizer::load(std::as_bytes(std::span(file)));
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().to_string();
  const auto encodes = [&](const std::string& text) { return tokenizer->encode(text).has_value(); };
  for (const char* part : {" ", "a ", "1", "!", "\n", " '"})
    expect_linear(
        [&](u32 n) {
          std::string out;
          while (out.size() < n) out += part;
          return out;
        },
        encodes);
}

TEST(Growth, GrammarsAreReadInLinearTime) {
  const auto schema = [](u32 n) {
    return R"({"enum": [)" + joined(n, [](u32 i) { return "\"v" + std::to_string(i) + "\""; }) + "]}";
  };
  expect_linear(schema, [](const std::string& text) { return Grammar::json_schema(text).has_value(); }, 100);
  const auto properties = [](u32 n) {
    return R"({"type": "object", "additionalProperties": false, "properties": {)" +
           joined(n, [](u32 i) { return "\"p" + std::to_string(i) + "\": {\"type\": \"null\"}"; }) + "}}";
  };
  expect_linear(properties, [](const std::string& text) { return Grammar::json_schema(text).has_value(); }, 16);
}

TEST(Growth, OpsOutsideOfDelegatesAreListedInLinearTimeAndNotAllInASentence) {
  const Use list = [](const std::string& text) {
    format::MethodSpec method;
    for (u32 i = 0; i < text.size(); ++i) {
      method.operators.push_back(str("aten::op", i, ".out"));
      method.instructions.push_back(format::KernelCall{i, {}});
    }
    return outside_ops(method).size() == text.size() && obstacles(method).size() < 1000;
  };
  expect_linear([](u32 size) { return std::string(size, ' '); }, list);
}

TEST(Growth, TemplatesAreReadInLinearTime) {
  const auto parses = [](const std::string& text) { return ChatTemplate::parse(text).has_value(); };
  expect_linear([](u32 n) { return joined(n, [](u32) { return std::string("{{ a }}"); }); }, parses, 100);
}

// Graphs of n ops, of which all have to do with one value or each with the one before.
std::map<std::string, std::function<void(test::GraphBuilder&, u32)>> graphs_of() {
  return {
      {"readers of an input",
       [](test::GraphBuilder& b, u32 n) {
         const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
         b.op("aten.sigmoid.default", {x, y});
         for (u32 i = 0; i < n; ++i) b.op("aten.add.Tensor", {x, y, b.integer(1), b.output(b.tensor(DType::f32, {4}))});
       }},
      {"readers of a constant",
       [](test::GraphBuilder& b, u32 n) {
         const u32 x = b.input(b.tensor(DType::f32, {4})), w = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4});
         for (u32 i = 0; i < n; ++i) b.op("aten.mul.Tensor", {x, w, b.output(b.tensor(DType::f32, {4}))});
       }},
      {"a chain",
       [](test::GraphBuilder& b, u32 n) {
         u32 x = b.input(b.tensor(DType::f32, {4}));
         for (u32 i = 0; i < n; ++i) {
           const u32 y = b.tensor(DType::f32, {4});
           b.op("aten.sigmoid.default", {x, y});
           x = y;
         }
         b.output(x);
       }},
      {"writers of one state",
       [](test::GraphBuilder& b, u32 n) {
         const u32 x = b.input(b.tensor(DType::f32, {4})), w = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4});
         for (u32 i = 0; i < n; ++i) b.op("aten.mul.Tensor", {x, w, w});
         b.output(w);
       }},
  };
}

Status plan(const std::string& text) {
  const auto blob = std::as_bytes(std::span(text));
  TRY(const auto header, format::read_delegate_header(blob));
  TRY(const auto parsed, format::read_delegate_graph(blob, header));
  const graph::FindData find = [](std::string_view) -> Result<graph::DataLocation> { return not_found("no data"); };
  TRY_DO(compile_delegate(parsed, {0, {0, blob.size()}}, find, {}, {}, nullptr, nullptr));
  return {};
}

TEST(Growth, GraphsArePlannedInLinearTime) {
  for (const auto& [name, write] : graphs_of()) {
    SCOPED_TRACE(name);
    const Text blob = [&](u32 n) {
      test::GraphBuilder b;
      write(b, n);
      const std::vector<std::byte> bytes = b.blob();
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    expect_linear(blob, [](const std::string& text) { return plan(text).has_value(); });
  }
}

}  // namespace
}  // namespace pteron
