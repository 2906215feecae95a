// SPDX-License-Identifier: BSD-3-Clause
// SentencePiece's own file, a protocol-buffer message. The numbers are those of sentencepiece_model.proto.
#include "base/error.h"
#include "llm/tokenizer/protobuf.h"
#include "llm/tokenizer/reader.h"
#include "llm/tokenizer/sentence_piece.h"

namespace pteron::tokenizer {
namespace {

using Field = ProtobufReader::Field;

template <class Use>
Status for_each_field(std::string_view message, Use use) {
  ProtobufReader reader(message);
  while (!reader.done()) {
    TRY(const Field field, reader.next());
    TRY_DO(use(field));
  }
  return {};
}

struct Names {
  std::string bos = "<s>", eos = "</s>", pad = "<pad>";
};

Result<SentencePieceModel::Piece> read_piece(std::string_view message) {
  SentencePieceModel::Piece out;
  TRY_DO(for_each_field(message, [&](const Field& f) -> Status {
    if (f.number == 1) out.text = f.bytes;
    if (f.number == 2) out.score = f.float32();
    if (f.number == 3) {
      if (f.value > 6) return invalid("a token has the unknown type ", f.value);
      out.type = PieceType(f.value);
    }
    return {};
  }));
  return out;
}

Status read_trainer(std::string_view message, SentencePieceModel& out, Names& names) {
  return for_each_field(message, [&](const Field& f) -> Status {
    switch (f.number) {
      case 3:
        if (f.value != 1 && f.value != 2)
          return unsupported("the SentencePiece model is of type ", f.value, "; unigram (1) and BPE (2) are supported");
        out.unigram = f.value == 1;
        break;
      case 24: out.rules.whitespace_as_suffix = f.boolean(); break;
      case 35: out.byte_fallback = f.boolean(); break;
      case 46: names.bos = f.bytes; break;
      case 47: names.eos = f.bytes; break;
      case 48: names.pad = f.bytes; break;
      default: break;
    }
    return {};
  });
}

Status read_rules(std::string_view message, SentencePieceRules& out) {
  return for_each_field(message, [&](const Field& f) -> Status {
    if (f.number == 2) out.charsmap = f.bytes;
    if (f.number == 3) out.add_dummy_prefix = f.boolean();
    if (f.number == 4) out.remove_extra_whitespaces = f.boolean();
    if (f.number == 5) out.escape_whitespaces = f.boolean();
    return {};
  });
}

std::optional<u32> control_piece(const SentencePieceModel& model, std::string_view text) {
  for (u32 id = 0; id < model.pieces.size(); ++id)
    if (model.pieces[id].type == PieceType::control && model.pieces[id].text == text) return id;
  return std::nullopt;
}

}  // namespace

Result<Definition> read_sentence_piece(std::string_view file) {
  SentencePieceModel model{.unigram = true};
  Names names;
  SentencePieceRules back;  // from tokens to text
  const auto use = [&](const Field& f) -> Status {
    if (f.number == 1) {
      TRY(auto piece, read_piece(f.bytes));
      model.pieces.push_back(std::move(piece));
    }
    if (f.number == 2) return read_trainer(f.bytes, model, names);
    if (f.number == 3) return read_rules(f.bytes, model.rules);
    if (f.number == 5) return read_rules(f.bytes, back);
    return {};
  };
  TRY_DO(for_each_field(file, use));
  if (!back.charsmap.empty()) return unsupported("a SentencePiece model that denormalizes text is not supported");
  if (model.pieces.empty()) return invalid("the SentencePiece model has no tokens");
  model.roles = {control_piece(model, names.bos), control_piece(model, names.eos), control_piece(model, names.pad)};
  return define(model);
}

}  // namespace pteron::tokenizer
