# SPDX-License-Identifier: BSD-3-Clause
"""The same model with fewer or more layers, by leaving some out or repeating them: for measuring how costs grow. A layer
that is repeated gets another weight here and there, so that it is not found to be the same.

usage: stack_layers.py MODEL.gguf OUTPUT.gguf LAYERS
"""
import sys

import gguf
import numpy as np


def copy_fields(reader, writer, arch, layers):
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        kind = field.types[0]
        element = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        value = layers if key == f"{arch}.block_count" else field.contents()
        writer.add_key_value(key, value, kind, element)


def repeated(data, times):
    if times == 0 or data.dtype != np.uint8:
        return data
    data = data.copy()
    data.flat[-1] ^= times  # the last weights of the last block
    return data


def main():
    reader, layers = gguf.GGUFReader(sys.argv[1]), int(sys.argv[3])
    arch = reader.fields["general.architecture"].contents()
    had = reader.fields[f"{arch}.block_count"].contents()
    writer = gguf.GGUFWriter(sys.argv[2], arch)
    copy_fields(reader, writer, arch, layers)
    tensors = {t.name: t for t in reader.tensors}
    for name, t in tensors.items():
        if not name.startswith("blk."):
            writer.add_tensor(name, t.data, raw_dtype=t.tensor_type)
    parts = [name.removeprefix("blk.0.") for name in tensors if name.startswith("blk.0.")]
    for layer in range(layers):
        for part in parts:
            t = tensors[f"blk.{layer % had}.{part}"]
            writer.add_tensor(f"blk.{layer}.{part}", repeated(t.data, layer // had), raw_dtype=t.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
