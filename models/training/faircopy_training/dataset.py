"""From pieces to training batches: flat arrays per source, and chunks cut anywhere in the stream of words."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from .labels import HEADS, IGNORE
from .model import CLS, SEP
from .sources import SOURCES, Piece, Source, read
from .synth import carrier, disfluent

MAX_TOKENS_PER_WORD = 8
"""Further sub-tokens of a word are dropped; the service does the same."""
STOPS_AT_SENTENCE, STOPS_ELSEWHERE = 0.5, 0.08
"""Shares of chunks that end with ``SEP`` at a sentence end, and anywhere."""
HELD_BACK = 10
"""Every tenth earnings call and podcast stays out of training, for evaluation."""


class WordTokenizer:
    """Token ids of single words, remembered. A word that gives no token becomes [UNK]."""

    def __init__(self, path: Path) -> None:
        self.inner = Tokenizer.from_file(str(path))
        self.inner.no_padding()
        self.inner.no_truncation()
        self.unknown = self.inner.token_to_id("[UNK]")
        self.known: dict[str, list[int]] = {}

    def __call__(self, word: str) -> list[int]:
        ids = self.known.get(word)
        if ids is None:
            ids = self.inner.encode(word, add_special_tokens=False).ids[:MAX_TOKENS_PER_WORD] or [self.unknown]
            self.known[word] = ids
        return ids


@dataclass
class Stream:
    """One source's words end to end. ``labels`` is [words, heads] int16."""

    tokens: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    weight: float


def flatten(pieces: Iterable[Piece], tokenizer: WordTokenizer, weight: float) -> Stream:
    tokens, offsets, labels = array("i"), array("i", [0]), array("h")
    for piece in pieces:
        for k, word in enumerate(piece.words):
            tokens.extend(tokenizer(word))
            offsets.append(len(tokens))
            labels.extend((piece.punct[k], piece.case[k], piece.itn[k], piece.disfluency[k]))
    return Stream(
        np.array(tokens, dtype=np.int32),
        np.array(offsets, dtype=np.int32),
        np.array(labels, dtype=np.int16).reshape(-1, len(HEADS)),
        weight,
    )


def held_back(piece_id: str) -> bool:
    """Whether a row's recording is kept for evaluation: by a checksum of the recording's name."""
    recording = piece_id.split("#")[0]
    return sum(recording.encode()) % HELD_BACK == 0


def build(data: Path, tokenizer: WordTokenizer, sources: list[Source], seed: int) -> tuple[list[Stream], Counter]:
    """All sources as streams, and counts of mixed-case spellings for the lexicon. Raises ``DataError``."""
    rng = random.Random(seed)
    streams: list[Stream] = []
    spellings: Counter = Counter()
    for source in sources:
        kept: list[Piece] = []
        for piece in read(source, data, rng):
            if piece.recording.startswith(("earnings22/", "rev16/")) and held_back(piece.recording):
                continue
            spellings.update(w for w in piece.written if w)
            if source.fluent and source.reader == "text" and rng.random() < 0.4:
                piece = disfluent(piece, rng)
            kept.append(piece)
        streams.append(flatten(kept, tokenizer, source.weight))
        print(f"{source.file}: {len(kept)} pieces, {len(streams[-1].labels)} words, {source.licence}", flush=True)
        if source.file.startswith("sgd"):
            made = [p for base in kept[:16000] for p in (base, disfluent(carrier(rng), rng))]
            streams.append(flatten(made, tokenizer, 0.12))
    return streams, spellings


def sources_for(licences: str) -> list[Source]:
    return [s for s in SOURCES if s.commercial or licences == "all"]


class Sampler:
    """Chunks of at most ``length`` tokens, from a source drawn by weight. Deterministic in its seed and step.

    A chunk is cut anywhere. Half of them end where a sentence does, with ``SEP``; so do a few that end elsewhere, since people
    also stop in mid-sentence and recognisers call that an end.
    """

    def __init__(self, streams: list[Stream], length: int, pad_word: int) -> None:
        self.streams, self.length, self.pad_word = streams, length, pad_word
        self.weights = np.array([s.weight for s in streams])
        self.weights /= self.weights.sum()

    def batch(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """tokens, words [rows, length], labels [rows, length, heads] (IGNORE but on first sub-tokens)."""
        tokens = np.zeros((rows, self.length), np.int64)
        words = np.full((rows, self.length), self.pad_word, np.int64)
        labels = np.full((rows, self.length, len(HEADS)), IGNORE, np.int64)
        for r in range(rows):
            stream = self.streams[rng.choice(len(self.streams), p=self.weights)]
            count = len(stream.labels)
            start = int(rng.integers(max(1, count - 40)))
            if rng.random() < 0.3:  # as at the beginning of a call
                while start > 0 and stream.labels[start - 1, 0] not in (2, 3):
                    start -= 1
            room = self.length - 2
            end = start
            while end < count and stream.offsets[end + 1] - stream.offsets[start] <= room:
                end += 1
            stopped = rng.random() < STOPS_ELSEWHERE
            if rng.random() < STOPS_AT_SENTENCE:
                # The last sentence end, or any of the last few: short utterances must be known too.
                ends = [e for e in range(start + 1, end + 1) if stream.labels[e - 1, 0] in (2, 3)]
                if ends:
                    end, stopped = int(rng.choice(ends[-4:] if rng.random() < 0.7 else ends)), True
            tokens[r, 0], words[r, 0] = CLS, -1
            at = 1
            for w in range(start, end):
                low, high = stream.offsets[w], stream.offsets[w + 1]
                tokens[r, at : at + high - low] = stream.tokens[low:high]
                words[r, at : at + high - low] = w - start
                labels[r, at] = stream.labels[w]
                at += int(high - low)
            if stopped:
                tokens[r, at], words[r, at] = SEP, end - start
        return tokens, words, labels


def write_lexicon(spellings: Counter, path: Path, least: int = 3) -> None:
    """Words whose usual spelling mixes cases, as ``lower<TAB>written``: the MIXED tag's dictionary."""
    from .labels import case_of

    by_word: dict[str, Counter] = {}
    for written, count in spellings.items():
        by_word.setdefault(written.lower(), Counter())[written] += count
    rows = []
    for word, forms in by_word.items():
        mixed = Counter({f: c for f, c in forms.items() if case_of(f) == "MIXED"})
        if mixed and (top := mixed.most_common(1)[0])[1] >= least and top[1] * 3 >= sum(forms.values()):
            rows.append((word, top[0]))
    path.write_text("".join(f"{w}\t{f}\n" for w, f in sorted(rows)), encoding="utf-8")
