#!/usr/bin/env bash
# Installs the build into a scratch folder, builds a project against it with find_package, runs it and the command.
# usage: check.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
prefix=$build/install-check/prefix
rm -rf "$build/install-check"
cmake --install "$build" --prefix "$prefix" > /dev/null
cmake -G Ninja -S "$source/examples/cpp" -B "$build/install-check/consumer" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build "$build/install-check/consumer" > /dev/null
"$build/install-check/consumer/zeros" "$source/tests/data/llama_tiny/rope_llama/model.pte" | tee /dev/stderr | grep -q '\[1, 512\]'
"$prefix/bin/pteron" --version
"$prefix/bin/pteron" devices > /dev/null
test -f "$prefix"/share/doc/pteron/LICENSE
