"""The joint tagger: a BERT encoder under a word-level delay mask, and four heads in one output matrix.

The mask is CT-Transformer's (arXiv 2003.01309, equation 3) on words instead of tokens: in layer i a token attends to
every earlier word and to at most ``L_i`` later ones, with the ``L_i`` adding up to the lookahead ``L``. The
paper gives all of ``L`` to the last layer; spreading it evenly keeps more of what the encoder knew.
There is no token that closes every row: it would tell a word where the text ends beyond its lookahead. ``SEP`` stands only where
the recogniser said that an utterance ended and nothing followed; it belongs to the word after the last, so the mask holds for it.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from .labels import HEADS

HIDDEN, LAYERS, ATTENTION_HEADS, INTERMEDIATE = 384, 6, 12, 1536
VOCABULARY, POSITIONS = 30522, 512
CLS = 101
"""First token of every row; belongs to word -1, so that every word may attend to it."""
SEP = 102
"""Last token of a row whose speaker has stopped."""
UNLIMITED = 1 << 20
"""A lookahead that no row is long enough to reach."""


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(HIDDEN, HIDDEN)
        self.key = nn.Linear(HIDDEN, HIDDEN)
        self.value = nn.Linear(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.norm1 = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.up = nn.Linear(HIDDEN, INTERMEDIATE)
        self.down = nn.Linear(INTERMEDIATE, HIDDEN)
        self.norm2 = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape
        size = HIDDEN // ATTENTION_HEADS

        def split(t: Tensor) -> Tensor:
            return t.view(batch, length, ATTENTION_HEADS, size).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-1, -2) * size**-0.5 + mask
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, HIDDEN)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        return self.norm2(x + self.dropout(self.down(nn.functional.gelu(self.up(x)))))


class Tagger(nn.Module):
    """Inputs: ``tokens`` [B, T] int64; ``words`` [B, T] int64, each token's word (-1 for CLS, ``PAD_WORD`` for
    padding); ``lookahead`` [B] int64. Output: [B, T, C] logits, the heads of ``HEADS`` side by side; only a word's first
    token is read."""

    PAD_WORD = 1 << 30

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, HIDDEN)
        self.position = nn.Embedding(POSITIONS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.heads = nn.Linear(HIDDEN, sum(len(v) for v in HEADS.values()))
        self.dropout = nn.Dropout(0.1)

    def forward(self, tokens: Tensor, words: Tensor, lookahead: Tensor) -> Tensor:
        length = tokens.shape[1]
        x = self.token(tokens) + self.position(torch.arange(length, device=tokens.device))
        x = self.dropout(self.norm(x))
        distance = words[:, None, :] - words[:, :, None]
        for i, layer in enumerate(self.layers):
            ahead = lookahead * (i + 1) // LAYERS - lookahead * i // LAYERS
            allowed = distance <= ahead[:, None, None]
            mask = torch.where(allowed, 0.0, -1e9).to(x.dtype)[:, None]
            x = layer(x, mask)
        return self.heads(x)

    def load_minilm(self, path: Path) -> None:
        """Takes the encoder's weights from a BERT checkpoint in safetensors form."""
        w = load_file(str(path))
        with torch.no_grad():
            self.token.weight.copy_(w["embeddings.word_embeddings.weight"])
            # Every token is of segment 0, so its embedding is part of the position.
            self.position.weight.copy_(
                w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
            )
            copies = [(self.norm, "embeddings.LayerNorm")]
            for i, layer in enumerate(self.layers):
                p = f"encoder.layer.{i}."
                copies += [
                    (layer.query, p + "attention.self.query"),
                    (layer.key, p + "attention.self.key"),
                    (layer.value, p + "attention.self.value"),
                    (layer.out, p + "attention.output.dense"),
                    (layer.norm1, p + "attention.output.LayerNorm"),
                    (layer.up, p + "intermediate.dense"),
                    (layer.down, p + "output.dense"),
                    (layer.norm2, p + "output.LayerNorm"),
                ]
            for module, name in copies:
                module.weight.copy_(w[name + ".weight"])
                module.bias.copy_(w[name + ".bias"])
