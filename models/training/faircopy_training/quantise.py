"""Int8 by rows, written into the exported graph.

ONNX Runtime's own dynamic quantisation scales activations by the whole tensor, so that batch-mates, padding and words beyond
the lookahead change every result. Here each row of activations (each token) has a scale of its own, each column of a weight
matrix too, and each row of the embedding table: what a token gets depends on that token only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from .model import Tagger

SMALLEST = 1e-8
"""Scale of a row of zeros."""
SMALL_TABLE = 100
"""Tables with fewer rows (styles, relative positions) stay in float."""
INT8, COLUMNS, ROWS = "_int8", "_columns", "_row_scale"
"""Suffixes of what a weight becomes in the graph."""
NARROW = 64
"""Matrices with fewer columns are the heads'. (The exporter gives them no name of their own.)"""
POSITIONS = 600
"""Tables of up to so many rows are of positions, and keep 8 bits."""


def normal_step(bits: float) -> float:
    """How wide the steps may be, in standard deviations, for normally distributed weights to be packed into ``bits`` each: in steps of s they
    have an entropy of log2(sqrt(2 pi e) / s)."""
    return (2 * math.pi * math.e) ** 0.5 * 2.0**-bits


def by_columns(weight: np.ndarray, bits: float = 8) -> tuple[np.ndarray, np.ndarray]:
    """[K, N] float to int8 and a scale for each of the N columns. With fewer than 8 bits the steps are wider. All of them are still int8, so the
    program computes as it does with 8; only the file is smaller, once it is packed."""
    scale = np.maximum(np.abs(weight).max(axis=0), SMALLEST) / 127
    if bits < 8:
        scale = np.maximum(scale, weight.std(axis=0) * normal_step(bits))
    return np.round(weight / scale).astype(np.int8), scale.astype(np.float32)


def by_rows(table: np.ndarray, bits: float = 8) -> tuple[np.ndarray, np.ndarray]:
    """[V, H] float to int8 and a scale for each of the V rows."""
    quantised, scale = by_columns(table.T, bits)
    return np.ascontiguousarray(quantised.T), scale[:, None]


def _names(graph: onnx.GraphProto) -> dict[str, str]:
    """The weight's name for what each product with a matrix is called: the exporter names biases, but not the matrices before them."""
    constants = {i.name for i in graph.initializer}
    return {i: other.removesuffix("bias") + "weight" for node in graph.node if node.op_type == "Add"
            for i, other in (node.input, reversed(node.input)) if other in constants and other.endswith(".bias")}


def quantise(model: onnx.ModelProto, bits: float = 8) -> onnx.ModelProto:
    """Rewrites every MatMul with a constant matrix, and the Gathers from tables, in place. The heads' matrix stays in
    float: it is small, and what it adds up is what tags are decided by."""
    graph = model.graph
    weights = {i.name: i for i in graph.initializer}
    made: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []
    named = _names(graph)
    inputs: dict[str, tuple[str, str]] = {}  # activation -> its int8 form and row scale, shared by q, k and v

    def constant(name: str, value: np.ndarray) -> str:
        if not any(m.name == name for m in made):
            made.append(numpy_helper.from_array(value, name))
        return name

    top = constant("q_top", np.float32(127))
    least = constant("q_least", np.float32(SMALLEST))
    zero = constant("q_zero", np.uint8(128))
    shift = constant("q_shift", np.float32(128))
    last = constant("q_last", np.array([-1], np.int64))
    dropped: set[str] = set()

    def rows(x: str) -> tuple[str, str]:
        if x not in inputs:
            p = f"{x}_rows"
            nodes.extend([
                helper.make_node("Abs", [x], [p + "_abs"]),
                helper.make_node("ReduceMax", [p + "_abs", last], [p + "_max"], keepdims=1),
                helper.make_node("Max", [p + "_max", least], [p + "_safe"]),
                helper.make_node("Div", [p + "_safe", top], [p + "_scale"]),
                helper.make_node("Div", [x, p + "_scale"], [p + "_units"]),
                helper.make_node("Round", [p + "_units"], [p + "_round"]),
                helper.make_node("Add", [p + "_round", shift], [p + "_shifted"]),
                helper.make_node("Cast", [p + "_shifted"], [p + "_int"], to=TensorProto.UINT8),
            ])
            inputs[x] = (p + "_int", p + "_scale")
        return inputs[x]

    def is_table(name: str) -> bool:
        """Of vectors, and not small; the table of buckets has integers."""
        found = weights.get(name)
        return found is not None and found.data_type == TensorProto.FLOAT and len(found.dims) == 2 and found.dims[0] > SMALL_TABLE

    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is not None and len(weight.dims) == 2 and weight.dims[1] > NARROW:
            x, scale = rows(node.input[0])
            q, columns = by_columns(numpy_helper.to_array(weight), bits)
            name = named[node.output[0]]
            w, c = constant(name + INT8, q), constant(name + COLUMNS, columns)
            p = node.output[0] + "_q"
            nodes.extend([
                helper.make_node("MatMulInteger", [x, w, zero], [p + "_int"]),
                helper.make_node("Cast", [p + "_int"], [p + "_float"], to=TensorProto.FLOAT),
                helper.make_node("Mul", [p + "_float", scale], [p + "_scaled"]),
                helper.make_node("Mul", [p + "_scaled", c], [node.output[0]]),
            ])
            dropped.add(weight.name)
        elif node.op_type == "Gather" and is_table(node.input[0]):
            table = weights[node.input[0]]
            q, scales = by_rows(numpy_helper.to_array(table), bits if table.dims[0] > POSITIONS else 8)
            t, s = constant(table.name + INT8, q), constant(table.name + ROWS, scales)
            p = node.output[0] + "_q"
            nodes.extend([
                helper.make_node("Gather", [t, node.input[1]], [p + "_int"], axis=0),
                helper.make_node("Gather", [s, node.input[1]], [p + "_scale"], axis=0),
                helper.make_node("Cast", [p + "_int"], [p + "_float"], to=TensorProto.FLOAT),
                helper.make_node("Mul", [p + "_float", p + "_scale"], [node.output[0]]),
            ])
            dropped.add(table.name)
        else:
            nodes.append(node)
    kept = [i for i in graph.initializer if i.name not in dropped]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept + made)
    onnx.checker.check_model(model)
    return model


