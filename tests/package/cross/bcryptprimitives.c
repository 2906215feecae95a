/* SPDX-License-Identifier: BSD-3-Clause
 * The one function of this library of Windows that wgpu-native calls, for versions of Wine that lack it. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void* buffer, ULONG size); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size) { return SystemFunction036(buffer, (ULONG)size); }
