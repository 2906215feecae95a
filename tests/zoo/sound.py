# SPDX-License-Identifier: BSD-3-Clause
"""Speech and sound: recognisers, encoders of waves, vocoders, codecs."""
import inspect

import torch
from zoo.model import Model, hugging, noise, spread, tokens, traced

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
WAVES = SMALL | {"conv_dim": (16, 16, 16), "conv_stride": (5, 4, 2), "conv_kernel": (10, 8, 4), "num_conv_pos_embeddings": 16,
                 "num_conv_pos_embedding_groups": 4, "vocab_size": 32}  # fmt: skip
WHISPER = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
           "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_mel_bins": 16, "max_source_positions": 30, "max_target_positions": 16,
           "vocab_size": 100, "decoder_start_token_id": 1, "pad_token_id": 0, "eos_token_id": 2, "bos_token_id": 1,
           "use_cache": False}  # fmt: skip


def wave(name: str, family: str, suffix="Model", pick="last_hidden_state", **settings):
    return hugging(name, "sound", family + suffix, family + "Config", lambda: (noise(1, 800),), names=("input_values",), pick=pick,
                   **WAVES | settings)  # fmt: skip


class Codec(torch.nn.Module):
    """From samples to samples, without the choice of codes, which sorts."""

    def __init__(self, inner):
        super().__init__()
        self.encoder, self.decoder = inner.encoder, inner.decoder
        for part in self.modules():
            if isinstance(getattr(part, "padding_total", None), torch.Tensor):  # sizes in buffers, which no export can follow
                for name in ("stride", "kernel_size", "padding_total"):
                    number = int(getattr(part, name))
                    delattr(part, name)
                    setattr(part, name, number)
                part._get_extra_padding_for_conv1d = lambda x, part=part: (part.kernel_size - part.padding_total - x.shape[-1]) % part.stride

    def forward(self, x):
        return self.decoder(self.encoder(x))


def codec(name: str, family: str, **settings):
    def build():
        import transformers

        torch.manual_seed(0)
        made = getattr(transformers, family + "Model")(getattr(transformers, family + "Config")(**settings)).eval()
        return Codec(spread(made)).eval(), (noise(1, 1, 320),)

    return Model(name, "sound", build, text=family + repr(settings) + inspect.getsource(Codec))


class Speaking(torch.nn.Module):
    """VITS from the moment on at which the length is known: it follows from what the first half says."""

    def __init__(self, inner):
        super().__init__()
        self.flow, self.decoder = inner.flow, inner.decoder

    def forward(self, latents, mask):
        return self.decoder(self.flow(latents, mask, reverse=True) * mask)


def vits():
    import transformers

    torch.manual_seed(0)
    config = transformers.VitsConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, ffn_dim=24, flow_size=16,
                                     spectrogram_bins=17, prior_encoder_num_flows=2, prior_encoder_num_wavenet_layers=2,
                                     upsample_initial_channel=16, upsample_rates=[4, 2], upsample_kernel_sizes=[8, 4],
                                     resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]])  # fmt: skip
    inputs = (noise(1, 16, 20), torch.ones(1, 1, 20))
    return traced(Speaking(spread(transformers.VitsModel(config).eval())).eval(), inputs), inputs


class Vocoder(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, spectrogram):
        return self.inner(spectrogram)


def hifigan():
    import transformers

    torch.manual_seed(0)
    config = transformers.SpeechT5HifiGanConfig(model_in_dim=16, upsample_initial_channel=16, upsample_rates=[4, 2],
                                                upsample_kernel_sizes=[8, 4], resblock_kernel_sizes=[3, 5],
                                                resblock_dilation_sizes=[[1, 3], [1, 3]])  # fmt: skip
    return Vocoder(spread(transformers.SpeechT5HifiGan(config))).eval(), (noise(2, 12, 16),)


MODELS = [
    hugging("whisper", "sound", "WhisperForConditionalGeneration", "WhisperConfig", lambda: (noise(1, 16, 60), tokens(5)),
            names=("input_features", "decoder_input_ids"), pick="logits", **WHISPER),
    wave("wav2vec2", "Wav2Vec2", suffix="ForCTC", pick="logits"),
    wave("hubert", "Hubert"),
    wave("wavlm", "WavLM"),
    wave("data2vec-audio", "Data2VecAudio", conv_pos_kernel_size=5, num_conv_pos_embeddings=2),
    wave("sew", "SEW", squeeze_factor=2),
    hugging("ast", "sound", "ASTForAudioClassification", "ASTConfig", lambda: (noise(2, 32, 16),), names=("input_values",), pick="logits",
            max_length=32, num_mel_bins=16, patch_size=8, frequency_stride=8, time_stride=8, **SMALL),
    hugging("moonshine", "sound", "MoonshineForConditionalGeneration", "MoonshineConfig", lambda: (noise(1, 2000), tokens(5)),
            names=("input_values", "decoder_input_ids"), pick="logits", vocab_size=100, hidden_size=32, intermediate_size=48,
            encoder_num_hidden_layers=2, decoder_num_hidden_layers=2, encoder_num_attention_heads=4, decoder_num_attention_heads=4,
            use_cache=False),
    Model("hifigan", "sound", hifigan, dynamic=({1: (4, 24)},), text=inspect.getsource(hifigan)),
    Model("vits", "sound", vits, text=inspect.getsource(vits) + inspect.getsource(Speaking)),
    codec("encodec", "Encodec", num_filters=4, hidden_size=16, codebook_dim=16, codebook_size=16, num_lstm_layers=1, upsampling_ratios=[4, 2]),
    codec("dac", "Dac", encoder_hidden_size=4, decoder_hidden_size=32, downsampling_ratios=[2, 4], upsampling_ratios=[4, 2], hidden_size=16,
          codebook_size=16, codebook_dim=4, n_codebooks=2),
]  # fmt: skip
