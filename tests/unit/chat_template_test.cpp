// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/chat_template.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace pteron {
namespace {

using nlohmann::ordered_json;

std::filesystem::path folder() { return std::filesystem::path(PTERON_TEST_DATA) / "chat_templates"; }

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

Result<std::string> render(std::string_view source, std::string_view messages = "[]", std::string_view variables = "",
                           const TemplateLimits& limits = {}) {
  const auto parsed = ChatTemplate::parse(source, limits);
  if (!parsed) return std::unexpected(parsed.error());
  ChatInputs inputs;
  inputs.messages = messages;
  inputs.variables = variables;
  inputs.local_time = 0;
  return parsed->render(inputs);
}

std::string error_of(std::string_view source, std::string_view messages = "[]", std::string_view variables = "") {
  const auto text = render(source, messages, variables);
  return text ? "" : text.error().to_string();
}

TEST(ChatTemplate, RendersTheGoldensOfEachFamily) {
  for (const auto& golden : ordered_json::parse(read_file(folder() / "golden.json"))) {
    const std::string name = golden["template"];
    const auto parsed = ChatTemplate::parse(read_file(folder() / name));
    ASSERT_TRUE(parsed.has_value()) << name << ": " << parsed.error().to_string();
    const std::string messages = golden["messages"].dump(), variables = golden["variables"].dump(),
                      tools = golden["tools"].is_null() ? "" : golden["tools"].dump();
    ChatInputs inputs;
    inputs.messages = messages;
    inputs.tools = tools;
    inputs.variables = variables;
    inputs.bos_token = "<s>";
    inputs.eos_token = "</s>";
    inputs.local_time = golden["local_time"].get<i64>();
    const auto text = parsed->render(inputs);
    ASSERT_TRUE(text.has_value()) << name << ": " << text.error().to_string();
    EXPECT_EQ(*text, golden["text"].get<std::string>()) << name;
  }
}

TEST(ChatTemplate, KeepsTheOrderOfMembers) {
  EXPECT_EQ(*render("{{ messages[0] | tojson }}", R"([{"z": 1, "a": {"y": 2, "b": 3}, "z": 4}])"),
            R"({"z": 4, "a": {"y": 2, "b": 3}})");
}

TEST(ChatTemplate, DefinesWhatWasGivenAndNothingElse) {
  const auto parsed = ChatTemplate::parse(
      "{{ bos_token is defined }}{{ eos_token is defined }}{{ tools is none }}{{ documents is none }}"
      "{{ add_generation_prompt }}{{ x }}");
  ASSERT_TRUE(parsed.has_value());
  ChatInputs inputs;
  inputs.messages = "[]";
  inputs.bos_token = "<s>";
  inputs.add_generation_prompt = false;
  inputs.variables = R"({"x": "given"})";
  EXPECT_EQ(*parsed->render(inputs), "TrueFalseTrueTrueFalsegiven");
}

TEST(ChatTemplate, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("a\nb\n{{ raise_exception('Roles must alternate') }}"),
            "chat template: line 3: Roles must alternate");
  EXPECT_EQ(error_of("\n{% if x %}\n{{ missing.name }}\n{% endif %}", "[]", R"({"x": 1})"),
            "chat template: line 3: 'missing' is undefined");
  EXPECT_NE(error_of("\n\n{% if %}").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("{{ 1 }}\n{{ 'a' | bogus }}").find("line 2"), std::string::npos);
  EXPECT_NE(error_of("{# \n\n #}\n{{ [1, 2] | sum('x', 1, 2) }}").find("line 4: |sum"), std::string::npos);
}

