#!/usr/bin/env bash
# The npm package is the same twice and names no path of this machine; web-package looks into it.
# usage: npm.sh SOURCE WORK_FOLDER
set -euo pipefail
rm -rf "$2"
for folder in one two; do "$1/tools/package" npm -o "$2/$folder" > /dev/null; done
cmp "$2"/one/pteron-*.tgz "$2"/two/pteron-*.tgz
cmp "$2"/one/SHA256SUMS "$2"/two/SHA256SUMS
(cd "$2/one" && sha256sum --quiet --check SHA256SUMS && tar -xzf pteron-*.tgz)
! grep -rFl "$(cd "$1" && pwd)" "$2/one/package"
