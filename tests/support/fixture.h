// SPDX-License-Identifier: BSD-3-Clause
// Real programs with goldens: a folder with model.pte, manifest.json and tensors (all in data.bin, or one file for
// each).
#pragma once

#include <pteron/program.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace pteron::test {

// An element passes where |Δ| ≤ atol or |Δ| ≤ rtol · |expected|, a tensor where also Σ Δ² ≤ nmse · Σ expected².
// Integers are exact; those of 8 bits may be off by `int8_slack`, for ops that round to them.
struct Tolerance {
  f64 atol = 1e-3, rtol = 1e-3;
  f64 nmse = std::numeric_limits<f64>::infinity();
  f64 int8_slack = 1;
};

struct InputSet {
  std::string name;  // "main", "live 5", "step 2", …
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

struct Fixture {
  std::filesystem::path folder;
  std::string name;  // "rms_norm/baseline"
  Tolerance tolerance;
  std::vector<std::string> ops;                 // delegated
  std::vector<std::string> portable_ops;        // outside of the delegate
  std::vector<InputSet> sets;                   // the main one first
  bool stateful = false;                        // each set goes on with the state that the one before has left
  std::vector<std::pair<u32, Tensor>> mutated;  // method inputs and what they hold afterwards
  std::vector<std::string> data_files;          // external constants
  bool output_unspecified = false;

  std::string model() const { return folder / "model.pte"; }
};

Fixture read_fixture(const std::filesystem::path& folder);
// All folders below `root` that have a manifest with inputs.
std::vector<std::filesystem::path> find_fixtures(const std::filesystem::path& root);

struct Difference {
  std::string problem;  // empty: equal within the tolerance
  f64 worst = 0;        // largest absolute difference
};
// NaN and infinities must match.
Difference compare(const TensorView& actual, const TensorView& expected, const Tolerance& tolerance);

// Runs every set, then the main one again (after a reset if there is state); returns what went wrong.
std::vector<std::string> run_fixture(const Fixture& fixture, const Device& device, f64* worst = nullptr,
                                     const LoadOptions& options = {});

std::vector<std::byte> read_bytes(const std::filesystem::path& path);
// The folder with the repository's own test data.
std::filesystem::path data_folder();
// The folder with shared fixtures, if it is there.
std::filesystem::path shared_fixtures();

}  // namespace pteron::test
