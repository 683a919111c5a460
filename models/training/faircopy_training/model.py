"""The joint tagger: a pre-trained encoder (MiniLM or MPNet) under a word-level delay mask, and four heads in one output matrix.

The mask is CT-Transformer's (arXiv 2003.01309, equation 3) on words instead of tokens: in layer i a token attends to
every earlier word and to at most ``L_i`` later ones, with the ``L_i`` adding up to the lookahead ``L``. The
paper gives all of ``L`` to the last layer; spreading it evenly keeps more of what the encoder knew.
There is no token that closes every row: it would tell a word where the text ends beyond its lookahead. ``SEP`` stands only where
the recogniser said that an utterance ended and nothing followed; it belongs to the word after the last, so the mask holds for it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from .labels import HEADS

UNLIMITED = 1 << 20
"""A lookahead that no row is long enough to reach."""


@dataclass(frozen=True)
class Shape:
    """What an encoder is made of. ``cls`` opens every row and belongs to word -1, so that every word may attend to it; ``sep`` is the
    last token of a row whose speaker has stopped."""

    name: str
    layers: int
    hidden: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    first_position: int
    epsilon: float
    cls: int
    sep: int
    unknown: str
    buckets: int = 0
    """Of relative positions, whose biases all layers share (MPNet); 0 for none."""

    def cut(self, layers: int | None) -> Shape:
        """The first ``layers`` layers of it."""
        return replace(self, layers=min(self.layers, layers or self.layers))

    def to_dict(self) -> dict:
        return asdict(self)


MINILM = Shape("minilm", 6, 384, 12, 1536, 30522, 512, 0, 1e-12, 101, 102, "[UNK]")
MPNET = Shape("mpnet", 12, 768, 12, 3072, 30527, 514, 2, 1e-5, 0, 2, "[UNK]", buckets=32)
SHAPES = {s.name: s for s in (MINILM, MPNET)}
FARTHEST = 128
"""Relative distances from here on share the last bucket."""


def buckets(length: int, count: int, device: torch.device) -> Tensor:
    """[length, length] bucket of each relative position: one a distance when near, logarithmically wider when far, half of them for
    what comes later (T5, arXiv 1910.10683, section 2.1)."""
    at = torch.arange(length, device=device)
    ahead = at[None, :] - at[:, None]
    half = count // 2
    near = half // 2
    distance = ahead.abs()
    far = near + (torch.log(distance.clamp_min(1) / near) / math.log(FARTHEST / near) * (half - near)).long()
    return torch.where(distance < near, distance, far.clamp_max(half - 1)) + (ahead > 0) * half


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query = nn.Linear(shape.hidden, shape.hidden)
        self.key = nn.Linear(shape.hidden, shape.hidden)
        self.value = nn.Linear(shape.hidden, shape.hidden)
        self.out = nn.Linear(shape.hidden, shape.hidden)
        self.norm1 = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.up = nn.Linear(shape.hidden, shape.intermediate)
        self.down = nn.Linear(shape.intermediate, shape.hidden)
        self.norm2 = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        size = hidden // self.heads

        def split(t: Tensor) -> Tensor:
            return t.view(batch, length, self.heads, size).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-1, -2) * size**-0.5 + mask
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, hidden)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        return self.norm2(x + self.dropout(self.down(nn.functional.gelu(self.up(x)))))


class Tagger(nn.Module):
    """Inputs: ``tokens`` [B, T] int64; ``words`` [B, T] int64, each token's word (-1 for the opening token, ``PAD_WORD`` for
    padding); ``lookahead`` [B] int64. Output: [B, T, C] logits, the heads of ``HEADS`` side by side; only a word's first
    token is read."""

    PAD_WORD = 1 << 30

    def __init__(self, shape: Shape = MINILM) -> None:
        super().__init__()
        self.shape = shape
        self.token = nn.Embedding(shape.vocabulary, shape.hidden)
        self.position = nn.Embedding(shape.positions, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.relative = nn.Embedding(shape.buckets, shape.heads) if shape.buckets else None
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.heads = nn.Linear(shape.hidden, sum(len(v) for v in HEADS.values()))
        self.dropout = nn.Dropout(0.1)

    def forward(self, tokens: Tensor, words: Tensor, lookahead: Tensor) -> Tensor:
        length = tokens.shape[1]
        at = torch.arange(length, device=tokens.device)
        x = self.token(tokens) + self.position(at + self.shape.first_position)
        x = self.dropout(self.norm(x))
        bias = 0.0
        if self.relative is not None:
            bias = self.relative(buckets(length, self.shape.buckets, tokens.device)).permute(2, 0, 1)[None]
        distance = words[:, None, :] - words[:, :, None]
        layers = len(self.layers)
        for i, layer in enumerate(self.layers):
            ahead = lookahead * (i + 1) // layers - lookahead * i // layers
            allowed = distance <= ahead[:, None, None]
            mask = torch.where(allowed, 0.0, -1e9).to(x.dtype)[:, None]
            x = layer(x, mask + bias)
        return self.heads(x)

    @classmethod
    def saved(cls, path: Path) -> Tagger:
        """A trained tagger, from a run's ``model.pt``."""
        if not path.is_file():
            raise SystemExit(f"error: {path}: no such file; train first, or give the --out of a finished run")
        state = torch.load(path, weights_only=True)
        model = cls(Shape(**state["shape"]))
        model.load_state_dict(state["model"])
        return model.eval()

    def load_encoder(self, path: Path) -> None:
        """Takes the encoder's weights from a checkpoint in safetensors form, BERT's or MPNet's by this model's shape."""
        w = load_file(str(path))
        mpnet = self.shape.buckets > 0
        attention = (
            {n: f"attention.attn.{n[0]}" for n in ("query", "key", "value")} | {"out": "attention.attn.o", "norm1": "attention.LayerNorm"}
            if mpnet
            else {n: f"attention.self.{n}" for n in ("query", "key", "value")}
            | {"out": "attention.output.dense", "norm1": "attention.output.LayerNorm"}
        )
        names = attention | {"up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm"}
        with torch.no_grad():
            self.token.weight.copy_(w["embeddings.word_embeddings.weight"])
            position = w["embeddings.position_embeddings.weight"]
            if mpnet:
                self.relative.weight.copy_(w["encoder.relative_attention_bias.weight"])
            else:
                # Every token is of segment 0, so its embedding is part of the position.
                position = position + w["embeddings.token_type_embeddings.weight"][0]
            self.position.weight.copy_(position)
            copies = [(self.norm, "embeddings.LayerNorm")]
            for i, layer in enumerate(self.layers):
                copies += [(getattr(layer, ours), f"encoder.layer.{i}.{theirs}") for ours, theirs in names.items()]
            for module, name in copies:
                module.weight.copy_(w[name + ".weight"])
                module.bias.copy_(w[name + ".bias"])
