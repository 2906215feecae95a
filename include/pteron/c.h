/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pteron for other languages: plain C, in the shared library libpteron.so. Functions and records keep their meaning and
 * layout; new ones may be added, which raises PTERON_C_API.
 *
 *   pteron_program* program;
 *   pteron_method* method;
 *   pteron_error* error = NULL;
 *   if (pteron_program_load("model.pte", NULL, &program, &error) != PTERON_OK ||
 *       pteron_method_load(program, "forward", &method, &error) != PTERON_OK ||
 *       pteron_method_execute(method, inputs, 1, &error) != PTERON_OK)
 *     puts(pteron_error_message(error));
 *
 * Functions that can fail return PTERON_OK or the kind of the error, and store the error itself in their last argument,
 * which may be NULL; the caller releases it. On failure nothing else is stored. No C++ exception leaves the library.
 * Texts are UTF-8, end with a zero and belong to the object that they were asked of.
 *
 * A program may be used by several threads at once, a method by one at a time. Objects may be released in any order.
 */
#ifndef PTERON_C_H
#define PTERON_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__ /* what a library shows, however the rest of it is compiled */
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; pteron_c_api() is the library's. A library serves callers with the same or a lower number. */
#define PTERON_C_API 4
uint32_t pteron_c_api(void);
/* "0.1.0" */
const char* pteron_version(void);

/* ---- Errors ---- */

typedef int32_t pteron_status;
enum {
  PTERON_OK = 0,
  PTERON_INVALID = 1,       /* the file or the call is wrong; the message says what to change */
  PTERON_NOT_FOUND = 2,     /* a file, method or adapter that was asked for does not exist */
  PTERON_UNSUPPORTED = 3,   /* valid, but outside of what this library or this device can do */
  PTERON_OUT_OF_MEMORY = 4, /* of the GPU or of the host */
  PTERON_DEVICE_LOST = 5,   /* the GPU went away; load the program again */
  PTERON_CANCELLED = 6,
  PTERON_INTERNAL = 7 /* a bug in Pteron */
};

typedef struct pteron_error pteron_error;
pteron_status pteron_error_kind(const pteron_error* error);
/* One sentence that says where, what and what to do. */
const char* pteron_error_message(const pteron_error* error);
void pteron_error_release(pteron_error* error);

/* ---- Tensors ---- */

enum { PTERON_MAX_RANK = 8 };

typedef int32_t pteron_dtype;
enum {
  PTERON_BOOL = 0, /* a byte each, 0 or 1 */
  PTERON_UINT8 = 1,
  PTERON_INT8 = 2,
  PTERON_INT32 = 3,
  PTERON_FLOAT16 = 4,
  PTERON_FLOAT32 = 5,
  PTERON_FLOAT64 = 6,
  PTERON_INT64 = 7
};

/* Row-major and contiguous. A number is a tensor of rank 0. */
typedef struct pteron_tensor {
  pteron_dtype dtype;
  uint32_t rank;
  int64_t shape[PTERON_MAX_RANK];
  const void* data;
  uint64_t bytes;
} pteron_tensor;

/* What a method takes or gives. */
typedef struct pteron_value {
  int32_t is_tensor; /* 0: a number */
  pteron_dtype dtype;
  int32_t is_dynamic; /* whether the shape may differ from call to call */
  uint32_t rank;
  int64_t shape[PTERON_MAX_RANK]; /* upper bounds if it is dynamic */
} pteron_value;

/* ---- Programs ---- */

/* Set everything to zero, then `size` to sizeof(pteron_options). */
typedef struct pteron_options {
  size_t size;
  const char* adapter;           /* an index or a part of a GPU's name; NULL: the best one */
  const char* const* data_files; /* .ptd files with constants of the program */
  size_t data_file_count;
  int32_t require_gpu; /* fail rather than use a software adapter */
  int32_t no_f16;      /* do not use half precision even if the GPU has it */
  /* Since 3: any option of <pteron/options.h> by its name: "disable_passes=dead-code,swiglu", "f16_kv_cache=true". */
  const char* const* settings;
  size_t setting_count;
} pteron_options;

typedef struct pteron_program pteron_program;
/* Reads and checks a file (.pte); the GPU is opened when a method is loaded, and shared by all programs of the process
 * that ask for the same. `options` may be NULL. */
pteron_status pteron_program_load(const char* path, const pteron_options* options, pteron_program** program,
                                  pteron_error** error);
/* The same from memory, which is copied. */
pteron_status pteron_program_load_bytes(const void* bytes, size_t size, const pteron_options* options,
                                        pteron_program** program, pteron_error** error);
void pteron_program_release(pteron_program* program);

size_t pteron_program_method_count(const pteron_program* program);
/* NULL if there is no such index. */
const char* pteron_program_method_name(const pteron_program* program, size_t index);
/* Whether this library can run a method by itself, as far as the file says: PTERON_UNSUPPORTED names the ops that lie
 * outside of the delegate, or what else needs ExecuTorch. */
pteron_status pteron_program_check(const pteron_program* program, const char* method, pteron_error** error);

/* ---- Methods ---- */

/* A method with its own state (KV caches and the like). */
typedef struct pteron_method pteron_method;
pteron_status pteron_method_load(pteron_program* program, const char* name, pteron_method** method,
                                 pteron_error** error);
void pteron_method_release(pteron_method* method);

size_t pteron_method_input_count(const pteron_method* method);
size_t pteron_method_output_count(const pteron_method* method);
/* Return 0 if there is no such index. */
int32_t pteron_method_input(const pteron_method* method, size_t index, pteron_value* value);
int32_t pteron_method_output(const pteron_method* method, size_t index, pteron_value* value);

