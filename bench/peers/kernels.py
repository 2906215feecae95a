# SPDX-License-Identifier: BSD-3-Clause
"""Single ops that every runtime is measured with: name → (what it is, kind, sizes, runs in a turn)."""

KERNELS = {
    "gemv-up": ("4-bit linear 1 × 576 × 1536", "linear_q4", (1, 576, 1536), 20),
    "gemv-down": ("4-bit linear 1 × 1536 × 576", "linear_q4", (1, 1536, 576), 20),
    "gemv-head": ("4-bit linear 1 × 576 × 49152", "linear_q4", (1, 576, 49152), 5),
    "gemm64-up": ("4-bit linear 64 × 576 × 1536", "linear_q4", (64, 576, 1536), 5),
    "gemm64-down": ("4-bit linear 64 × 1536 × 576", "linear_q4", (64, 1536, 576), 5),
    "matmul-1024": ("matmul 1024³, float32", "matmul", (1024,), 3),
    "conv-56": ("conv 3×3, 32→64 channels at 56²", "conv", (32, 64, 56), 5),
}
