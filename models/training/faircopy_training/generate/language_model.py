"""A causal language model of the Llama kind in plain PyTorch, small enough to train: SmolLM2-135M (Apache-2.0).

Its directory (``prepare`` makes it of a GGUF file) holds ``config.json``, ``tokenizer.json`` and ``weights.npz``, whose matrices stay in the blocks of the
GGUF file and become float32 when they are read: RMS norms before attention and feed-forward, rotary positions on neighbouring pairs (as GGUF files
order query and key), fewer heads of keys than of queries, SiLU gates, and one matrix for embeddings and output.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

CONFIG, WEIGHTS, TOKENIZER = "config.json", "weights.npz", "tokenizer.json"
BLOCK = 32
"""Numbers that share a scale in a block of a GGUF file."""


@dataclass(frozen=True)
class Config:
    """``rotation`` is the base of rotary positions; ``ends`` are the tokens that end a text."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    key_heads: int
    vocabulary: int
    context: int
    rotation: float
    epsilon: float
    ends: tuple[int, ...]


def dequantised(blocks: np.ndarray, kind: str) -> np.ndarray:
    """float32 [rows, numbers] of a matrix in a GGUF file's blocks [rows, bytes]. ``ValueError`` for a kind that is not Q4_1, Q8_0, F16 or F32."""
    rows = len(blocks)
    if kind in ("F32", "F16"):
        return blocks.astype(np.float32)
    if kind == "Q4_1":  # scale, least number, 16 bytes of two numbers each: the low halves first
        parts = blocks.reshape(rows, -1, 20)
        scale, least = (parts[..., at : at + 2].copy().view(np.float16).astype(np.float32) for at in (0, 2))
        steps = np.concatenate([parts[..., 4:] & 15, parts[..., 4:] >> 4], -1)
        return (steps * scale + least).reshape(rows, -1)
    if kind == "Q8_0":  # scale, 32 bytes
        parts = blocks.reshape(rows, -1, 34)
        scale = parts[..., :2].copy().view(np.float16).astype(np.float32)
        return (parts[..., 2:].copy().view(np.int8) * scale).reshape(rows, -1)
    raise ValueError(f"expected blocks of Q4_1, Q8_0, F16 or F32, got {kind}")


