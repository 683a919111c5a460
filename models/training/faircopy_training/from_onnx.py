"""Weights of a BERT encoder that is only published as an ONNX file. ``python -m faircopy_training.from_onnx --onnx FILE --tokenizer FILE --out DIR`` writes
``DIR/model.safetensors`` with BERT's own names and ``DIR/tokenizer.json``, so that ``train --base DIR --encoder bert12`` can begin with them.

PyTorch's export keeps the names of embeddings, biases and norms. It writes the weight of a linear layer transposed and under a number; the node that multiplies
by the weight still has the layer's path as its name.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

NAMED = ("embeddings.", "encoder.")
"""What the names of a BERT encoder's weights begin with."""


def weights(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The encoder's weights, float32, by BERT's names. A linear layer's is [outputs, inputs]. Raises ``ValueError`` where the file has no such encoder, or has
    weights that are not 32-bit floats."""
    values = {i.name: i for i in model.graph.initializer}
    found = {name: i for name, i in values.items() if name.startswith(NAMED) and i.data_type == onnx.TensorProto.FLOAT}
    arrays = {name: numpy_helper.to_array(i) for name, i in found.items()}
    for node in model.graph.node:
        path = node.name.strip("/").replace("/", ".")
        if node.op_type != "MatMul" or not path.startswith(NAMED) or node.input[1] not in values:
            continue
        weight = values[node.input[1]]
        if weight.data_type != onnx.TensorProto.FLOAT:
            raise ValueError(f"{path}: expected a weight of 32-bit floats, got {onnx.TensorProto.DataType.Name(weight.data_type)}")
        arrays[path.removesuffix(".MatMul") + ".weight"] = np.ascontiguousarray(numpy_helper.to_array(weight).T)
    for name in ("embeddings.word_embeddings.weight", "encoder.layer.0.attention.self.query.weight"):
        if name not in arrays:
            raise ValueError(f"expected a BERT encoder as PyTorch exports it, got a file without {name}")
    return arrays


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--onnx", type=Path, required=True)
    a.add_argument("--tokenizer", type=Path, required=True)
    a.add_argument("--out", type=Path, required=True)
    args = a.parse_args()
    try:
        arrays = weights(onnx.load(str(args.onnx)))
    except (OSError, ValueError) as e:
        raise SystemExit(f"error: {args.onnx}: {e}") from e
    args.out.mkdir(parents=True, exist_ok=True)
    save_file(arrays, str(args.out / "model.safetensors"))
    shutil.copyfile(args.tokenizer, args.out / "tokenizer.json")


if __name__ == "__main__":
    main()
