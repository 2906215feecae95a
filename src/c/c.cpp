// SPDX-License-Identifier: BSD-3-Clause
// The C interface on the public C++ one.
#include "c/call.h"
#include "c/options.h"

#include <pteron/pteron.h>

#include <cstring>

struct pteron_program {
  pteron::Program program;
};
struct pteron_method {
  pteron::Method method;
  bool has_run = false;
  std::vector<pteron::TensorView> inputs;
};

namespace {

using namespace pteron;
using c::call, c::read_options, c::require;

// The numbers of the C interface are fixed; these of C++ may only grow with them.
static_assert(PTERON_INVALID == int(ErrorKind::invalid) + 1 && PTERON_INTERNAL == int(ErrorKind::internal) + 1);
static_assert(PTERON_BOOL == int(DType::boolean) && PTERON_INT64 == int(DType::i64));
static_assert(PTERON_MAX_RANK == Shape::max_rank);

Result<TensorView> read_tensor(const pteron_tensor& given, size_t index) {
  if (given.dtype < 0 || given.dtype > PTERON_INT64)
    return invalid("input ", index, " has the unknown dtype ", given.dtype);
  if (given.rank > PTERON_MAX_RANK)
    return invalid("input ", index, " has rank ", given.rank, "; at most ", int(PTERON_MAX_RANK), " is supported");
  TensorView out;
  out.dtype = DType(given.dtype);
  TRY(out.shape, within(Shape::from(std::span<const i64>(given.shape, given.rank)), "input ", index));
  out.bytes = {static_cast<const std::byte*>(given.data), size_t(given.bytes)};
  return out;
}

template <class Record>
void write_shape(const Shape& shape, Record& out) {
  out.rank = shape.rank();
  std::memset(out.shape, 0, sizeof out.shape);
  for (u32 i = 0; i < shape.rank(); ++i) out.shape[i] = shape[i];
}

int32_t write_value(const std::vector<ValueInfo>& values, size_t index, pteron_value* out) {
  if (index >= values.size() || !out) return 0;
  const ValueInfo& value = values[index];
  out->is_tensor = value.is_tensor;
  out->dtype = pteron_dtype(value.dtype);
  out->is_dynamic = value.dynamic;
  write_shape(value.shape, *out);
  return 1;
}

Status execute(pteron_method& method, const pteron_tensor* inputs, size_t count) {
  TRY_DO(require(inputs || count == 0, "inputs"));
  method.has_run = false;
  method.inputs.clear();
  for (size_t i = 0; i < count; ++i) {
    TRY(const TensorView view, read_tensor(inputs[i], i));
    method.inputs.push_back(view);
  }
  TRY_DO(method.method.execute(method.inputs));
  method.has_run = true;
  return {};
}

}  // namespace

uint32_t pteron_c_api(void) { return PTERON_C_API; }
const char* pteron_version(void) { return version(); }

pteron_status pteron_error_kind(const pteron_error* error) { return error ? error->kind : PTERON_OK; }
const char* pteron_error_message(const pteron_error* error) { return error ? error->message.c_str() : ""; }
void pteron_error_release(pteron_error* error) { delete error; }

pteron_status pteron_program_load(const char* path, const pteron_options* options, pteron_program** program,
                                  pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(path, "path"));
    TRY_DO(require(program, "program"));
    TRY(LoadOptions load, read_options(options));
    TRY(Program loaded, Program::load(path, std::move(load)));
    *program = new pteron_program{std::move(loaded)};
    return {};
  });
}

pteron_status pteron_program_load_bytes(const void* bytes, size_t size, const pteron_options* options,
                                        pteron_program** program, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(bytes || size == 0, "bytes"));
    TRY_DO(require(program, "program"));
    TRY(LoadOptions load, read_options(options));
    const auto* begin = static_cast<const std::byte*>(bytes);
    TRY(Program loaded, Program::load(std::vector<std::byte>(begin, begin + size), std::move(load)));
    *program = new pteron_program{std::move(loaded)};
    return {};
  });
}

void pteron_program_release(pteron_program* program) { delete program; }

size_t pteron_program_method_count(const pteron_program* program) {
  return program ? program->program.methods().size() : 0;
}

const char* pteron_program_method_name(const pteron_program* program, size_t index) {
  return index < pteron_program_method_count(program) ? program->program.methods()[index].name.c_str() : nullptr;
}

pteron_status pteron_program_check(const pteron_program* program, const char* method, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(program, "program"));
    TRY_DO(require(method, "method"));
    return program->program.check(method);
  });
}

pteron_status pteron_method_load(pteron_program* program, const char* name, pteron_method** method,
                                 pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(program, "program"));
    TRY_DO(require(name, "name"));
    TRY_DO(require(method, "method"));
    TRY(Method loaded, program->program.method(name));
    *method = new pteron_method{std::move(loaded), false, {}};
    return {};
  });
}

void pteron_method_release(pteron_method* method) { delete method; }

size_t pteron_method_input_count(const pteron_method* method) {
  return method ? method->method.info().inputs.size() : 0;
}
size_t pteron_method_output_count(const pteron_method* method) {
  return method ? method->method.info().outputs.size() : 0;
}
int32_t pteron_method_input(const pteron_method* method, size_t index, pteron_value* value) {
  return method ? write_value(method->method.info().inputs, index, value) : 0;
}
int32_t pteron_method_output(const pteron_method* method, size_t index, pteron_value* value) {
  return method ? write_value(method->method.info().outputs, index, value) : 0;
}

pteron_status pteron_method_execute(pteron_method* method, const pteron_tensor* inputs, size_t count,
                                    pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(method, "method"));
    return execute(*method, inputs, count);
  });
}

int32_t pteron_method_result(const pteron_method* method, size_t index, pteron_tensor* output) {
  if (!method || !method->has_run || !output || index >= method->method.outputs().size()) return 0;
  const Tensor& tensor = method->method.outputs()[index];
  output->dtype = pteron_dtype(tensor.dtype());
  write_shape(tensor.shape(), *output);
  output->data = tensor.bytes().data();
  output->bytes = tensor.bytes().size();
  return 1;
}

pteron_status pteron_method_reset(pteron_method* method, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(method, "method"));
    return method->method.reset();
  });
}

pteron_status pteron_method_rewind(pteron_method* method, uint32_t position, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(method, "method"));
    return method->method.rewind(position);
  });
}

pteron_status pteron_method_clone(pteron_method* method, pteron_method** copy, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(method, "method"));
    TRY_DO(require(copy, "copy"));
    TRY(Method cloned, method->method.clone());
    *copy = new pteron_method{std::move(cloned), false, {}};
    return {};
  });
}
