// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace pteron::test {

// A program with the logits of every token. It has random weights and so few tokens, five, that its answers often, but
// not always, go on as they did before. Token 3 ends them.
std::vector<std::byte> repetitive_llama();

}  // namespace pteron::test
