// SPDX-License-Identifier: BSD-3-Clause
#include "support/fixture.h"

#include "base/half.h"
#include "base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <span>

namespace pteron::test {
namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  const std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

fs::path data_folder() { return PTERON_TEST_DATA; }

fs::path shared_fixtures() {
  if (const char* path = std::getenv("PTERON_SHARED_FIXTURES")) return path;
  return fs::path(PTERON_SOURCE) / ".." / "shared" / "fixtures";
}

namespace {

// The tensors of a fixture: in one file for each, or all in data.bin.
class TensorReader {
 public:
  explicit TensorReader(const fs::path& folder) : folder_(folder) {
    if (fs::exists(folder / "data.bin")) packed_ = read_bytes(folder / "data.bin");
  }

  Tensor read(const Json& entry) const {
    if (entry.contains("scalar")) return scalar(entry["scalar"]);
    const auto dtype = dtype_named(entry["dtype"].get<std::string>());
    if (!dtype) throw std::runtime_error("unknown dtype " + entry["dtype"].get<std::string>());
    const auto shape = Shape::from(entry["shape"].get<std::vector<i64>>());
    if (!entry.contains("file")) {
      const u64 offset = entry["offset"], size = entry["size"];
      if (offset + size > packed_.size()) throw std::runtime_error((folder_ / "data.bin").string() + " is too short");
      return Tensor::of(*dtype, *shape, std::span(packed_).subspan(offset, size)).value();
    }
    const auto bytes = read_bytes(folder_ / entry["file"].get<std::string>());
    return Tensor::of(*dtype, *shape, std::span<const std::byte>(bytes)).value();
  }

  std::vector<Tensor> read_all(const Json& list) const {
    std::vector<Tensor> out;
    for (const Json& entry : list) out.push_back(read(entry));
    return out;
  }

  const fs::path& folder() const { return folder_; }

 private:
  static Tensor scalar(const Json& number) {
    if (number.is_number_integer()) {
      const i64 value = number;
      return Tensor::scalar(value);
    }
    const f64 value = number;
    return Tensor::scalar(value);
  }

