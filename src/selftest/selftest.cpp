// SPDX-License-Identifier: BSD-3-Clause
#include "selftest/selftest.h"

#include "base/error.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "ops/routes.h"
#include "selftest/trial.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pteron::selftest {

u32 Trial::give(const Array& a, DType dtype) {
  inputs.push_back(a.to(dtype));
  return input(tensor(dtype, a.shape));
}

u32 Trial::keep(const Array& a, DType dtype) {
  const Tensor values = a.to(dtype);
  return constant_bytes(dtype, a.shape, {values.bytes().begin(), values.bytes().end()});
}

u32 Trial::expect(const Array& a, DType dtype) {
  expected.push_back(a);
  return output(tensor(dtype, a.shape));
}

u32 Trial::place(const Argument& argument, graph::Kind kind) {
  if (const auto* n = std::get_if<f64>(&argument.value))
    return kind == graph::Kind::flag ? boolean(*n != 0) : kind == graph::Kind::integer ? integer(i64(*n)) : number(*n);
  if (const auto* words = std::get_if<std::string>(&argument.value)) return text(*words);
  if (const auto* integers = std::get_if<std::vector<i64>>(&argument.value)) return ints(*integers);
  const auto* operands = std::get_if<std::vector<Operand>>(&argument.value);
  if (!operands) return null();
  std::vector<u32> ids;
  for (const Operand& o : *operands) ids.push_back(o.kept ? keep(o.array, o.dtype) : give(o.array, o.dtype));
  return kind == graph::Kind::tensors || kind == graph::Kind::maybe_tensors ? list(std::move(ids)) : ids[0];
}

void Trial::run(const std::string& op, const std::vector<Argument>& arguments, const std::vector<Operand>& results) {
  const graph::OpEntry* entry = graph::find_op(op);
  if (!entry) return this->op(op, {});  // which the trial reports
  const auto params = entry->signature.params;
  std::vector<u32> ids, expected_ids;
  for (size_t i = 0; i + 1 < params.size(); ++i)
    ids.push_back(place(i < arguments.size() ? arguments[i] : Argument(), params[i].kind));
  for (const Operand& result : results) expected_ids.push_back(expect(result.array, result.dtype));
  ids.push_back(params.back().kind == graph::Kind::tensor ? expected_ids[0] : list(expected_ids));
  this->op(op, std::move(ids));
}

namespace {

bool close(f64 actual, f64 expected, DType dtype, const Trial& trial) {
  const f64 difference = std::abs(actual - expected);
  if (is_float(dtype)) return difference <= trial.tolerance * std::max(1.0, std::abs(expected));
  return difference <= (size_of(dtype) == 1 ? trial.slack : 0);
}

// An error if an output is not what it should be; `worst` is the largest difference.
Status compare(std::span<const Tensor> outputs, const Trial& trial, f64& worst) {
  if (outputs.size() != trial.expected.size())
    return invalid("there are ", outputs.size(), " results instead of ", trial.expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array& expected = trial.expected[i];
    if (!(outputs[i].shape() == expected.shape))
      return invalid("result ", i, " has shape ", outputs[i].shape(), " instead of ", expected.shape);
    for (u64 j = 0; j < expected.size(); ++j) {
      const f64 actual = element(outputs[i], j);
      worst = std::max(worst, std::abs(actual - expected.v[j]));
      if (!close(actual, expected.v[j], outputs[i].dtype(), trial))
        return invalid("element ", j, " of result ", i, " is ", actual, " instead of ", expected.v[j]);
    }
  }
  return {};
}

// An error unless two runs gave the same bytes.
Status compare_runs(std::span<const Tensor> first, std::span<const Tensor> again, u32 turn) {
  for (size_t i = 0; i < first.size(); ++i) {
    const auto a = first[i].bytes(), b = again[i].bytes();
    if (const auto [at, _] = std::ranges::mismatch(a, b); at != a.end())
      return invalid("not the same each time: byte ", at - a.begin(), " of result ", i, " is another in run ", turn,
                     " than in the first");
  }
  return {};
}

Status attempt(const Trial& trial, const Device& device, u32 repeat, Outcome& outcome) {
  LoadOptions options = trial.options;
  options.device = device;
  options.guards = true;
  TRY(auto program, Program::load(trial.program(), options));
  const std::vector<TensorView> views(trial.inputs.begin(), trial.inputs.end());
  std::vector<Tensor> first;
  for (u32 turn = 1; turn <= repeat; ++turn) {
    TRY(auto method, program.method("forward", trial.method_options));  // anew, so that its state is
    TRY(const auto outputs, method.execute(views));
    if (turn > 1) {
      TRY_DO(compare_runs(first, outputs, turn));
      continue;
    }
    outcome.kernels = method.kernels();
    TRY_DO(compare(outputs, trial, outcome.worst));
    first.assign(outputs.begin(), outputs.end());
  }
  return {};
}

Trials all_trials(bool f16, bool subgroups) {
  Trials trials;
  add_elementwise(trials, f16);
  add_movement(trials);
  add_rows(trials);
  add_images(trials);
  add_matrices(trials, f16, subgroups);
  add_nibbles(trials, subgroups);
  add_bytes(trials);
  add_attention(trials, subgroups);
  add_indexing(trials);
  add_training(trials);
  return trials;
}

}  // namespace

std::vector<std::string_view> routes_of(std::string_view family, bool subgroups) {
  std::vector<std::string_view> out;
  for (const ops::Route& route : ops::routes())
    if (route.family == family && (subgroups || !route.subgroups)) out.push_back(route.name);
  return out;
}

Summary run(const Device& device, const std::string& only, u32 repeat,
            const std::function<void(const Outcome&)>& report) {
  Summary summary;
  std::set<std::string> tried;
  const bool subgroups = device.adapter().subgroups;
  for (const Trial& trial : all_trials(device.adapter().f16, subgroups)) {
    if (trial.name.find(only) == std::string::npos) continue;
    Outcome outcome{trial.name, {}, 0, ""};
    if (const Status status = attempt(trial, device, repeat, outcome); !status)
      outcome.problem = status.error().to_string();
    (outcome.problem.empty() ? summary.passed : summary.failed)++;
    tried.insert(outcome.kernels.begin(), outcome.kernels.end());
    report(outcome);
  }
  for (const graph::KernelSource* kernel : graph::all_kernels())
    if ((subgroups || !kernel->subgroups) && !tried.contains(std::string(kernel->name)))
      summary.untried.push_back(std::string(kernel->name));
  return summary;
}

}  // namespace pteron::selftest