def norm(hidden: int, epsilon: float) -> nn.RMSNorm:
    return nn.RMSNorm(hidden, eps=epsilon)


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.key_heads = config.heads, config.key_heads
        self.size = config.hidden // config.heads
        of_keys = self.size * config.key_heads
        self.attn_norm, self.ffn_norm = (norm(config.hidden, config.epsilon) for _ in range(2))
        self.attn_q, self.attn_output = (nn.Linear(config.hidden, config.hidden, bias=False) for _ in range(2))
        self.attn_k, self.attn_v = (nn.Linear(config.hidden, of_keys, bias=False) for _ in range(2))
        self.ffn_gate, self.ffn_up = (nn.Linear(config.hidden, config.intermediate, bias=False) for _ in range(2))
        self.ffn_down = nn.Linear(config.intermediate, config.hidden, bias=False)

    def forward(self, x: Tensor, turn: Tensor, mask: Tensor, earlier: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The layer's output for ``x`` [B, T, H], and keys and values of all tokens so far, [B, key heads, C + T, size]. ``mask`` is [B, 1, T, C + T]."""
        batch, length, hidden = x.shape

        def split(t: Tensor, heads: int) -> Tensor:
            return t.view(batch, length, heads, self.size).transpose(1, 2)

        given = self.attn_norm(x)
        queries = turned(split(self.attn_q(given), self.heads), turn)
        keys, values = turned(split(self.attn_k(given), self.key_heads), turn), split(self.attn_v(given), self.key_heads)
        if earlier is not None:
            keys, values = torch.cat([earlier[0], keys], 2), torch.cat([earlier[1], values], 2)
        mixed = nn.functional.scaled_dot_product_attention(queries, keys, values, mask, enable_gqa=True)
        x = x + self.attn_output(mixed.transpose(1, 2).reshape(batch, length, hidden))
        given = self.ffn_norm(x)
        return x + self.ffn_down(nn.functional.silu(self.ffn_gate(given)) * self.ffn_up(given)), (keys, values)


def turned(x: Tensor, turn: Tensor) -> Tensor:
    """``x`` [B, heads, T, size] with each pair of neighbours turned by the angle of its position, ``turn`` [B, 1, T, size / 2, 2] its cosine and sine."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    cosine, sine = turn.unbind(-1)
    return torch.stack([a * cosine - b * sine, a * sine + b * cosine], -1).flatten(-2).to(x.dtype)


class LanguageModel(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocabulary, config.hidden)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = norm(config.hidden, config.epsilon)
        size = config.hidden // config.heads
        angles = config.rotation ** -(torch.arange(0, size, 2, dtype=torch.float64) / size)
        self.register_buffer("angles", angles, persistent=False)

    def hidden(self, tokens: Tensor, there: Tensor, earlier: list | None = None) -> tuple[Tensor, list]:
        """What the output matrix is given for ``tokens`` [B, T], and keys and values of every layer for the next call. ``there`` [B, C + T] says which tokens
        are text; the others pad rows on their left."""
        length = tokens.shape[1]
        known = there.shape[1] - length
        positions = (there.cumsum(1) - 1).clamp_min(0)[:, known:]
        turn = (positions[..., None] * self.angles).float()
        turn = torch.stack([turn.cos(), turn.sin()], -1)[:, None]
        at = torch.arange(there.shape[1], device=tokens.device)
        # A padding token may see itself: a row of nothing but minus infinity has no softmax.
        mask = ((at[None, :] <= at[known:, None]) & there[:, None, :]) | (at[None, :] == at[known:, None])
        x, kept = self.token(tokens).float(), []
        for number, layer in enumerate(self.layers):
            x, now = layer(x, turn, mask[:, None], None if earlier is None else earlier[number])
            kept.append(now)
        return self.norm(x), kept

    def forward(self, tokens: Tensor, there: Tensor | None = None) -> Tensor:
        """[B, T, vocabulary] logits of the token after each."""
        there = torch.ones_like(tokens, dtype=torch.bool) if there is None else there
        return self.hidden(tokens, there)[0] @ self.token.weight.T

    @torch.no_grad()
    def sample(self, prompts: list[list[int]], most: int, temperature: float, nucleus: float, generator: torch.Generator) -> list[list[int]]:
        """So many tokens at most after each prompt, without the one that ends a text, drawn from the likeliest ones that have ``nucleus`` of the
        probability (arXiv 1904.09751)."""
        device = self.token.weight.device
        longest = max(map(len, prompts))
        tokens = torch.tensor([[0] * (longest - len(p)) + p for p in prompts], device=device)
        there = torch.tensor([[n >= longest - len(p) for n in range(longest)] for p in prompts], device=device)
        ends, done = torch.tensor(self.config.ends, device=device), torch.zeros(len(prompts), dtype=torch.bool, device=device)
        kept, out = None, []
        for _ in range(min(most, self.config.context - longest)):
            x, kept = self.hidden(tokens, there, kept)
            chances = ((x[:, -1] @ self.token.weight.T).float() / temperature).softmax(-1)
            top, ids = chances.topk(min(1000, chances.shape[-1]))
            top = torch.where(top.cumsum(-1) - top < nucleus, top, 0.0)
            drawn = torch.multinomial(top.cpu(), 1, generator=generator).to(device)
            tokens = ids.gather(-1, drawn)
            done = done | torch.isin(tokens[:, 0], ends)
            if done.all():
                break
            out.append(torch.where(done, -1, tokens[:, 0]))
            there = torch.cat([there, ~done[:, None]], 1)
        rows = torch.stack(out, 1).tolist() if out else [[] for _ in prompts]
        return [[t for t in row if t >= 0] for row in rows]

    def log_probability(self, prompt: list[int], text: list[int]) -> Tensor:
        """log P(text | prompt), a sum over the tokens of the text."""
        tokens = torch.tensor([prompt + text], device=self.token.weight.device)
        x, _ = self.hidden(tokens[:, :-1], torch.ones_like(tokens[:, :-1], dtype=torch.bool))
        logits = (x[:, len(prompt) - 1 :] @ self.token.weight.T).float().log_softmax(-1)
        return logits.gather(-1, tokens[:, len(prompt) :, None]).sum()

    def learnable(self, layers: int) -> list[nn.Parameter]:
        """Of its last so many layers and the norm after them; only these take gradients from now on. All layers, but not the embeddings, if 0."""
        for p in self.parameters():
            p.requires_grad_(False)
        chosen = [p for part in (*self.layers[-layers:], self.norm) for p in part.parameters()]
        for p in chosen:
            p.requires_grad_(True)
        return chosen

    def round_frozen(self) -> LanguageModel:
        """Keeps the matrices that take no gradients in bfloat16, so that a step that multiplies in bfloat16 need not round them anew for each token. The sums
        between layers stay float32."""
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)) and not part.weight.requires_grad:
                part.bfloat16()
        return self

    @classmethod
    def load(cls, directory: Path) -> LanguageModel:
        """The language model of a directory. ``SystemExit`` where it is none."""
        for name in (CONFIG, WEIGHTS, TOKENIZER):
            if not (directory / name).is_file():
                raise SystemExit(f"error: {directory / name}: no such file; make the directory with faircopy_training.generate.prepare")
        found = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        config = Config(**found | {"ends": tuple(found["ends"])})
        model = cls(config)
        with np.load(directory / WEIGHTS) as arrays:
            state = {name.partition("|")[0]: torch.from_numpy(dequantised(arrays[name], name.partition("|")[2])) for name in arrays.files}
        model.load_state_dict({name: value.reshape(model.get_parameter(name).shape) for name, value in state.items()})
        return model.eval()

    def save(self, directory: Path, tokenizer: Tokenizer) -> None:
        """Writes it as a directory, in float32."""
        arrays = {f"{name}|F32": value.detach().float().cpu().reshape(len(value), -1).numpy() for name, value in self.state_dict().items()}
        write(directory, self.config, arrays, tokenizer)


def write(directory: Path, config: Config, arrays: dict[str, np.ndarray], tokenizer: Tokenizer) -> None:
    """A language model's directory. ``arrays`` are named ``parameter|kind of block``."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / CONFIG).write_text(json.dumps(asdict(config), indent=1) + "\n", encoding="utf-8")
    tokenizer.save(str(directory / TOKENIZER))
    np.savez(directory / WEIGHTS, **arrays)
