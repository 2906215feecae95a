// SPDX-License-Identifier: BSD-3-Clause
// docs/ops.md: what the fixtures prove about each op, on which adapters.
#pragma once

#include "support/fixture.h"

#include <map>
#include <set>

namespace pteron::test {

struct OpRow {
  std::set<std::string> dtypes;  // that go in and out of programs with this op
  u32 cases = 0;                 // programs that hold it
};

class OpsTable {
 public:
  explicit OpsTable(const std::vector<Fixture>& fixtures);

  // Largest difference of a fixture that passed on an adapter.
  void add_result(const std::string& adapter, const Fixture& fixture, f64 worst);
  std::string markdown() const;
  // How a file differs from this table, errors and adapters aside; empty: not at all.
  std::vector<std::string> differences(const std::string& markdown) const;

 private:
  std::string facts(const std::string& op) const;
  // Which ops of core ATen there are and why others are not, with counts.
  std::string core() const;

  std::map<std::string, OpRow> rows_;
  std::map<std::string, std::map<std::string, f64>> worst_;  // by adapter, by op
};

}  // namespace pteron::test
