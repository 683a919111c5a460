"""The neural second stage: a small sequence-to-sequence model that writes one span of spoken words, or scores how the grammars could write it, with a few
words of context (Universal-2-TF, section 3.2)."""

from pathlib import Path

ROOT = Path(__file__).parents[4]
"""The repository."""
