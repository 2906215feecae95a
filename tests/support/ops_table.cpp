// SPDX-License-Identifier: BSD-3-Clause
#include "support/ops_table.h"

#include "support/core_aten.h"

#include "base/text.h"
#include "graph/op.h"

#include <sstream>

namespace pteron::test {

OpsTable::OpsTable(const std::vector<Fixture>& fixtures) {
  for (const graph::OpList& list : graph::all_ops())
    for (const graph::OpEntry& entry : list)
      if (!entry.name.starts_with("pteron.")) rows_[std::string(entry.name)];
  for (const Fixture& fixture : fixtures)
    for (const std::string& op : fixture.ops) {
      const auto row = rows_.find(op);
      if (row == rows_.end()) continue;
      ++row->second.cases;
      for (const auto* tensors : {&fixture.sets[0].inputs, &fixture.sets[0].outputs})
        for (const Tensor& tensor : *tensors) row->second.dtypes.insert(std::string(name_of(tensor.dtype())));
    }
}

void OpsTable::add_result(const std::string& adapter, const Fixture& fixture, f64 worst) {
  for (const std::string& op : fixture.ops) {
    f64& known = worst_[adapter][op];
    known = std::max(known, worst);
  }
}

std::string OpsTable::facts(const std::string& op) const {
  const OpRow& row = rows_.at(op);
  std::string dtypes;
  for (const std::string& dtype : row.dtypes) dtypes += (dtypes.empty() ? "" : " ") + dtype;
  return str("| `", op, "` | ", dtypes, " | ", row.cases, " |");
}

std::string OpsTable::core() const {
  std::string lines;
  u32 held = 0, refused = 0;
  for (const CoreOp& op : core_aten) {
    const auto row = rows_.find(std::string(op.in_programs));
    const bool has = row != rows_.end() && row->second.cases > 0;
    held += has;
    refused += !has && !op.reason.empty();
    lines += str("| ", op.name, " | ",
                 has                 ? "yes"
                 : op.reason.empty() ? "no: nobody has written it"
                                     : str("no: ", op.reason),
                 " |\n");
  }
  const u32 all = std::size(core_aten);
  return str("## Core ATen\n", "Of the ", all, " ops that torch ", core_aten_version, " calls core ATen, ", held,
             " are there with programs that prove it, ", refused, " can't be and ", all - held - refused,
             " are missing.\nViews are their `_copy` forms in programs.\n\n| op | |\n|---|---|\n", lines);
}

std::string OpsTable::markdown() const {
  std::string out =
      "# Ops\n"
      "What the programs of `tests/data/ops` prove: the types that go in and out of programs with an op, how many\n"
      "programs hold it and pass, and the largest difference from torch in any of their results, for each adapter. "
      "This\n"
      "file is written by the test program: `run_fixtures tests/data/ops --table docs/ops.md`.\n\n"
      "| op | types | programs |";
  std::string line = "|---|---|---|";
  for (const auto& [adapter, worst] : worst_) {
    out += " " + adapter + " |";
    line += "---|";
  }
  out += "\n" + line + "\n";
  for (const auto& [op, row] : rows_) {
    out += facts(op);
    for (const auto& [adapter, worst] : worst_) {
      const auto found = worst.find(op);
      std::ostringstream number;
      number.precision(2);
      if (found != worst.end()) number << found->second;
      out += " " + number.str() + " |";
    }
    out += "\n";
  }
  return out + "\n" + core();
}

std::vector<std::string> OpsTable::differences(const std::string& markdown) const {
  std::vector<std::string> out;
  std::set<std::string> lines;
  std::istringstream stream(markdown);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("| `")) lines.insert(line);
  for (const auto& [op, row] : rows_) {
    const auto found = lines.lower_bound(facts(op));
    if (found == lines.end() || !found->starts_with(facts(op)))
      out.push_back("there is no line " + facts(op));
    else
      lines.erase(found);
  }
  for (const std::string& line : lines) out.push_back("there should be no line " + line);
  if (!markdown.ends_with(core())) out.push_back("the part about core ATen is not what there is");
  return out;
}

}  // namespace pteron::test
