// SPDX-License-Identifier: BSD-3-Clause
// Programs: the caller brings their bytes, piece by piece.
#include "wasm/abi.h"

#include <pteron/options.h>

#include <algorithm>

namespace pteron::wasm {
namespace {

// Pieces are a few MiB, except for the description of a program; what is larger is no such thing.
constexpr f64 largest_piece = 1 << 30;

Json describe(const ValueInfo& value) {
  Json shape = Json::Array();
  for (u32 d : value.shape) shape.push_back(d);
  return {{"tensor", value.is_tensor},
          {"dtype", name_of(value.dtype)},
          {"shape", std::move(shape)},
          {"dynamic", value.dynamic}};
}

Json describe(const std::vector<ValueInfo>& values) {
  Json out = Json::Array();
  for (const ValueInfo& value : values) out.push_back(describe(value));
  return out;
}

Result<std::vector<StreamedProgram::File>> read_files(const Json& json) {
  std::vector<StreamedProgram::File> out;
  for (const Json& file : json["files"].items()) {
    const f64 size = number(file, "size", -1);
    if (!file["name"].text() || !(size >= 0 && size <= 0x1p53))
      return invalid("a file of the program has no name or no size");
    out.push_back({*file["name"].text(), u64(size)});
  }
  if (out.empty()) return invalid("the program has no files");
  return out;
}

constexpr std::string_view epilogue_names[] = {"argMax", "topK", "logSumExp"};  // by Epilogue::Kind

Result<Epilogue> read_epilogue(const Json& json) {
  Epilogue out;
  const std::string kind = text(json, "kind", ""), rows = text(json, "rows", "last");
  const auto name = std::ranges::find(epilogue_names, kind);
  if (name == std::end(epilogue_names))
    return invalid("an epilogue's kind is '", kind, "'; there are: ", join(epilogue_names));
  if (rows != "last" && rows != "all")
    return invalid("an epilogue's rows are '", rows, "'; 'last' or 'all' is possible");
  out.kind = Epilogue::Kind(name - epilogue_names);
  out.rows = rows == "all" ? Epilogue::all : Epilogue::last;
  const f64 output = number(json, "output", 0), k = number(json, "k", 1);
  if (!(output >= 0 && output <= 0x1p31)) return invalid("an epilogue's output is ", output);
  if (!(k >= 1 && k <= 65536)) return invalid("an epilogue's k is ", k, "; 1 to 65536 are possible");
  out.output = u32(output);
  out.k = u32(k);
  return out;
}

Result<MethodOptions> read_method_options(const Json& json) {
  MethodOptions out;
  for (const Json& entry : json["epilogues"].items()) {
    TRY(const Epilogue epilogue, read_epilogue(entry));
    out.epilogues.push_back(epilogue);
  }
  return out;
}

Status begin_method(ProgramHandle& program, std::string_view request) {
  TRY(const Json json, Json::parse(request));
  if (!json.object()) return invalid("the method's options are no JSON object");
  TRY(const MethodOptions options, read_method_options(json));
  return program.stream.begin_method(text(json, "name", "forward"), options);
}

Result<OptionValue> read_option(const std::string& name, const Json& json) {
  if (const bool* flag = json.boolean()) return *flag;
  if (const std::string* text = json.text()) return *text;
  if (!json.array()) return invalid("option '", name, "' is neither true nor false nor a string nor a list of strings");
  std::vector<std::string> list;
  for (const Json& item : json.items()) list.emplace_back(item.string());
  return list;
}

Result<LoadOptions> read_options(const Json& json) {
  LoadOptions out;
  for (const JsonMember& member : json.members()) {
    if (member.name == "files") continue;
    TRY(const OptionValue option, read_option(member.name, member.value));
    TRY_DO(set_option(out, member.name, option));
  }
  return out;
}

Result<ProgramHandle*> begin(Engine& engine, std::string_view text) {
  TRY_DO(engine.check_open());
  TRY(const Json json, Json::parse(text));
  if (!json.object()) return invalid("the program's options are no JSON object");
  TRY(auto files, read_files(json));
  TRY(LoadOptions options, read_options(json));
  options.device = engine.device;
  return new ProgramHandle{engine, StreamedProgram(std::move(files), std::move(options)), {}, {}};
}

void place(NeedRecord& record, const graph::DataLocation& where) {
  record.source = where.source;
  record.offset = f64(where.range.offset);
  record.size = f64(where.range.size);
}

}  // namespace

Json describe(const MethodInfo& info) {
  return {{"name", info.name}, {"inputs", describe(info.inputs)}, {"outputs", describe(info.outputs)}};
}

Json describe(const MethodOptions& options) {
  Json epilogues = Json::Array();
  for (const Epilogue& e : options.epilogues)
    epilogues.push_back({{"kind", epilogue_names[e.kind]},
                         {"output", e.output},
                         {"k", e.k},
                         {"rows", e.rows == Epilogue::all ? "all" : "last"}});
  return {{"epilogues", std::move(epilogues)}};
}

// Options: files [{name, size}], the .pte first; those of <pteron/options.h>.
PTERON_EXPORT(pteron_program_begin) ProgramHandle* begin_program(Engine* engine, const char* options, u32 length) {
  auto program = begin(*engine, {options, length});
  if (program) return *program;
  engine->fail(program.error());
  return nullptr;
}

PTERON_EXPORT(pteron_program_release) void release_program(ProgramHandle* program) { delete program; }

PTERON_EXPORT(pteron_program_next) const NeedRecord* next(ProgramHandle* program) {
  const StreamedProgram::Need need = program->stream.next();
  const Progress progress = program->stream.progress();
  NeedRecord& record = program->need;
  record = {};
  record.kind = need.kind == StreamedProgram::Need::data        ? NeedRecord::data
                : need.kind == StreamedProgram::Need::pipelines ? NeedRecord::pipelines
                                                                : NeedRecord::nothing;
  if (need.kind == StreamedProgram::Need::data) place(record, need.where);
  record.phase = progress.phase == "weights"     ? NeedRecord::weights
                 : progress.phase == "pipelines" ? NeedRecord::compiling
                                                 : NeedRecord::program;
  record.done = f64(progress.done);
  record.total = f64(progress.total);
  return &record;
}

// Where to write the bytes that are needed, or nothing.
PTERON_EXPORT(pteron_program_buffer) std::byte* program_buffer(ProgramHandle* program, f64 size) {
  if (!(size >= 0 && size <= largest_piece)) {
    program->engine.fail({ErrorKind::unsupported,
                          str("the program needs ", size, " bytes at once; at most ", largest_piece, " fit"),
                          {}});
    return nullptr;
  }
  program->buffer.resize(std::max<size_t>(size_t(size), 1));  // a pointer even for no bytes
  return program->buffer.data();
}

// Takes the first `size` bytes of the buffer.
PTERON_EXPORT(pteron_program_supply) Answer supply(ProgramHandle* program, u32 size) {
  if (size > program->buffer.size())
    return program->engine.fail({ErrorKind::internal, "more bytes are supplied than the buffer has", {}});
  const Answer answer = program->engine.done(program->stream.supply(Bytes(program->buffer).first(size)));
  if (program->stream.next().kind != StreamedProgram::Need::data) program->buffer = {};
  return answer;
}

PTERON_EXPORT(pteron_program_poll) Answer poll(ProgramHandle* program) {
  return program->engine.done(program->stream.poll());
}

// After it is open: methods, and the constants among them.
PTERON_EXPORT(pteron_program_describe) Answer describe_program(ProgramHandle* program) {
  const Program* open = program->stream.program();
  if (!open) return program->engine.fail({ErrorKind::invalid, "the program is not open yet", {}});
  Json methods = Json::Array(), constants(Json::Data{Json::Object()});
  for (const MethodInfo& info : open->methods()) {
    methods.push_back(describe(info));
    if (const auto values = open->constant(info.name))
      constants.add(info.name, Json::Array(values->begin(), values->end()));
  }
  return program->engine.tell({{"methods", std::move(methods)}, {"constants", std::move(constants)}});
}

// Where the bytes under a key lie, or nothing.
PTERON_EXPORT(pteron_program_locate) const NeedRecord* locate(ProgramHandle* program, const char* key, u32 length) {
  const auto where = program->stream.locate({key, length});
  if (!where) {
    program->engine.fail(where.error());
    return nullptr;
  }
  program->need = {};
  place(program->need, *where);
  return &program->need;
}

// Sums over the delegates of a method that is loaded.
PTERON_EXPORT(pteron_program_report) Answer report(ProgramHandle* program, const char* name, u32 length) {
  const auto reports = program->stream.report({name, length});
  if (!reports) return program->engine.fail(reports.error());
  Json ops = Json::Array();
  MemoryReport memory;
  u32 dispatches = 0, pipelines = 0;
  for (const DelegateReport& delegate : *reports) {
    for (const OpReport& op : delegate.ops) ops.push_back({{"name", op.name}, {"count", op.count}});
    dispatches += delegate.dispatches;
    pipelines += delegate.pipelines;
    memory.weights += delegate.memory.weights;
    memory.state += delegate.memory.state;
    memory.activations += delegate.memory.activations;
    memory.parameters += delegate.memory.parameters;
    memory.staging += delegate.memory.staging;
    memory.total += delegate.memory.total;
  }
  return program->engine.tell({{"ops", std::move(ops)},
                               {"dispatches", dispatches},
                               {"pipelines", pipelines},
                               {"memory",
                                {{"weights", memory.weights},
                                 {"state", memory.state},
                                 {"activations", memory.activations},
                                 {"parameters", memory.parameters},
                                 {"staging", memory.staging},
                                 {"total", memory.total}}}});
}

// Options: name; epilogues [{kind, output, k, rows}].
PTERON_EXPORT(pteron_program_begin_method)
Answer begin_method(ProgramHandle* program, const char* options, u32 length) {
  return program->engine.done(begin_method(*program, {options, length}));
}

PTERON_EXPORT(pteron_program_cancel_method) void cancel_method(ProgramHandle* program) {
  program->stream.cancel_method();
}

PTERON_EXPORT(pteron_program_finish_method) MethodHandle* finish_method(ProgramHandle* program) {
  auto method = program->stream.finish_method();
  if (method) return new MethodHandle{program->engine, *std::move(method)};
  program->engine.fail(method.error());
  return nullptr;
}

}  // namespace pteron::wasm
