#!/usr/bin/env bash
# Trains and exports the second stage: second.sh VENV DATA WORK OUT. Resumes where it was interrupted. OUT is the model's directory, such as models/en-second.
#
# FAIRCOPY is the built program, if not the release build's. BUILDING and LEARNING are options of second/data.py and second/train.py, one word each, such as
# those that make it small enough for a test. WEIGHT is what a unit of a grammar's cost takes from a reading's log-probability (README.md).
# shellcheck disable=SC2086
set -euo pipefail
venv=$1 data=$2 work=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH=$here OMP_NUM_THREADS=1
program=${FAIRCOPY:-$here/../../target/release/faircopy}
python=$venv/bin/python
mkdir -p "$work"
if [ ! -f "$work/data.json" ]; then
  "$python" -m faircopy_training.second.data --data "$data" --faircopy "$program" --out "$work" ${BUILDING:-}
fi
"$python" -m faircopy_training.second.train --run "$work" ${LEARNING:---steps 1900}
"$python" -m faircopy_training.second.export --run "$work" --name en-second-1 --weight "${WEIGHT:-1}" \
  --licence "training text: CC BY-SA 4.0, CC BY 4.0, MIT, public domain; TED talks (CC BY-NC-ND) and Oyez (CC BY-NC) non-commercial" --out "$out"