  fs::path folder_;
  std::vector<std::byte> packed_;
};

f64 element(const TensorView& t, u64 i) {
  const auto get = [&]<class T>(T v) {
    std::memcpy(&v, t.bytes.data() + i * sizeof(T), sizeof(T));
    return v;
  };
  switch (t.dtype) {
    case DType::boolean:
    case DType::u8: return get(u8());
    case DType::i8: return get(i8());
    case DType::i32: return get(i32());
    case DType::i64: return f64(get(i64()));
    case DType::f16: return half_to_float(get(u16()));
    case DType::f32: return get(f32());
    case DType::f64: return get(f64());
  }
  return 0;
}

}  // namespace

std::vector<fs::path> find_fixtures(const fs::path& root) {
  std::vector<fs::path> out;
  if (!fs::exists(root)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().filename() == "manifest.json") out.push_back(entry.path().parent_path());
  std::sort(out.begin(), out.end());
  return out;
}

namespace {

// Missing or null counts as empty.
const Json& list_of(const Json& manifest, const char* key) {
  static const Json none = Json::array();
  const auto found = manifest.find(key);
  return found == manifest.end() || found->is_null() ? none : *found;
}

Tolerance read_tolerance(const Json& manifest) {
  Tolerance out;
  out.atol = manifest.value("atol", out.atol);
  out.rtol = manifest.value("rtol", out.rtol);
  out.nmse = manifest.value("nmse", out.nmse);
  out.int8_slack = manifest.value("int8_slack", out.int8_slack);
  return out;
}

std::vector<InputSet> read_sets(const TensorReader& tensors, const Json& manifest) {
  std::vector<InputSet> out;
  const auto add = [&](const std::string& name, const Json& set) {
    out.push_back({name, tensors.read_all(set["inputs"]), tensors.read_all(set["outputs"])});
  };
  add("main", manifest);
  for (const Json& live : list_of(manifest, "live"))
    if (live.contains("outputs")) add("live " + live["size"].dump(), live);
  for (const Json& step : list_of(manifest, "steps")) add("step " + std::to_string(out.size()), step);
  return out;
}

std::vector<std::pair<u32, Tensor>> read_mutated(const TensorReader& tensors, const Json& manifest) {
  std::vector<std::pair<u32, Tensor>> out;
  for (const Json& entry : list_of(manifest, "mutated"))
    out.emplace_back(entry["input"].get<u32>(), tensors.read(entry));
  // Shared fixtures have files, numbered by input or by order.
  u32 number = 0;
  for (const Json& index : list_of(manifest, "mutated_inputs")) {
    Json entry = manifest["inputs"][index.get<u32>()];
    for (const std::string& name : {"mutated_" + index.dump() + ".bin", "mutated_" + std::to_string(number) + ".bin"})
      if (fs::exists(tensors.folder() / name)) {
        entry["file"] = name;
        out.emplace_back(index.get<u32>(), tensors.read(entry));
        break;
      }
    ++number;
  }
  return out;
}

}  // namespace

Fixture read_fixture(const fs::path& folder) {
  std::ifstream file(folder / "manifest.json");
  const Json manifest = Json::parse(file);
  Fixture out;
  out.folder = folder;
  out.name = (folder.parent_path().filename() / folder.filename()).string();
  out.tolerance = read_tolerance(manifest);
  for (const auto& [op, count] : list_of(manifest, "delegate_ops").items()) out.ops.push_back(op);
  for (const auto& [op, count] : list_of(manifest, "portable_ops").items()) out.portable_ops.push_back(op);
  const TensorReader tensors(folder);
  out.sets = read_sets(tensors, manifest);
  out.stateful = !list_of(manifest, "steps").empty();
  out.mutated = read_mutated(tensors, manifest);
  for (const Json& name : list_of(manifest, "data_files"))
    out.data_files.push_back((folder / name.get<std::string>()).string());
  const bool updates_cache = std::find(out.ops.begin(), out.ops.end(), "update_cache.default") != out.ops.end();
  out.output_unspecified = manifest.value("output_unspecified", updates_cache);
  return out;
}

namespace {

bool passes(f64 actual, f64 expected, DType dtype, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  const f64 delta = std::abs(actual - expected);
  if (is_float(dtype)) return delta <= tolerance.atol || delta <= tolerance.rtol * std::max(std::abs(expected), 1e-6);
  const bool eight_bits = dtype == DType::i8 || dtype == DType::u8;
  return delta <= (eight_bits ? tolerance.int8_slack : 0);
}

}  // namespace

Difference compare(const TensorView& actual, const TensorView& expected, const Tolerance& tolerance) {
  if (actual.dtype != expected.dtype) return {str("dtype ", actual.dtype, " instead of ", expected.dtype), 0};
  if (!(actual.shape == expected.shape)) return {str("shape ", actual.shape, " instead of ", expected.shape), 0};
  u64 bad = 0;
  f64 worst = 0, error_energy = 0, energy = 0;
  std::string first;
  for (u64 i = 0; i < expected.shape.numel(); ++i) {
    const f64 a = element(actual, i), e = element(expected, i);
    if (std::isfinite(a) && std::isfinite(e)) {
      worst = std::max(worst, std::abs(a - e));
      error_energy += (a - e) * (a - e);
      energy += e * e;
    }
    if (passes(a, e, expected.dtype, tolerance)) continue;
    if (bad++ == 0) first = str("element ", i, " is ", a, " instead of ", e);
  }
  if (bad > 0) return {str(bad, " of ", expected.shape.numel(), " differ: ", first), worst};
  if (is_float(expected.dtype) && energy > 0 && error_energy > tolerance.nmse * energy)
    return {str("normalised mean squared error ", error_energy / energy, " is over ", tolerance.nmse), worst};
  return {"", worst};
}

std::vector<std::string> run_fixture(const Fixture& fixture, const Device& device, f64* worst,
                                     const LoadOptions& base) {
  std::vector<std::string> problems;
  LoadOptions options = base;
  options.device = device;
  options.data_files = fixture.data_files;
  auto program = Program::load(fixture.model(), options);
  if (!program) return {program.error().to_string()};
  auto method = program->method("forward");
  if (!method) return {method.error().to_string()};
  const auto run = [&](const InputSet& set, const std::string& name, bool first) {
    std::vector<TensorView> inputs(set.inputs.begin(), set.inputs.end());
    auto outputs = method->execute(inputs);
    if (!outputs) return problems.push_back(name + ": " + outputs.error().to_string());
    if (outputs->size() < set.outputs.size()) return problems.push_back(name + ": too few outputs");
    const size_t extra = outputs->size() - set.outputs.size();
    if (!fixture.output_unspecified)
      for (size_t i = 0; i < set.outputs.size(); ++i) {
        const Difference d = compare((*outputs)[extra + i], set.outputs[i], fixture.tolerance);
        if (worst) *worst = std::max(*worst, d.worst);
        if (!d.problem.empty()) problems.push_back(name + " output " + std::to_string(i) + ": " + d.problem);
      }
    // Updated inputs come back as the first outputs, in the order of the inputs.
    if (first)
      for (size_t i = 0; i < fixture.mutated.size() && i < extra; ++i) {
        const Difference d = compare((*outputs)[i], fixture.mutated[i].second, fixture.tolerance);
        if (!d.problem.empty())
          problems.push_back(name + " updated input " + std::to_string(fixture.mutated[i].first) + ": " + d.problem);
      }
  };
  for (const InputSet& set : fixture.sets) run(set, set.name, &set == &fixture.sets[0]);
  if (fixture.stateful)
    if (const Status reset = method->reset(); !reset) problems.push_back("reset: " + reset.error().to_string());
  if (fixture.sets.size() > 1) run(fixture.sets[0], "main again", false);
  if (method->stats().late_pipelines > 0)
    problems.push_back(std::to_string(method->stats().late_pipelines) + " pipelines were compiled during a step");
  return problems;
}

}  // namespace pteron::test
