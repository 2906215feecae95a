# SPDX-License-Identifier: BSD-3-Clause
"""How often the loops of our kernels run. A kernel's machine code has loops in some nesting ("1 2 1": depths in order); for
each, the table gives trip counts as formulas over the dispatch's parameters (the fields of the kernel's struct Params; word[i]
where structs are nested), the constants of its specialisation, and up(a, b) = ⌈a / b⌉. A nesting that is not in the table is
an error: the kernel or the compiler has changed, and the formulas must be looked at again.

`weights`: the byte address, relative to a line, that a thread's first load of 4-bit weights starts at, and the bytes that it
reads; `lanes` is a thread's number. From that follows how much of the lines that a wave touches it uses."""

Q4_ROWS = ["up(words, SIZE // LANES)"]
PUT = ["4"]

TRIPS = {
    "embedding_q4": {"": []},
    "rotary_cache": {"": []},
    "move": {"1": ["word[0] and AXIS_VECTORS - 1"]},
    "rms_norm": {"": []},
    "norm": {"1 2 3 1 1": ["1", "1", "up(word[1], 4 * LANES)", "6", "up(word[1], LANES)"]},
    # Loops that wgpu-native bounds: the last ones write results one by one.
    "linear_q4_subgroups": {
        "1 1": Q4_ROWS + PUT,
        "1 1 1": Q4_ROWS + PUT + PUT,
        "1 1 1 1": Q4_ROWS + ["SIZE"] + PUT + PUT,
    },
    "linear_q4_lines": {"": [], "1": ["ROUNDS"]},
    "linear_q4_int8": {"": [], "1": ["up(up(WORDS, 4), SIZE // 8)"]},
    "quantize_activations": {"": []},
    "linear_q4_row": {"": [], "1": ["ROUNDS - 1"]},
    "linear_q4_shared": {
        "1 2 2 1 2": ["up(words, 4)", "4", "8", "4", "4"],
        "1 2 2 1 2 2": ["up(words, 4)", "4", "8", "4", "4", "4"],
    },
    "attention_group": {
        "1 2 1 2 2 2 1": ["1", "4", "up(split_keys, 64)", "6", "6", "min(64, split_keys)", "1"],
        "1 2 1 2 2 2 1 1": ["1", "4", "up(split_keys, 64)", "6", "6", "min(64, split_keys)", "1", "1"],
        "1": ["tiles"],
    },
    "attention_merge": {"1 1": ["splits", "splits"], "1": ["rounds"]},
    "attention_tiled": {
        "1 1 2 2 2 3 3 1": ["D", "up(split_keys, TILE)", "up(TILE * 16, 64)", "up(TILE * 16, 64)", "TILE // 4", "16",
                            "16", "VALUE_D"],
    },
    "arg_max_parts": {"1": ["8"]},
    "arg_max_join": {"1 1": ["rounds", "8"]},
    "last_arg_max": {"1 1": ["up(width, 256)", "8"]},
}

WEIGHTS = {
    "linear_q4_lines": ("lane // 8 * 256 + lane % 8 * 16", "16"),
    "linear_q4_row": ("lane // PLACES * 256 + lane % PLACES * 16", "16"),
    "linear_q4_subgroups": ("lane * 256", "16 if PAIRED else 32"),
}
