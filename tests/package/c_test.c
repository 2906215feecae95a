/* SPDX-License-Identifier: BSD-3-Clause
 * The C interface, used from C. usage: c_test DATA_FOLDER */
#include <pteron/c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static char path[4096];

#define CHECK(condition) ((condition) ? (void)0 : (void)(++failures, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

static const char* file(const char* folder, const char* name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* Checks the kind of an error and a part of its sentence, and releases it. */
#define CHECK_ERROR(status, kind, part) check_error(__LINE__, status, kind, part)
static pteron_error* error = NULL;
static void check_error(int line, pteron_status status, pteron_status kind, const char* part) {
  if (status != kind || pteron_error_kind(error) != kind || !strstr(pteron_error_message(error), part)) {
    ++failures;
    printf("line %d: expected kind %d and '%s', but got %d: %s\n", line, kind, part, status, pteron_error_message(error));
  }
  pteron_error_release(error);
  error = NULL;
}

static pteron_tensor tensor(pteron_dtype dtype, uint32_t rank, const int64_t* shape, const void* data, uint64_t bytes) {
  pteron_tensor out;
  memset(&out, 0, sizeof out);
  out.dtype = dtype;
  out.rank = rank;
  for (uint32_t i = 0; i < rank; ++i) out.shape[i] = shape[i];
  out.data = data;
  out.bytes = bytes;
  return out;
}

static void programs_run(const char* data) {
  pteron_program* program = NULL;
  pteron_method *method = NULL, *copy = NULL;
  const int64_t shape[] = {3, 5};
  float values[15];
  for (int i = 0; i < 15; ++i) values[i] = (float)i;
  const pteron_tensor input = tensor(PTERON_FLOAT32, 2, shape, values, sizeof values);
  pteron_tensor output;
  pteron_value value;

  CHECK(pteron_program_load(file(data, "ops/add/itself/model.pte"), NULL, &program, &error) == PTERON_OK);
  CHECK(pteron_program_method_count(program) == 1);
  CHECK(strcmp(pteron_program_method_name(program, 0), "forward") == 0);
  CHECK(pteron_program_method_name(program, 1) == NULL);
  CHECK(pteron_program_check(program, "forward", &error) == PTERON_OK);
  CHECK(pteron_method_load(program, "forward", &method, &error) == PTERON_OK);
  pteron_program_release(program); /* the method keeps what it needs */

  CHECK(pteron_method_input_count(method) == 1 && pteron_method_output_count(method) == 1);
  CHECK(pteron_method_input(method, 0, &value) == 1);
  CHECK(value.is_tensor && value.dtype == PTERON_FLOAT32 && !value.is_dynamic && value.rank == 2);
  CHECK(value.shape[0] == 3 && value.shape[1] == 5);
  CHECK(pteron_method_input(method, 1, &value) == 0 && pteron_method_output(method, 1, &value) == 0);

  CHECK(pteron_method_result(method, 0, &output) == 0); /* nothing has run */
  CHECK(pteron_method_execute(method, &input, 1, &error) == PTERON_OK);
  CHECK(pteron_method_result(method, 0, &output) == 1);
  CHECK(output.dtype == PTERON_FLOAT32 && output.rank == 2 && output.bytes == sizeof values);
  for (int i = 0; i < 15; ++i) CHECK(((const float*)output.data)[i] == 2 * values[i]);

  CHECK(pteron_method_clone(method, &copy, &error) == PTERON_OK);
  CHECK(pteron_method_reset(method, &error) == PTERON_OK);
  CHECK(pteron_method_rewind(method, 0, &error) == PTERON_OK);
  CHECK(pteron_method_execute(copy, &input, 1, NULL) == PTERON_OK);
  pteron_method_release(copy);
  pteron_method_release(method);
}

static void* read_all(const char* name, size_t* size) {
  FILE* in = fopen(name, "rb");
  if (!in) return NULL;
  const long end = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
  void* bytes = end >= 0 && fseek(in, 0, SEEK_SET) == 0 ? malloc((size_t)end) : NULL;
  *size = bytes ? fread(bytes, 1, (size_t)end, in) : 0;
  fclose(in);
  return bytes;
}

static void programs_come_from_memory(const char* data) {
  size_t size = 0;
  pteron_program* program = NULL;
  pteron_method* method = NULL;
  void* bytes = read_all(file(data, "ops/add/itself/model.pte"), &size);
  CHECK(pteron_program_load_bytes(bytes, size, NULL, &program, &error) == PTERON_OK);
  free(bytes); /* it was copied */
  CHECK(pteron_method_load(program, "forward", &method, &error) == PTERON_OK);
  pteron_method_release(method);
  pteron_program_release(program);
}

static void errors_have_kinds(const char* data) {
  pteron_program* program = NULL;
  pteron_method* method = NULL;
  pteron_options options;
  const char* const settings[] = {"fast=true", "disable_passes=dead-code"};
  const int64_t shape[] = {3, 5}, other[] = {3, 4}, negative[] = {3, -5};
  const float values[15] = {0};
  pteron_tensor input = tensor(PTERON_FLOAT32, 2, shape, values, sizeof values);

  CHECK_ERROR(pteron_program_load(NULL, NULL, &program, &error), PTERON_INVALID, "path is NULL");
  CHECK_ERROR(pteron_program_load("elsewhere.pte", NULL, &program, &error), PTERON_NOT_FOUND, "elsewhere.pte");
  CHECK_ERROR(pteron_program_load_bytes("no program", 10, NULL, &program, &error), PTERON_INVALID, "a program in memory");
  CHECK(pteron_program_load("elsewhere.pte", NULL, &program, NULL) == PTERON_NOT_FOUND); /* nobody wants the sentence */
  CHECK(program == NULL);

  memset(&options, 0, sizeof options);
  CHECK_ERROR(pteron_program_load(file(data, "ops/add/itself/model.pte"), &options, &program, &error), PTERON_INVALID,
              "sizeof(pteron_options)");
  options.size = sizeof options;
  options.adapter = "no such GPU";
  CHECK(pteron_program_load(file(data, "ops/add/itself/model.pte"), &options, &program, &error) == PTERON_OK);
  CHECK_ERROR(pteron_method_load(program, "forward", &method, &error), PTERON_NOT_FOUND, "no such GPU");
  pteron_program_release(program);
  options.adapter = NULL;
  options.settings = settings;
  options.setting_count = 1;
  CHECK_ERROR(pteron_program_load(file(data, "ops/add/itself/model.pte"), &options, &program, &error), PTERON_INVALID,
              "option 'fast' is unknown");
  options.settings = settings + 1;
  CHECK(pteron_program_load(file(data, "ops/add/itself/model.pte"), &options, &program, &error) == PTERON_OK);
  pteron_program_release(program);

  CHECK(pteron_program_load(file(data, "ops/add/itself/model.pte"), NULL, &program, &error) == PTERON_OK);
  CHECK_ERROR(pteron_method_load(program, "backward", &method, &error), PTERON_NOT_FOUND, "it has: forward");
  CHECK_ERROR(pteron_program_check(program, "backward", &error), PTERON_NOT_FOUND, "it has: forward");
  CHECK(pteron_method_load(program, "forward", &method, &error) == PTERON_OK);
  CHECK_ERROR(pteron_method_execute(method, NULL, 0, &error), PTERON_INVALID, "takes 1 inputs, but 0 were given");
  CHECK_ERROR(pteron_method_execute(method, NULL, 1, &error), PTERON_INVALID, "inputs is NULL");
  input.dtype = 99;
  CHECK_ERROR(pteron_method_execute(method, &input, 1, &error), PTERON_INVALID, "input 0 has the unknown dtype 99");
  input.dtype = PTERON_INT32;
  CHECK_ERROR(pteron_method_execute(method, &input, 1, &error), PTERON_INVALID, "should be float32, but int32 was given");
  input = tensor(PTERON_FLOAT32, 2, other, values, sizeof values);
  CHECK_ERROR(pteron_method_execute(method, &input, 1, &error), PTERON_INVALID, "should have shape [3, 5], but [3, 4]");
  input = tensor(PTERON_FLOAT32, 2, negative, values, sizeof values);
  CHECK_ERROR(pteron_method_execute(method, &input, 1, &error), PTERON_INVALID, "input 0");
  input = tensor(PTERON_FLOAT32, 2, shape, values, 8);
  CHECK_ERROR(pteron_method_execute(method, &input, 1, &error), PTERON_INVALID, "needs 60 bytes, but 8 were given");
  input.rank = 9;
  CHECK_ERROR(pteron_method_execute(method, &input, 1, &error), PTERON_INVALID, "rank 9; at most 8");
  pteron_method_release(method);
  pteron_program_release(program);
}

static void nothing_is_no_object(void) {
  pteron_value value;
  pteron_tensor output;
  pteron_program_release(NULL);
  pteron_method_release(NULL);
  pteron_error_release(NULL);
  CHECK(pteron_program_method_count(NULL) == 0 && pteron_program_method_name(NULL, 0) == NULL);
  CHECK(pteron_method_input_count(NULL) == 0 && pteron_method_output_count(NULL) == 0);
  CHECK(!pteron_method_input(NULL, 0, &value) && !pteron_method_result(NULL, 0, &output));
  CHECK_ERROR(pteron_method_reset(NULL, &error), PTERON_INVALID, "method is NULL");
}

static void ops_outside_of_the_delegate_are_named(const char* program_file) {
  pteron_program* program = NULL;
  pteron_method* method = NULL;
  CHECK(pteron_program_load(program_file, NULL, &program, &error) == PTERON_OK);
  CHECK_ERROR(pteron_program_check(program, "forward", &error), PTERON_UNSUPPORTED, "aten::cumsum.out");
  CHECK_ERROR(pteron_method_load(program, "forward", &method, &error), PTERON_UNSUPPORTED, "pteron[executorch]");
  pteron_program_release(program);
}

/* The tokens are those that torch gives. */
static void language_models_answer(const char* data) {
  static const uint32_t prompt[] = {37, 235, 396, 72, 255, 393, 203}, wanted[] = {334, 423, 454, 293};
  static float logits[512];
  char tokenizer[4096], text[64];
  uint32_t tokens[16];
  size_t size = 0;
  pteron_llm* llm = NULL;
  pteron_session* session = NULL;
  pteron_piece piece;
  snprintf(tokenizer, sizeof tokenizer, "%s/tiny_tokenizer/tokenizer.json", data);
  CHECK(pteron_llm_load(file(data, "llama_tiny/rope_llama/model.pte"), NULL, tokenizer, NULL, &llm, &error) == PTERON_OK);
  CHECK(pteron_llm_vocabulary(llm) == 512 && pteron_llm_context(llm) == 128);
  CHECK(pteron_llm_encode(llm, "Hello", 5, 1, tokens, 16, &size, &error) == PTERON_OK && size > 0 && size <= 5);
  const size_t count = size;
  CHECK(pteron_llm_decode(llm, tokens, count, text, 2, &size, &error) == PTERON_OK && size == 5 && memcmp(text, "He", 2) == 0);
  CHECK(pteron_llm_render(llm, "[{\"role\": \"user\", \"content\": \"Hi\"}]", text, 12, &size, &error) == PTERON_OK);
  CHECK(size > 12 && memcmp(text, "<|im_start|>", 12) == 0);
  CHECK(pteron_session_create(llm, &session, &error) == PTERON_OK);
  pteron_llm_release(llm);
  CHECK_ERROR(pteron_session_next(session, &piece, &error), PTERON_INVALID, "no answer under way");
  CHECK_ERROR(pteron_session_start(session, prompt, 7, "{\"speed\": 3}", &error), PTERON_INVALID, "no option 'speed'");
  CHECK_ERROR(pteron_session_start(session, prompt, 7, "{\"seed\": -3}", &error), PTERON_INVALID, "'seed'");
  CHECK(pteron_session_start(session, prompt, 7, "{\"max_tokens\": 4}", &error) == PTERON_OK);
  for (int i = 0; i < 4; ++i) {
    CHECK(pteron_session_next(session, &piece, &error) == PTERON_OK && piece.has_token && piece.token == wanted[i]);
    CHECK(piece.is_last == (i == 3));
  }
  CHECK(piece.reason && strcmp(piece.reason, "max_tokens") == 0);
  CHECK(pteron_session_logits(session, prompt, 7, logits, 512, &error) == PTERON_OK);
  for (int i = 0; i < 512; ++i) CHECK(logits[i] <= logits[wanted[0]]);
  CHECK_ERROR(pteron_session_logits(session, prompt, 7, logits, 5, &error), PTERON_INVALID, "room for 5");
  pteron_session_release(session);
  pteron_session_release(NULL);
  pteron_llm_release(NULL);
}

/* The vector is torch's. */
static void encoders_embed(const char* data) {
  static const uint32_t text[] = {1, 2};
  static float vector[16];
  pteron_llm* llm = NULL;
  pteron_session* session = NULL;
  CHECK(pteron_llm_load(file(data, "encoder_tiny/static.pte"), NULL, NULL, NULL, &llm, &error) == PTERON_OK);
  CHECK(pteron_llm_width(llm) == 16 && pteron_llm_context(llm) == 32);
  CHECK(pteron_llm_embed(llm, text, 2, vector, 16, &error) == PTERON_OK);
  CHECK(fabsf(vector[0] + 0.2210029f) < 1e-5f && fabsf(vector[15] + 0.4231324f) < 1e-5f);
  CHECK_ERROR(pteron_llm_embed(llm, text, 2, vector, 5, &error), PTERON_INVALID, "room for 5");
  CHECK_ERROR(pteron_llm_embed(llm, text, 0, vector, 16, &error), PTERON_INVALID, "has 0 tokens");
  CHECK_ERROR(pteron_session_create(llm, &session, &error), PTERON_UNSUPPORTED, "writes none");
  pteron_llm_release(llm);
  CHECK(pteron_llm_width(NULL) == 0);
}

static pteron_argument described(int32_t kind, uint32_t count) {
  pteron_argument out;
  memset(&out, 0, sizeof out);
  out.kind = kind;
  out.dtype = PTERON_FLOAT32;
  out.count = count;
  for (int i = 0; i < PTERON_MAX_RANK; ++i) out.shape[i] = 3;
  return out;
}

static void exporters_can_ask(void) {
  const pteron_argument x = described(PTERON_ARGUMENT_TENSOR, 2), list = described(PTERON_ARGUMENT_LIST, 2);
  const pteron_argument relu[] = {x, x};
  CHECK(pteron_check_op("aten.relu.default", relu, 2, &error) == PTERON_OK);
  CHECK_ERROR(pteron_check_op("aten.frobnicate.default", relu, 2, &error), PTERON_UNSUPPORTED, "not implemented");
  CHECK_ERROR(pteron_check_op("aten.relu.default", relu, 0, &error), PTERON_INVALID, "no argument");
  CHECK_ERROR(pteron_check_op("aten.relu.default", NULL, 2, &error), PTERON_INVALID, "arguments is NULL");

  pteron_argument axis = described(PTERON_ARGUMENT_INTEGER, 0), wide = x;
  axis.integer = 1;
  wide.shape[1] = 6;
  const pteron_argument cat[] = {list, x, x, axis, wide};
  CHECK(pteron_check_op("aten.cat.default", cat, 5, &error) == PTERON_OK);
  const pteron_argument cut[] = {list, x};
  CHECK_ERROR(pteron_check_op("aten.cat.default", cut, 2, &error), PTERON_INVALID, "further items");
  const pteron_argument nested[] = {list, list, x, x, x};
  CHECK_ERROR(pteron_check_op("aten.cat.default", nested, 5, &error), PTERON_INVALID, "can't hold lists");
  const pteron_argument deep[] = {described(PTERON_ARGUMENT_TENSOR, 9), x};
  CHECK_ERROR(pteron_check_op("aten.relu.default", deep, 2, &error), PTERON_INVALID, "rank 9");
  const pteron_argument strange[] = {described(99, 0), x};
  CHECK_ERROR(pteron_check_op("aten.relu.default", strange, 2, &error), PTERON_INVALID, "kind 99");
  CHECK(pteron_check_delegate("no delegate", 11, &error) != PTERON_OK);
  pteron_error_release(error);
  error = NULL;
}

int main(int argc, char** argv) {
  if (argc != 2) return puts("usage: c_test DATA_FOLDER"), 2;
  CHECK(pteron_c_api() == PTERON_C_API);
  CHECK(pteron_version()[0] != 0);
  programs_run(argv[1]);
  programs_come_from_memory(argv[1]);
  language_models_answer(argv[1]);
  encoders_embed(argv[1]);
  errors_have_kinds(argv[1]);
  nothing_is_no_object();
  exporters_can_ask();
  ops_outside_of_the_delegate_are_named(file(argv[1], "package/split.pte"));
  printf("%d failures\n", failures);
  return failures != 0;
}
