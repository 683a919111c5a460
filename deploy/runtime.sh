#!/usr/bin/env bash
# Puts the ONNX Runtime library into target/onnxruntime, out of its Python package, once: runtime.sh [cpu|cuda]. The CPU's has 24 MB, CUDA's 300.
set -euo pipefail
version=1.31.1
device=${1:-cpu}
case $device in
  cpu) package=onnxruntime ;;
  cuda) package=onnxruntime-gpu ;;
  *) echo "usage: $0 [cpu|cuda]" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
dir="$root/target/onnxruntime"
[ -f "$dir/$device-$version" ] && exit
mkdir -p "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" "$package==$version"
python3 - "$work" "$dir" <<'PY'
import pathlib, sys, zipfile
work, target = map(pathlib.Path, sys.argv[1:])
wheel = zipfile.ZipFile(next(work.glob("*.whl")))
for name in wheel.namelist():
    file = name.rsplit("/", 1)[-1]
    if "/capi/libonnxruntime" in name and ".so" in file:
        # libonnxruntime.so.1.31.1 is asked for as libonnxruntime.so; a provider by its own name, beside it.
        file = file.split(".so")[0] + ".so"
        (target / f"{file}.new").write_bytes(wheel.read(name))
        (target / f"{file}.new").rename(target / file)
PY
rm -f "$dir"/cpu-* "$dir"/cuda-*
touch "$dir/$device-$version"