TEST(ChatTemplate, RefusesInputsThatAreNotWhatTheyShouldBe) {
  EXPECT_NE(error_of("x", "{}").find("must be a JSON list"), std::string::npos);
  EXPECT_NE(error_of("x", "[").find("messages"), std::string::npos);
  EXPECT_NE(error_of("x", "").find("messages"), std::string::npos);
  EXPECT_NE(error_of("x", "[\"\xFF\"]").find("messages"), std::string::npos);
  EXPECT_NE(error_of("x", "[123456789012345678901234567890]").find("63 bits"), std::string::npos);
  EXPECT_NE(error_of("x", "[]", "[]").find("variables"), std::string::npos);
  EXPECT_NE(error_of("x\xC3").find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of("x", std::string(200, '[') + std::string(200, ']')).find("nested"), std::string::npos);
  const auto parsed = ChatTemplate::parse("x");
  EXPECT_FALSE(parsed->render({.messages = "[]", .bos_token = "\xFF"}).has_value());
}

// Each of these would run for ever, fill the memory or overflow the stack.
TEST(ChatTemplate, HostileTemplatesEndWithAClearError) {
  const std::string_view hostile[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
      "{{ 'x' * 9999999999999 }}",
      "{{ ('x' * 99999999) * 99999999 }}",
      "{{ [1] * 9999999999999 }}",
      "{{ 'x'.center(9999999999999) }}",
      "{{ 'x'.ljust(9223372036854775807) }}",
      "{{ 'x' | center(9223372036854775807) }}",
      "{{ 'x\ny' | indent(9223372036854775807) }}",
      "{{ [[1]] | tojson(indent=9223372036854775807) }}",
      "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1, 2]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x='aa') %}{% for i in range(99) %}{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}",
      "{% set ns = namespace(x='aa') %}{% for i in range(99) %}{% set ns.x = ns.x | join(ns.x) %}{% endfor %}",
      "{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}",
      "{% set ns = namespace(x={}) %}{% for i in range(9999) %}{% set ns.x = {'a': ns.x} %}{% endfor %}",
      "{% set ns = namespace(x=[]) %}{% for i in range(150) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): two lines are one template
      "{% set ns = namespace(x=[]) %}{% for i in range(150) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
      "{{ ns.x | tojson }}",
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): here too
      "{% set ns = namespace(x=[], y=[]) %}{% for i in range(150) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
      "{% for i in range(99999) %}{{ 'x' * 99999 }}{% endfor %}",
      "{% for i in range(99999) %}{% set x %}{{ 'x' * 99999 }}{% endset %}{% endfor %}",
      "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = ns.x + [namespace(a=i)] %}{% endfor %}",
      "{% set a = 'a' * 9999999 %}{% set b = 'a' * 99999 ~ 'b' %}{% for i in range(99999) %}{{ b in a }}{% endfor %}",
      "{% set a = 'a' * 9999999 %}{% for i in range(99999) %}{{ a.strip(a) }}{% endfor %}",
      "{% set a = 'a' * 999999 %}{% for i in range(99999) %}{{ a.rsplit('a' * 64) | length }}{% endfor %}",
  };
  for (std::string_view source : hostile) {
    const auto start = std::chrono::steady_clock::now();
    const auto text = render(source, "[]", "", {.steps = 2'000'000, .memory = 32 << 20});
    ASSERT_FALSE(text.has_value()) << source;
    EXPECT_EQ(text.error().kind, ErrorKind::unsupported) << source << ": " << text.error().to_string();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << source;
  }
}

