# SPDX-License-Identifier: BSD-3-Clause
"""Language models: decoders, encoders, both, and state spaces."""
from zoo.model import hugging, tokens

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 100,
         "max_position_embeddings": 64}  # fmt: skip
GROUPED = SMALL | {"num_key_value_heads": 2, "pad_token_id": 0}
LENGTH = ({1: (2, 32)},)
OLD = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 100}


def decoder(name: str, family: str, dynamic=LENGTH, half=False, suffix="ForCausalLM", config=None, **settings):
    return hugging(name, "text", family + suffix, config or family + "Config", lambda: (tokens(),), pick="logits", dynamic=dynamic,
                   half=half, **{"use_cache": False} | settings)  # fmt: skip


def encoder(name: str, family: str, dynamic=LENGTH, half=False, **settings):
    return hugging(name, "text", family + "Model", family + "Config", lambda: (tokens(),), dynamic=dynamic, half=half, **settings)


def masked(name: str, family: str, **settings):
    """A batch of two sentences of which one is shorter."""

    def inputs():
        ids = tokens(10, batch=2)
        mask = ids.new_ones(ids.shape)
        mask[1, 7:] = 0
        return ids, mask

    return hugging(name, "text", family + "Model", family + "Config", inputs, names=("input_ids", "attention_mask"), **settings)


def translator(name: str, family: str, suffix="ForConditionalGeneration", **settings):
    return hugging(name, "text", family + suffix, family + "Config", lambda: (tokens(9), tokens(6)),
                   names=("input_ids", "decoder_input_ids"), pick="logits", **{"use_cache": False} | settings)  # fmt: skip


BART = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "vocab_size": 100, "max_position_embeddings": 64}  # fmt: skip

MODELS = [
    decoder("gpt2", "GPT2", suffix="LMHeadModel", half=True, **OLD),
    decoder("gpt-neo", "GPTNeo", hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]],
            window_size=4, vocab_size=100, max_position_embeddings=64, intermediate_size=48),
    decoder("gpt-neox", "GPTNeoX", **SMALL),
    decoder("gpt-j", "GPTJ", rotary_dim=4, **OLD),
    decoder("opt", "OPT", ffn_dim=48, word_embed_proj_dim=32, **{k: v for k, v in SMALL.items() if k != "intermediate_size"}),
    decoder("bloom", "Bloom", hidden_size=32, n_layer=2, n_head=4, vocab_size=100),
    decoder("falcon", "Falcon", **SMALL),
    decoder("llama", "Llama", half=True, **GROUPED),
    decoder("mistral", "Mistral", sliding_window=6, **GROUPED),
    decoder("mixtral", "Mixtral", num_local_experts=4, experts_implementation="batched_mm", **GROUPED),
    decoder("qwen2", "Qwen2", **GROUPED),
    decoder("qwen3", "Qwen3", head_dim=8, **GROUPED),
    decoder("gemma", "Gemma", head_dim=8, **GROUPED),
    decoder("gemma2", "Gemma2", head_dim=8, sliding_window=6, **GROUPED),
    decoder("gemma3", "Gemma3", config="Gemma3TextConfig", head_dim=8, sliding_window=6, **GROUPED),
    decoder("phi", "Phi", **GROUPED),
    decoder("phi3", "Phi3", **GROUPED | {"eos_token_id": 1, "bos_token_id": 2}),
    decoder("stablelm", "StableLm", **GROUPED),
    decoder("starcoder2", "Starcoder2", **GROUPED),
    decoder("olmo2", "Olmo2", **GROUPED),
    decoder("smollm3", "SmolLM3", **GROUPED),
    decoder("granite", "Granite", **GROUPED),
    decoder("cohere", "Cohere", **GROUPED),
    decoder("mamba", "Mamba", dynamic=None, hidden_size=32, num_hidden_layers=2, state_size=4, vocab_size=100),
    encoder("bert", "Bert", half=True, **SMALL),
    masked("bert-masked", "Bert", **SMALL),
    encoder("distilbert", "DistilBert", dim=32, n_layers=2, n_heads=4, hidden_dim=48, vocab_size=100, max_position_embeddings=64),
    encoder("roberta", "Roberta", **SMALL),
    encoder("electra", "Electra", embedding_size=16, **SMALL),
    encoder("albert", "Albert", embedding_size=16, **SMALL),
    encoder("mpnet", "MPNet", **SMALL),
    encoder("modernbert", "ModernBert", pad_token_id=0, local_attention=8, **SMALL),
    masked("deberta-v2", "DebertaV2", relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], **SMALL),
    translator("t5", "T5", d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=100, decoder_start_token_id=0),
    translator("bart", "Bart", **BART),
    translator("marian", "Marian", suffix="MTModel", decoder_start_token_id=0, pad_token_id=0, **BART),
]