def weights_of(model: onnx.ModelProto) -> dict[str, Tensor]:
    """The weights of an exported tagger as floats, by their names in :class:`Tagger`; what was rounded stays so."""
    given = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    names = _names(model.graph)
    out = {name: value for name, value in given.items() if name.endswith((".weight", ".bias"))}
    for name, value in given.items():
        if name.endswith(INT8):
            name = name.removesuffix(INT8)
            out[name] = (value * given[name + COLUMNS]).T if name + COLUMNS in given else value * given[name + ROWS]
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in given and node.output[0] in names:
            out[names[node.output[0]]] = given[node.input[1]].T
    return {name: torch.from_numpy(np.array(value, dtype=np.float32)) for name, value in out.items()}


MATRICES = ("query", "key", "value", "out", "up", "down")
"""A layer's matrices, all of which are rounded."""


@contextmanager
def rounded(model: Tagger, bits: float) -> Iterator[None]:
    """Inside, the model's weights are as an export in ``bits`` leaves them; outside, as they were. A training step whose gradients are taken inside
    and applied outside learns to do with the rounded weights (the straight-through estimator of arXiv 1308.3432)."""
    # Embeddings that are not learned are rounded already.
    tables = [model.token.weight] * model.token.weight.requires_grad + [getattr(layer, name).weight for layer in model.layers for name in MATRICES]
    exact = [t.data for t in tables]
    for table in tables:
        table.data = round_rows(table.data, bits)
    try:
        yield
    finally:
        for table, was in zip(tables, exact):
            table.data = was


def round_rows(table: Tensor, bits: float) -> Tensor:
    """A weight [N, K] as :func:`by_columns` leaves it, which is given it transposed."""
    step = table.abs().amax(1, keepdim=True).clamp_min(SMALLEST) / 127
    if bits < 8:
        # The standard deviation by way of the norm, which takes a thirtieth of the time of std().
        square = torch.linalg.vector_norm(table, dim=1, keepdim=True).square() / table.shape[1]
        step = step.maximum((square - table.mean(1, keepdim=True).square()).clamp_min(0).sqrt() * normal_step(bits))
    return (table / step).round_().mul_(step)


class RowInt8Linear(nn.Module):
    """The same arithmetic in PyTorch, with exact integer products: the reference of the parity tests."""

    def __init__(self, linear: nn.Linear, bits: float = 8) -> None:
        super().__init__()
        weight, columns = by_columns(linear.weight.detach().numpy().T.copy(), bits)
        self.weight = torch.from_numpy(weight.astype(np.float64))
        self.columns = torch.from_numpy(columns)
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        scale = x.abs().amax(-1, keepdim=True).clamp_min(SMALLEST) / 127
        units = torch.round(x / scale).double()
        return (units @ self.weight).float() * scale * self.columns + self.bias


def reference(model: Tagger, bits: float = 8) -> Tagger:
    """Makes ``model`` compute as its quantised export does."""
    for table, of in ((model.token, bits), (model.position, 8)):
        rows, scale = by_rows(table.weight.detach().numpy(), of)
        with torch.no_grad():
            table.weight.copy_(torch.from_numpy(rows.astype(np.float32) * scale))
    for layer in model.layers:
        for name in MATRICES:
            setattr(layer, name, RowInt8Linear(getattr(layer, name), bits))
    return model.eval()
