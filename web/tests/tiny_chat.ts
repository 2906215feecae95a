// SPDX-License-Identifier: BSD-3-Clause
// A tokenizer and a template for the tiny Llama of the test data (512 tokens), which has none: bytes, then pairs of letters.

/** The characters that byte-level tokenizers write for bytes. */
function byteCharacters(): string[] {
  const plain = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(plain(byte) ? byte : next++));
}

export function tinyTokenizer(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const pairs = [...letters].flatMap((a) => [...letters].map((b) => `${a}${b}`)).slice(0, 255);
  const vocab = Object.fromEntries([...byteCharacters(), ...pairs].map((token, id) => [token, id]));
  return JSON.stringify({
    version: '1.0',
    added_tokens: [{ id: 511, content: '<|end|>', single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', dropout: null, unk_token: null, vocab, merges: pairs.map((pair) => `${pair[0]} ${pair[1]}`) },
  });
}

export const tinyTemplate = '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}';