/* Runs once. */
pteron_status pteron_method_execute(pteron_method* method, const pteron_tensor* inputs, size_t count,
                                    pteron_error** error);
/* An output of the last run; its data stay valid until the next one. Returns 0 if there is no such index or no run. */
int32_t pteron_method_result(const pteron_method* method, size_t index, pteron_tensor* output);

/* State: as in the file; without what caches know from `position` on; an independent copy. */
pteron_status pteron_method_reset(pteron_method* method, pteron_error** error);
pteron_status pteron_method_rewind(pteron_method* method, uint32_t position, pteron_error** error);
pteron_status pteron_method_clone(pteron_method* method, pteron_method** copy, pteron_error** error);

/* ---- What the library computes, for exporters (since 2) ---- */

enum {
  PTERON_ARGUMENT_NONE = 0,
  PTERON_ARGUMENT_INTEGER = 1,
  PTERON_ARGUMENT_NUMBER = 2,
  PTERON_ARGUMENT_BOOLEAN = 3,
  PTERON_ARGUMENT_TEXT = 4,
  PTERON_ARGUMENT_SYMBOL = 5, /* an integer that is known when the program runs */
  PTERON_ARGUMENT_TENSOR = 6,
  PTERON_ARGUMENT_LIST = 7 /* the next `count` records are its items */
};

typedef struct pteron_argument {
  int32_t kind;
  pteron_dtype dtype;             /* of a tensor */
  int32_t is_constant;            /* a tensor of the file */
  int32_t is_dynamic;             /* a tensor whose shape may differ from call to call */
  uint32_t count;                 /* a tensor's rank, a list's items */
  int64_t shape[PTERON_MAX_RANK]; /* upper bounds if it is dynamic */
  int64_t integer;                /* or 0 and 1 for a boolean */
  double number;
  const char* text;
} pteron_argument;

/* Whether an op would run with such arguments: those of its schema in their order, then its result, a tensor, a symbol
 * or a list of tensors. Needs no GPU; the error says why not. */
pteron_status pteron_check_op(const char* name, const pteron_argument* arguments, size_t count, pteron_error** error);
/* The same for a whole delegate of a file (a VH00 blob). */
pteron_status pteron_check_delegate(const void* blob, size_t size, pteron_error** error);

/* ---- Language models (since 3) ---- */

/* A model that writes texts, or one that turns them into vectors. May be used by several threads at once. */
typedef struct pteron_llm pteron_llm;
/* `tokenizer` and `chat_template` name files; NULL: what the program carries or what lies beside it. */
pteron_status pteron_llm_load(const char* path, const pteron_options* options, const char* tokenizer,
                              const char* chat_template, pteron_llm** llm, pteron_error** error);
void pteron_llm_release(pteron_llm* llm);
uint32_t pteron_llm_vocabulary(const pteron_llm* llm);
uint32_t pteron_llm_context(const pteron_llm* llm);
/* Of the vectors of an encoder; 0 for a model that writes (since 4). */
uint32_t pteron_llm_width(const pteron_llm* llm);

/* These store as much as fits into `capacity` and the size of all of it in `size`, which may be more: call again then.
 * Texts are given and stored without a zero at their end. */
pteron_status pteron_llm_encode(const pteron_llm* llm, const char* text, size_t length, int32_t add_special,
                                uint32_t* tokens, size_t capacity, size_t* size, pteron_error** error);
pteron_status pteron_llm_decode(const pteron_llm* llm, const uint32_t* tokens, size_t count, char* text,
                                size_t capacity, size_t* size, pteron_error** error);
/* The prompt that the chat template makes of a JSON list of {"role": …, "content": …}. */
pteron_status pteron_llm_render(const pteron_llm* llm, const char* messages, char* text, size_t capacity, size_t* size,
                                pteron_error** error);

/* The vector of a text, of length 1: `capacity` must be pteron_llm_width (since 4). */
pteron_status pteron_llm_embed(pteron_llm* llm, const uint32_t* tokens, size_t count, float* vector, size_t capacity,
                               pteron_error** error);

/* A text and the state that the model has from it; for one thread at a time. The llm may be released before it. */
typedef struct pteron_session pteron_session;
pteron_status pteron_session_create(pteron_llm* llm, pteron_session** session, pteron_error** error);
void pteron_session_release(pteron_session* session);

/* Begins an answer; what the prompt has in common with the text before is not read again. `options` is NULL or a JSON
 * object: max_tokens, temperature, top_k, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty, seed,
 * stop (a list of texts), regex, json_schema, logprobs. */
pteron_status pteron_session_start(pteron_session* session, const uint32_t* prompt, size_t count, const char* options,
                                   pteron_error** error);

typedef struct pteron_piece {
  const char* text; /* what has become readable, often nothing; valid until the next call */
  size_t length;
  int32_t has_token;
  uint32_t token;
  float logprob;      /* if asked for */
  int32_t is_last;    /* the answer is done */
  const char* reason; /* then: why it ended, such as "end_token" or "max_tokens" */
} pteron_piece;
/* The next token of the answer. */
pteron_status pteron_session_next(pteron_session* session, pteron_piece* piece, pteron_error** error);
/* What the model expects behind a text: `capacity` must be the vocabulary's size. */
pteron_status pteron_session_logits(pteron_session* session, const uint32_t* tokens, size_t count, float* logits,
                                    size_t capacity, pteron_error** error);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
