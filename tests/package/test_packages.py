# SPDX-License-Identifier: BSD-3-Clause
"""The packages of tools/package. usage: test_packages.py SOURCE WORK_FOLDER"""
import filecmp
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
import zipfile
from pathlib import Path

SOURCE, WORK = (Path(sys.argv.pop(1)).resolve() for _ in range(2))
VERSION = re.search(r"^project\(pteron VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]
TREE = f"pteron-{VERSION}-linux-x86_64"


def run(*command, **rest):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **rest)
    if done.returncode:
        raise AssertionError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def glibc_floor(path):
    """By the symbols that a file takes from glibc."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", path))
    return max((int(major), int(minor)) for major, minor in versions)


def elf_files(folder):
    return [path for path in sorted(folder.rglob("*")) if not path.is_symlink() and path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        for folder in ("packages", "again"):
            run(SOURCE / "tools" / "package", "tarball", "deb", "wheel", "-o", WORK / folder)
        cls.tarball = WORK / "packages" / f"{TREE}.tar.xz"
        cls.deb = WORK / "packages" / f"pteron_{VERSION}_amd64.deb"
        (cls.wheel,) = (WORK / "packages").glob("*.whl")
        # Anywhere, also where a name has a space.
        shutil.unpack_archive(cls.tarball, WORK / "some where")
        shutil.unpack_archive(cls.wheel, WORK / "wheel", "zip")
        run("dpkg-deb", "-R", cls.deb, WORK / "deb")
        cls.tree = WORK / "some where" / TREE

    def test_the_same_build_gives_the_same_bytes(self):
        names = sorted(os.listdir(WORK / "packages"))
        self.assertEqual(len(names), 4)
        self.assertEqual(filecmp.cmpfiles(WORK / "packages", WORK / "again", names, shallow=False), (names, [], []))

    def test_checksums(self):
        lines = (WORK / "packages" / "SHA256SUMS").read_text().splitlines()
        self.assertEqual(len(lines), 3)
        for digest, name in map(str.split, lines):
            self.assertEqual(hashlib.sha256((WORK / "packages" / name).read_bytes()).hexdigest(), digest)

    def test_nothing_in_them_names_this_machine(self):
        for path in WORK.rglob("*"):
            if path.is_file() and "again" not in path.parts and "consumer" not in path.parts:
                self.assertNotIn(str(SOURCE).encode(), path.read_bytes(), path)

    def test_owners_times_and_order_are_fixed(self):
        with tarfile.open(self.tarball) as tar:
            entries = tar.getmembers()
        self.assertEqual({(e.uid, e.gid, e.uname, e.gname) for e in entries}, {(0, 0, "root", "root")})
        self.assertEqual({e.mode for e in entries if not e.issym()}, {0o755, 0o644})
        self.assertEqual(len({e.mtime for e in entries}), 1)
        self.assertEqual([Path(e.name) for e in entries], sorted(Path(e.name) for e in entries))
        self.assertEqual(len({entry.date_time for entry in zipfile.ZipFile(self.wheel).infolist()}), 1)

    def test_tarball_holds_what_it_should(self):
        names = {str(path.relative_to(self.tree)) for path in self.tree.rglob("*") if not path.is_dir()}
        headers = {f"include/pteron/{path.name}" for path in (SOURCE / "include" / "pteron").iterdir()}
        docs = {"LICENSE", "THIRD_PARTY.md", "REQUIREMENTS.txt"}
        docs |= {f"licenses/{name}.txt" for name in ("wgpu-native", "unicode", "flatbuffers", "nlohmann-json", "cli11", "libstdc++")}
        cmake = {f"lib/cmake/pteron/pteron-{name}.cmake" for name in ("config", "config-version", "targets", "targets-release")}
        files = {"bin/pteron", "lib/libpteron.a", "lib/libpteron.so", "lib/libpteron.so.1", "lib/pteron/libwgpu_native.so"}
        self.assertEqual(names, files | headers | cmake | {f"share/doc/pteron/{name}" for name in docs})

    def test_the_stated_glibc_is_the_one_needed(self):
        floor = max(map(glibc_floor, elf_files(self.tree)))
        said = (self.tree / "share/doc/pteron/REQUIREMENTS.txt").read_text()
        self.assertIn("Needs glibc {}.{} or newer".format(*floor), said)
        self.assertIn("libc6 (>= {}.{})".format(*floor), (WORK / "deb/DEBIAN/control").read_text())
        self.assertIn("need glibc {}.{} or newer".format(*floor), (SOURCE / "docs" / "packages.md").read_text())
        floor = max(map(glibc_floor, elf_files(WORK / "wheel")))
        self.assertTrue(self.wheel.name.endswith("py3-none-manylinux_{}_{}_x86_64.whl".format(*floor)))
        self.assertIn("Tag: py3-none-manylinux_{}_{}_x86_64".format(*floor), next((WORK / "wheel").glob("*.dist-info/WHEEL")).read_text())

    def test_files_need_nothing_but_the_c_library_and_each_other(self):
        allowed = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "libgcc_s.so.1", "libwgpu_native.so"}
        for path in [*elf_files(self.tree), *elf_files(WORK / "wheel")]:
            others = {"libexecutorch.so"} if path.name == "libpteron_executorch.so" else set()
            self.assertLessEqual(set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", path))), allowed | others, path)

    def test_libpteron_shows_the_c_functions_only(self):
        lines = run("nm", "-D", "--defined-only", self.tree / "lib/libpteron.so").splitlines()
        declared = re.findall(r"\b(pteron_\w+)\(", (SOURCE / "include/pteron/c.h").read_text())
        self.assertEqual({line.split()[-1] for line in lines}, set(declared))

    def test_the_unpacked_command_and_library_work(self):
        about = run(self.tree / "bin" / "pteron", "--version")
        commit = run("git", "-C", SOURCE, "rev-parse", "--short=12", "HEAD").strip()
        self.assertIn(f"pteron {VERSION}\ncommit {commit}\nwgpu-native", about)
        build = WORK / "consumer"
        run("cmake", "-G", "Ninja", "-S", SOURCE / "tests/package/consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={self.tree}")
        run("cmake", "--build", build)
        for program in ("shared", "static"):
            self.assertIn(VERSION, run(build / program))

    def test_sources_outside_of_git_say_so(self):
        def commit_of(folder):
            header = WORK / "commit.h"
            run("cmake", "-DGIT=git", f"-DSOURCE={folder}", f"-DOUTPUT={header}", "-P", SOURCE / "cmake" / "commit.cmake")
            return re.search('"(.*)"', header.read_text())[1]

        self.assertRegex(commit_of(SOURCE), "^[0-9a-f]{12}$")
        self.assertEqual(commit_of(SOURCE / "src"), "")  # a folder in somebody's clone
        self.assertEqual(commit_of("/"), "")

    def test_deb_describes_itself(self):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", (WORK / "deb/DEBIAN/control").read_text(), re.M))
        self.assertEqual((fields["Package"], fields["Version"], fields["Architecture"]), ("pteron", VERSION, "amd64"))
        self.assertEqual(re.sub(r" \(.*?\)", "", fields["Depends"]), "libc6, libgcc-s1, libvulkan1")
        self.assertEqual(fields["Recommends"], "mesa-vulkan-drivers")
        size = sum(path.stat().st_size for path in (WORK / "deb/usr").rglob("*") if path.is_file() and not path.is_symlink())
        self.assertAlmostEqual(int(fields["Installed-Size"]), size / 1024, delta=100)
        docs = WORK / "deb/usr/share/doc/pteron"
        self.assertIn("Copyright (c) 2021 The gfx-rs developers", (docs / "copyright").read_text())
        self.assertTrue(gzip.decompress((docs / "changelog.gz").read_bytes()).decode().startswith(f"pteron ({VERSION})"))

    def test_deb_has_the_files_of_the_tarball_and_their_sums(self):
        def programs(folder):
            return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and "share" not in path.parts}

        in_deb = programs(WORK / "deb" / "usr")
        unit = in_deb.pop("lib/systemd/system/pteron.service").decode()
        self.assertIn("ExecStart=/usr/bin/pteron serve", unit)
        self.assertEqual(in_deb, programs(self.tree))
        run("md5sum", "--quiet", "--check", "DEBIAN/md5sums", cwd=WORK / "deb")
        listed = {line.split("  ")[1] for line in (WORK / "deb/DEBIAN/md5sums").read_text().splitlines()}
        real = (path for path in (WORK / "deb/usr").rglob("*") if path.is_file() and not path.is_symlink())
        self.assertEqual(listed, {str(path.relative_to(WORK / "deb")) for path in real})


if __name__ == "__main__":
    unittest.main()
