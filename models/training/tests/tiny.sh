#!/usr/bin/env bash
# A training small enough for a test: tiny.sh VENV WORK. Data are a few sentences of our own in the formats of the real files.
set -euo pipefail
venv=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
"$venv/bin/python" "$here/tiny_data.py" "$work/data"
run() { "$here/../train.sh" "$venv" "$work/data" "$work/run" "$work/model" --rows 2 --length 64 --threads 2 --every 2 "$@"; }
# Interrupted after two steps, it must go on from there.
run --steps 4 --stop-after 2
run --steps 4 | tee "$work/resumed.log"
grep -q 'resumed at step 2' "$work/resumed.log"
PYTHONPATH="$here/.." "$venv/bin/python" -m unittest -q "$here/torch_tests.py"
