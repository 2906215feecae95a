// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/device.h>
#include <pteron/program.h>
#include <pteron/tensor.h>
#include <pteron/version.h>
