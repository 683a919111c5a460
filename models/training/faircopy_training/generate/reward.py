"""What a generated sample is worth to the tagger, and what the language model learns from that ("Boosting Punctuation Restoration", section 3.4 and Algorithm 1).

The reward of sample i is ``r_i = <g_i, g>``: ``g_i`` is the gradient of the tagger's loss on the sample, ``g`` the mean gradient on development rows, both at
the tagger's current weights. A step of training on the sample moves the weights by ``-rate * g_i`` and so the development loss by ``-rate * r_i`` (first
order). A positive reward therefore means that the sample helps. The language model *descends* along ``sum_i r_i * grad(-log P(sample i))``, which
makes samples with positive rewards likelier; to ascend along it would make them rarer.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from ..dataset import Batch
from ..loss import joint_loss
from ..model import UNLIMITED, Heard, Tagger
from .language_model import Said

MOST_NORM = 1.0
"""A longer step of the language model is cut to this length before the optimizer takes it."""


class Likely(Protocol):
    def log_probabilities(self, texts: list[Said]) -> Tensor: ...


class Top:
    """The last ``layers`` of a tagger with its heads, above activations of the others that are computed once. All layers, with what they are given, if 0."""

    def __init__(self, tagger: Tagger, layers: int) -> None:
        self.tagger = tagger
        self.first = len(tagger.layers) - layers if layers else 0
        chosen: list[nn.Module] = [*tagger.layers[self.first :], tagger.heads]
        chosen += [] if layers else [tagger.position, tagger.style, tagger.norm]
        self.parameters = [p for part in chosen for p in part.parameters() if p.requires_grad]
        self.whole = not layers

    def losses(self, batch: Batch) -> list[Tensor]:
        """The loss of each row, each with a graph of its own."""
        tagger, device = self.tagger, self.tagger.heads.weight.device
        tokens, words, labels, style = (torch.from_numpy(x).to(device) for x in (batch.tokens, batch.words, batch.labels, batch.style))
        heard = Heard(*torch.from_numpy(batch.heard).to(device))
        lookahead = torch.full((len(tokens),), UNLIMITED, device=device)
        at = torch.arange(tokens.shape[1], device=device)
        bias = tagger.relation(at[None], at[None])

        def through(x: Tensor, part: range, row: slice) -> Tensor:
            for n in part:
                x, _, _ = tagger.layers[n](x, tagger.mask(n, words[row], lookahead[row]) + bias)
            return x

        rows = [slice(r, r + 1) for r in range(len(tokens))]
        above = range(self.first, len(tagger.layers))
        if self.whole:
            said = [tagger.embedded(tokens[r], at, style[r], Heard(*(h[r] for h in heard))) for r in rows]
        else:
            with torch.no_grad():
                said = through(tagger.embedded(tokens, at, style, heard), range(self.first), slice(None)).split(1)
        return [joint_loss(tagger.heads(through(x, above, r)), labels[r]) for x, r in zip(said, rows)]

    def gradient(self, loss: Tensor) -> list[Tensor]:
        found = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        return [torch.zeros_like(p) if g is None else g for p, g in zip(self.parameters, found)]


def product(a: list[Tensor], b: list[Tensor]) -> Tensor:
    return sum((x * y).sum() for x, y in zip(a, b))


def rewards(tagger: Tagger, generated: Batch, development: Batch, layers: int, cosine: bool) -> Tensor:
    """[rows of ``generated``] inner products with the mean gradient of the rows of ``development``, or cosines. The weights stay as they are."""
    top = Top(tagger, layers)
    mean = [torch.zeros_like(p) for p in top.parameters]
    losses = top.losses(development)
    for loss in losses:
        mean = [m + g / len(losses) for m, g in zip(mean, top.gradient(loss))]
    found = []
    for loss in top.losses(generated):
        gradient = top.gradient(loss)
        reward = product(gradient, mean)
        if cosine:
            reward = reward / (product(gradient, gradient) * product(mean, mean)).sqrt().clamp_min(1e-12)
        found.append(reward)
    return torch.stack(found).detach().cpu()


def learn(model: Likely, optimizer: torch.optim.Optimizer, samples: list[Said], worth: Tensor) -> float:
    """One step of the language model down ``sum_i r_i * grad(-log P(text_i | prompt_i))``. Returns the mean of -log P a token."""
    optimizer.zero_grad(set_to_none=True)
    tokens = max(1, sum(len(s.text) for s in samples))
    surprise = -model.log_probabilities(samples)
    (worth.to(surprise.device) @ surprise / tokens).backward()
    learned = [p for group in optimizer.param_groups for p in group["params"]]
    nn.utils.clip_grad_norm_(learned, MOST_NORM)
    optimizer.step()
    return surprise.sum().item() / tokens
