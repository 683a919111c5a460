#!/usr/bin/env bash
# Puts the ONNX Runtime library into target/onnxruntime, out of its Python package, once:
#   runtime.sh [cpu]                  24 MB
#   runtime.sh cuda                   300 MB; CUDA's own libraries must be where the loader finds them
#   runtime.sh cuda with-libraries    the same and CUDA's libraries beside it, out of NVIDIA's Python packages
# FAIRCOPY_RUNTIME_DIR names another directory.
set -euo pipefail
version=1.31.1
device=${1:-cpu}
# What libonnxruntime_providers_cuda.so of this version asks the loader for (CUDA 13, cuDNN 9)
cuda_packages=(nvidia-cuda-runtime nvidia-cublas nvidia-cufft nvidia-curand nvidia-cuda-nvrtc nvidia-nvjitlink nvidia-cudnn-cu13)
case $device in
  cpu) packages=("onnxruntime==$version") ;;
  cuda) packages=("onnxruntime-gpu==$version") ;;
  *) echo "usage: $0 [cpu|cuda [with-libraries]]" >&2; exit 2 ;;
esac
[ "${2:-}" != with-libraries ] || packages+=("${cuda_packages[@]}")
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${FAIRCOPY_RUNTIME_DIR:-$root/target/onnxruntime}
done="$dir/$device-$version${2:+-$2}"
[ -f "$done" ] && exit
mkdir -p "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" "${packages[@]}"
python3 - "$work" "$dir" <<'PY'
import pathlib, shutil, sys, zipfile
work, target = map(pathlib.Path, sys.argv[1:])
for path in work.glob("*.whl"):
    wheel = zipfile.ZipFile(path)
    for name in wheel.namelist():
        file = name.rsplit("/", 1)[-1]
        if "/capi/libonnxruntime" in name and ".so" in file:
            # libonnxruntime.so.1.31.1 is asked for as libonnxruntime.so; a provider by its own name, beside it.
            file = file.split(".so")[0] + ".so"
        elif path.name.startswith("onnxruntime") and name in ("onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt"):
            pass
        elif not (path.name.startswith("nvidia") and ".so" in file):
            continue
        with wheel.open(name) as packed, open(target / f"{file}.new", "wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
        (target / f"{file}.new").rename(target / file)
PY
rm -f "$dir"/cpu-* "$dir"/cuda-*
touch "$done"