TEST(ChatTemplate, DeepNestingIsRefusedAndNotACrash) {
  const auto repeated = [](std::string_view text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  for (int count : {100, 20'000}) {
    for (const auto& [open, middle, close] : std::vector<std::array<std::string_view, 3>>{{"(", "1", ")"},
                                                                                          {"[", "", "]"},
                                                                                          {"{1:", "1", "}"},
                                                                                          {"not ", "1", ""},
                                                                                          {"-", "1", ""},
                                                                                          {"", "1", "+1"},
                                                                                          {"", "1", " or 1"},
                                                                                          {"", "x", "|upper"},
                                                                                          {"", "x", ".y"},
                                                                                          {"", "x", "[0]"},
                                                                                          {"", "x", "()"},
                                                                                          {"x(", "1", ")"},
                                                                                          {"x[", "1", "]"},
                                                                                          {"1 if ", "1", " else 1"},
                                                                                          {"", "1", " if 1 else 1"}})
      (void)render("{{ " + repeated(open, count) + std::string(middle) + repeated(close, count) + " }}");
    for (const auto& [open, close] :
         std::vector<std::array<std::string_view, 2>>{{"{% if 1 %}", "{% endif %}"},
                                                      {"{% for x in [1] %}", "{% endfor %}"},
                                                      {"{% set x %}", "{% endset %}"},
                                                      {"{% macro m() %}", "{% endmacro %}"},
                                                      {"{% with %}", "{% endwith %}"},
                                                      {"{% filter upper %}", "{% endfilter %}"},
                                                      {"{% generation %}", "{% endgeneration %}"}}) {
      (void)render(repeated(open, count) + repeated(close, count));
      (void)render(repeated(open, count));
    }
    (void)render("{% set " + repeated("(", count) + "x" + repeated(")", count) + " = 1 %}");
  }
  EXPECT_EQ(*render("{{ " + repeated("(", 60) + "1" + repeated(")", 60) + " }}"), "1");
  EXPECT_EQ(*render("{{ 0" + repeated("+1", 200) + " }}"), "200");
  EXPECT_EQ(render("{{ 0" + repeated("~1", 5000) + " }}").value_or("").size(), 5001u);
}

TEST(ChatTemplate, LargeObjectsStayFast) {
  std::string messages = "[{";
  for (int i = 0; i < 100'000; ++i) messages.append("\"key").append(std::to_string(i)).append("\": 1, ");
  messages += "\"role\": \"user\"}]";
  EXPECT_EQ(*render("{{ messages[0].role }}{{ messages[0] | length }}", messages), "user100001");
}

// Every beginning of a template, and templates with random changes, in front of real messages.
TEST(ChatTemplate, BrokenTemplatesNeverCrash) {
  const std::string messages =
      R"([{"role": "system", "content": "é"}, {"role": "user", "content": [{"type": "text", "text": "a"}]},
          {"role": "assistant", "content": null, "tool_calls": [{"id": "123456789", "function": {"name": "f",
          "arguments": {"a": [1, 2.5, "x"]}}}]}, {"role": "tool", "content": "r", "tool_call_id": "123456789"}])";
  const TemplateLimits limits{.steps = 100'000, .memory = 4 << 20};
  std::mt19937 random(17);
  const auto use = [&](const std::string& source) {
    const auto text = render(source, messages, R"({"enable_thinking": false})", limits);
    EXPECT_TRUE(text || !text.error().message.empty());
  };
  std::vector<std::string> sources;
  for (const auto& file : std::filesystem::directory_iterator(folder()))
    if (file.path().extension() == ".jinja") sources.push_back(read_file(file.path()));
  std::ranges::sort(sources);
  ASSERT_GE(sources.size(), 10u);
  for (const std::string& source : sources)
    for (size_t size = 0; size < source.size(); size += source.size() > 1000 ? 7 : 1) use(source.substr(0, size));
  for (int i = 0; i < 4000; ++i) {
    std::string source = sources[random() % sources.size()];
    for (u32 n = 1 + random() % 4; n > 0; --n) {
      const std::string& other = sources[random() % sources.size()];
      const size_t at = random() % source.size();
      switch (random() % 4) {
        case 0: source[at] = char(random()); break;
        case 1: source.erase(at, 1 + random() % 20); break;
        case 2: source.insert(at, other.substr(random() % other.size(), random() % 40)); break;
        default: source.insert(at, 1, "{}%#|()[]'\"-~.,:=<>+*/ \n"[random() % 25]);
      }
      if (source.empty()) source.push_back('x');
    }
    use(source);
  }
}

}  // namespace
}  // namespace pteron
