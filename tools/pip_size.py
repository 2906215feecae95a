# SPDX-License-Identifier: BSD-3-Clause
"""Says what `pip install` is about to download. usage: python pip_size.py REQUIREMENT..."""
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request


def size_of(url: str) -> int:
    """In bytes; 0 if nobody says."""
    if url.startswith("file:"):
        return os.path.getsize(urllib.request.url2pathname(urllib.parse.urlsplit(url).path))
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=20) as answer:
            return int(answer.headers.get("Content-Length") or 0)
    except OSError:
        return 0


def main() -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--report", "-", *sys.argv[1:]]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = [(package["metadata"]["name"], size_of(package["download_info"]["url"])) for package in report["install"]]
    known = sum(size for _, size in packages)
    if not known:
        return
    least = "at least " if any(not size for _, size in packages) else ""
    largest = sorted(packages, key=lambda package: -package[1])[:3]
    names = ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in largest)
    print(f"to fetch: {len(packages)} packages, {least}{known / 1e6:,.0f} MB ({names}, …)")


main()
