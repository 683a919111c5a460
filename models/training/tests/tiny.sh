#!/usr/bin/env bash
# A training small enough for a test: tiny.sh VENV WORK. Data are a few sentences of our own in the formats of the real files.
set -euo pipefail
export FAIRCOPY=$(cd "$(dirname "$0")" && pwd)/../../../target/debug/faircopy
venv=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
"$venv/bin/python" "$here/tiny_data.py" "$work/data"
small=(--rows 2 --length 64 --threads 2 --every 2 --steps 4)
# Interrupted after two steps, it must go on from there; train.sh cannot export what is not finished, and says so.
if "$here/../train.sh" "$venv" "$work/data" "$work/run" "$work/model" "${small[@]}" --stop-after 2 2> "$work/unfinished.log"; then
  echo "an unfinished run was exported" >&2
  exit 1
fi
grep -q 'train first' "$work/unfinished.log"
"$here/../train.sh" "$venv" "$work/data" "$work/run" "$work/model" "${small[@]}" | tee "$work/resumed.log"
grep -q 'resumed at step 2' "$work/resumed.log"
"$venv/bin/python" -m unittest -q "$here/torch_tests.py"
