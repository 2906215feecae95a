# SPDX-License-Identifier: BSD-3-Clause
"""What an entry of the zoo is, and how models of `transformers` become one."""
import dataclasses
import inspect
from collections.abc import Callable

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    kind: str  # text, vision, sound, recurrent
    build: Callable[[], tuple[nn.Module, tuple]]  # a module and its inputs
    #: By input: {axis: (lowest, highest)}, with a name behind if it agrees with others; the program with dynamic sizes exists if there is one.
    dynamic: tuple[dict, ...] | None = None
    weights: str = "random"
    half: bool = False  # a program in half precision, too
    text: str = ""  # what it is made from; when that changes, it is exported again


class Taking(nn.Module):
    """Takes inputs by position, gives tensors alone."""

    def __init__(self, inner: nn.Module, names: tuple[str, ...], pick: str | tuple[str, ...]) -> None:
        super().__init__()
        self.inner, self.names = inner, names
        self.pick = (pick,) if isinstance(pick, str) else pick

    def forward(self, *inputs):
        out = self.inner(**dict(zip(self.names, inputs)), return_dict=True)
        return tuple(out[name] for name in self.pick)


def traced(module: nn.Module, inputs: tuple) -> nn.Module:
    """For modules that keep sizes in tensors: traced with real ones, these become numbers."""
    with torch.no_grad():
        return make_fx(module)(*inputs)


def tokens(length: int = 12, batch: int = 1, vocabulary: int = 99) -> torch.Tensor:
    return torch.randint(3, vocabulary, (batch, length), generator=torch.Generator().manual_seed(length))


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def spread(module: nn.Module) -> nn.Module:
    """Random weights that let no layer hide: fresh ones are so small that attention is nearly even, or ones and zeros."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, value in [*module.named_parameters(), *module.named_buffers()]:
            if not value.is_floating_point() or value.numel() < 2:
                continue
            if value.dim() > 1 and name.endswith("weight"):
                wanted = 0.7 if "embed" in name else (value.numel() / value.shape[0]) ** -0.5
                value.mul_(wanted / max(value.std().item(), 1e-6))
            elif name.endswith("running_var"):
                value.copy_(0.5 + torch.rand(value.shape, generator=generator))
            elif value.dim() == 1 and name.endswith(("weight", "bias", "running_mean")):
                value.add_((torch.rand(value.shape, generator=generator) - 0.5) / 3)
    return module


def hugging(name: str, kind: str, cls: str, config: str, inputs: Callable[[], tuple], names=("input_ids",), pick="last_hidden_state",
            dynamic=None, half=False, **settings) -> Model:  # fmt: skip
    def build():
        import transformers

        torch.manual_seed(0)
        made = getattr(transformers, cls)(getattr(transformers, config)(**settings)).eval()
        return Taking(spread(made), names, pick).eval(), inputs()

    text = repr((cls, config, names, pick, settings)) + inspect.getsource(inputs)
    return Model(name, kind, build, dynamic, half=half, text=text)
