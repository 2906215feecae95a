// SPDX-License-Identifier: BSD-3-Clause
// A tokenizer as data: what its file says, before tables are built from it. Every reader makes one of these.
#pragma once

#include "llm/text/unicode.h"
#include "llm/tokenizer/vocabulary.h"

#include <variant>

namespace pteron::tokenizer {

// For std::visit: one function per alternative.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// A token that is looked for in the text before anything else happens to it.
struct AddedToken {
  u32 id = 0;
  std::string text;
  bool special = false;                 // has a meaning for the model; not shown
  bool normalized = false;              // looked for behind the normalizer, not before
  bool single_word = false;             // not inside of a word
  bool lstrip = false, rstrip = false;  // takes the white space around it
};

// What to look for: a text, or a regular expression.
struct Wanted {
  std::string text;
  bool regex = false;
};

// How the text changes first.
struct NormalForm {
  unicode::Form form;
};
struct Lowercase {};
struct Strip {
  bool left = true, right = true;
};
struct Prepend {
  std::string text;
};
struct Replace {
  Wanted what;
  std::string with;
};
// What BERT does to text, as one step.
struct BertText {
  bool clean = true;              // control characters go, white space becomes spaces
  bool spread_ideographs = true;  // spaces around each
  bool strip_accents = true, lowercase = true;
};
// What SentencePiece does to text, as one step, because user-defined pieces are spared from it.
struct SentencePieceRules {
  std::string charsmap;  // its precompiled replacements
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool whitespace_as_suffix = false;
};
using NormalizerStep = std::variant<NormalForm, Lowercase, Strip, Prepend, Replace, BertText, SentencePieceRules>;

// How it is cut into pieces, each of which the model encodes on its own.
enum class Joining : u8 { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct Split {
  Wanted at;
  Joining matches = Joining::isolated;  // what becomes of them
  bool invert = false;                  // look for what lies between matches instead
};
struct ByteLevel {
  bool add_prefix_space = false;
  bool use_regex = true;  // cut as GPT-2 does
};
struct Metaspace {
  enum Prefix : u8 { never, first, always };
  std::string replacement;
  Prefix prefix = always;
  bool split = true;
};
using PreTokenizerStep = std::variant<Split, ByteLevel, Metaspace>;

extern const std::string_view gpt2_pattern;

// SentencePiece's kinds of pieces, by its numbers.
enum class PieceType : u8 { normal = 1, unknown, control, user_defined, unused, byte };

// Two neighbours become one token; the lowest rank first, of equal ones the leftmost. A number behind the vocabulary's
// stands for one of the loose characters.
struct Merge {
  u32 left, right, result, rank;
};

struct ModelData {
  enum Kind : u8 { bpe, unigram, word_piece };
  Kind kind = bpe;
  std::vector<Merge> merges;       // bpe: by rank
  std::vector<std::string> loose;  // bpe: characters that are only parts of tokens
  std::vector<f64> scores;         // unigram: by token
  std::vector<PieceType> types;    // by token, if SentencePiece's rules apply
  std::optional<u32> unknown;      // token for what has none
  bool byte_fallback = false;      // unless it can be spelled in bytes
  bool fuse_unknown = false;       // one token for several in a row
  bool ignore_merges = false;      // a piece that is a token is that token
  std::string continuing_prefix;   // word_piece: of tokens inside of a word
  u32 longest_word = 100;          // word_piece: in characters; longer ones are unknown
};

// Tokens around an encoded text.
struct Template {
  std::vector<u32> before, after;
};

// How tokens become text again.
struct DecodeReplace {
  std::string from, to;
};
struct DecodeBytes {};  // of tokens such as <0x0A>
struct DecodeFuse {};   // what follows sees one text instead of tokens
struct DecodeStrip {
  std::string character;
  u32 start = 0, stop = 0;
};
struct DecodeByteLevel {};
struct DecodeMetaspace {
  std::string replacement;
  bool strip_first = true;
};
struct DecodeWordPiece {
  std::string prefix;   // of tokens inside of a word
  bool cleanup = true;  // no spaces in front of punctuation
};
struct DecodeJoin {};  // with spaces
using DecoderStep = std::variant<DecodeReplace, DecodeBytes, DecodeFuse, DecodeStrip, DecodeByteLevel, DecodeMetaspace,
                                 DecodeWordPiece, DecodeJoin>;

struct Roles {
  std::optional<u32> bos, eos, pad;
};

struct Definition {
  Vocabulary vocabulary;  // the model's; added tokens may be part of it or stand beside it
  ModelData model;
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  Template surroundings;
  std::vector<DecoderStep> decoder;
  Roles roles;
};

}  // namespace pteron::tokenizer
