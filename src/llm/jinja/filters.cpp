// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/filters.h"

#include "base/error.h"

namespace pteron::jinja {
namespace {

constexpr std::string_view unsupported_filters[] = {
    "batch",     "filesizeformat", "forceescape", "format", "groupby",   "pprint",   "random", "slice",
    "striptags", "truncate",       "urlencode",   "urlize", "wordcount", "wordwrap", "xmlattr"};

}  // namespace

Result<Value> Renderer::filter(std::string_view name, const Value& subject, const CallArguments& arguments) {
  for (const auto table : {text_filters(), number_filters(), sequence_filters(), selection_filters()})
    if (const Builtin run = find_builtin(table, name)) return within(run(*this, subject, arguments), "|", name);
  if (std::ranges::find(unsupported_filters, name) != std::end(unsupported_filters))
    return unsupported("the filter '", name, "' is not supported");
  return invalid("there is no filter '", name, "'");
}

}  // namespace pteron::jinja
