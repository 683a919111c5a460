#!/usr/bin/env bash
# Puts the ONNX Runtime library into target/onnxruntime, out of its Python package (24 MB), once.
set -euo pipefail
version=1.31.1
root=$(cd "$(dirname "$0")/.." && pwd)
dir="$root/target/onnxruntime"
[ -f "$dir/$version" ] && exit
mkdir -p "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" "onnxruntime==$version"
python3 - "$work" "$dir" <<'PY'
import pathlib, sys, zipfile
work, target = map(pathlib.Path, sys.argv[1:])
wheel = zipfile.ZipFile(next(work.glob("*.whl")))
name = next(n for n in wheel.namelist() if "/capi/libonnxruntime.so" in n)
(target / "libonnxruntime.so.new").write_bytes(wheel.read(name))
(target / "libonnxruntime.so.new").rename(target / "libonnxruntime.so")
PY
touch "$dir/$version"
