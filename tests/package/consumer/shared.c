/* SPDX-License-Identifier: BSD-3-Clause */
#include <pteron/c.h>

#include <stdio.h>

int main(void) { return puts(pteron_version()) < 0; }
