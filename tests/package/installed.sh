#!/usr/bin/env bash
# Installs a package on a machine that has nothing but what that kind of package asks for, uses it and removes it again.
# usage: installed.sh tarball|deb|wheel FILE      as root, on a minimal Debian; installs a software GPU with apt
#   tarball   libc and a Vulkan driver
#   deb       apt, which brings the rest
#   wheel     python3-venv; numpy comes with pip
set -euo pipefail
kind=$1 file=$(realpath "$2")
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../data" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "installed.sh: $*" >&2; exit 1; }
apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > "$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; exit 1; }; }
no_compiler() { for tool in cc gcc g++ cmake; do ! command -v "$tool" > /dev/null || fail "$tool is there, so this shows nothing"; done; }

# says PATTERN COMMAND…: whether it succeeds and prints that
says() { "${@:2}" > "$work/said"; cat "$work/said"; grep -q "$1" "$work/said" || fail "'${*:2}' does not say '$1'"; }

# uses COMMAND: the command names itself, finds the software GPU, describes a program and runs one
uses() {
  local model=$data/ops/add/itself
  says '^pteron [0-9.]*$' "$@" --version
  "$@" devices
  says 'aten.add.Tensor' "$@" info "$model/model.pte"
  head -c 60 "$model/data.bin" > "$work/x.bin"
  # A .npy file by hand: there is no numpy.
  { printf '\x93NUMPY\x01\x00\x76\x00'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }"; cat "$work/x.bin"; } > "$work/x.npy"
  says 'float32 \[3, 5\]' "$@" run "$model/model.pte" --input "$work/x.npy" --output "$work/out"
  cmp <(tail -c 60 "$work/out/output_0.npy") <(tail -c 60 "$model/data.bin") || fail "the answer is wrong"
  ! "$@" run "$data/package/split.pte" --input "$work/x.npy" 2> "$work/refused" || fail "ops outside of the delegate were taken"
  grep -qF 'pteron[executorch]' "$work/refused" || fail "the sentence about ops outside of the delegate is $(cat "$work/refused")"
}

no_compiler
apt-get update -qq > /dev/null
case $kind in
  tarball)
    apt_install libvulkan1 mesa-vulkan-drivers xz-utils
    mkdir "$work/anywhere"
    tar -xf "$file" -C "$work/anywhere"
    uses "$work"/anywhere/*/bin/pteron
    ;;
  deb)
    # The driver is only recommended, so it is asked for here.
    apt_install "$file" mesa-vulkan-drivers
    uses pteron
    dpkg --verify pteron
    dpkg -L pteron > "$work/files"
    dpkg --purge pteron > /dev/null
    while read -r path; do
      case $path in */pteron*) [ ! -e "$path" ] || fail "$path is left" ;; esac
    done < "$work/files"
    hash -r
    ! command -v pteron > /dev/null || fail "the command is left"
    ;;
  wheel)
    apt_install libvulkan1 mesa-vulkan-drivers python3-venv
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q --disable-pip-version-check "$file"
    uses "$work/venv/bin/pteron"
    others=$("$work/venv/bin/pip" list --format=freeze --disable-pip-version-check | sed 's/[= ].*//' | grep -vxE 'pip|setuptools|numpy|pteron' || true)
    [ -z "$others" ] || fail "the wheel brought $others"
    "$work/venv/bin/python" - "$data" <<'PY'
import sys
import numpy as np
import pteron
add = pteron.load(f"{sys.argv[1]}/ops/add/itself/model.pte")
assert (add(np.ones((3, 5), np.float32))[0] == 2).all()
try:
    pteron.load(f"{sys.argv[1]}/package/split.pte").method()
except pteron.Error as error:
    assert error.kind == "unsupported" and "pip install 'pteron[executorch]'" in str(error), error
else:
    raise AssertionError("a program with ops outside of the delegate was taken")
PY
    "$work/venv/bin/pip" uninstall -q -y pteron
    [ -z "$(find "$work/venv" -path '*pteron*')" ] || fail "something is left: $(find "$work/venv" -path '*pteron*')"
    ;;
  *) fail "'$kind' is none of tarball, deb, wheel" ;;
esac
no_compiler
echo "installed.sh: the $kind installs, runs and goes away"
