"""What a tagger is told of a word beside its tokens: the silence before it, how long the word before took, and whether another person speaks.

Each is a number of the boundary between a word and the word spoken before it, so it belongs to the later word; 0 is unknown. The Rust service computes
the same numbers. Times are integer milliseconds.
"""

from __future__ import annotations

import numpy as np

from .labels import MISSING

PAUSE_EDGES = np.array([20, 80, 200, 350, 600, 1000, 2000])
"""Milliseconds of silence from the end of the word before to the start of a word. The number is 1 and one more for each edge reached."""
GAP_EDGES = np.array([-150, -50, 50, 200, 400, 800, 2000])
"""Milliseconds from start to start, less what the letters of the word before take. It survives recognisers that stretch a word to the next one."""
WORD_MS, LETTER_MS = 60, 55
"""What a word takes, and each of its letters and digits."""
LONGEST_MS = 60_000
"""A longer silence is unknown."""
PAUSES, GAPS, SPEAKERS = len(PAUSE_EDGES) + 2, len(GAP_EDGES) + 2, 3
SAME, OTHER = 1, 2


def letters(word: str) -> int:
    return sum(c.isalnum() for c in word)


def numbers(times: np.ndarray, lengths: np.ndarray, speakers: np.ndarray) -> np.ndarray:
    """[words, 3] pauses, gaps and speakers. ``times`` [words, 2] start and end, ``lengths`` [words] letters, ``speakers`` [words] any number a person;
    ``MISSING`` where not known. The first word has 0 in all."""
    out = np.zeros((len(times), 3), np.int64)
    if len(times) < 2:
        return out
    start, end = times[:, 0].astype(np.int64), times[:, 1].astype(np.int64)
    silence, step = start[1:] - end[:-1], start[1:] - start[:-1]
    known = (start[1:] >= 0) & (end[:-1] >= 0) & (silence >= 0) & (silence <= LONGEST_MS)
    out[1:, 0] = np.where(known, 1 + np.searchsorted(PAUSE_EDGES, silence, side="right"), 0)
    known = (start[1:] >= 0) & (start[:-1] >= 0) & (step >= 0) & (step <= LONGEST_MS)
    over = step - (WORD_MS + LETTER_MS * lengths[:-1])
    out[1:, 1] = np.where(known, 1 + np.searchsorted(GAP_EDGES, over, side="right"), 0)
    known = (speakers[1:] != MISSING) & (speakers[:-1] != MISSING)
    out[1:, 2] = np.where(known, np.where(speakers[1:] == speakers[:-1], SAME, OTHER), 0)
    return out


def varied(times: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Times of a chunk as another recogniser would give them, or none: half of the chunks have none, so that nothing is lost where there are none."""
    if rng.random() < 0.5:
        return np.full_like(times, MISSING)
    times = blanked(times, rng)
    known = times[:, 0] >= 0
    draw = rng.random()
    if draw < 0.2:  # a word lasts until the next one
        next_known = known[:-1] & known[1:]
        times[:-1, 1] = np.where(next_known, times[1:, 0], times[:-1, 1])
    elif draw < 0.3:  # words of a packet share its times, or are spread over it by their letters
        spread = rng.random() < 0.5
        at = 0
        while at < len(times):
            end = min(len(times), at + int(rng.integers(2, 12)))
            if known[at:end].all():
                first, last = times[at, 0], times[end - 1, 1]
                if spread:
                    share = np.concatenate([[0], np.cumsum(lengths[at:end] + 1)])
                    edges = first + (last - first) * share // share[-1]
                    times[at:end, 0], times[at:end, 1] = edges[:-1], edges[1:]
                else:
                    times[at:end] = first, last
            at = end
    if rng.random() < 0.2:
        times = np.where(times >= 0, times // 80 * 80, times)
    return times


def blanked(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy without the times of whole runs: those in which a word has none, and others by chance. Acronyms and questions lack theirs more often than
    other words; a lone gap would tell of them."""
    times = times.copy()
    at = 0
    while at < len(times):
        end = min(len(times), at + int(rng.integers(6, 30)))
        if (times[at:end] < 0).any() or rng.random() < 0.15:
            times[at:end] = MISSING
        at = end
    return times


def joined(times: np.ndarray, breaks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A stream's times in one order: at each of ``breaks`` (numbers of words before which another piece begins) that the recording does not follow on, the
    silence is a random one of 0.3 to 3 s."""
    times = times.copy()
    shift, last, begins = 0, None, False
    starts = set(breaks.tolist())
    for i in range(len(times)):
        begins = begins or i in starts
        if times[i, 0] < 0:
            continue
        if last is not None and begins:
            silence = times[i, 0] + shift - last
            if not 0 <= silence <= 4000:
                shift += int(rng.integers(300, 3000)) - silence
        times[i] += shift
        last, begins = times[i, 1], False
    return times
