"""Plain words: words that are no names, so that they have a capital only where a sentence begins. ``plain.txt`` of a model, one word a line.

``python -m faircopy_training.plain --data DATA --out MODEL/plain.txt``. The service decides the mark before a plain word and the word's case together
(docs/decisions/0049).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

FILES = ("ted_talks.txt.gz", "scotus_arguments.txt.gz", "committee_hearings.txt.gz", "us_presidential_addresses.txt.gz")
"""Text with the marks and capitals that people wrote."""
COMMERCIAL = ("changelog_turns.jsonl.gz", "committee_hearings.txt.gz", "us_presidential_addresses.txt.gz")
"""The same, where a company may use all text."""
LINES = 60_000
"""Lines of a file that are counted."""
LEAST, CAPITALS = 50, 0.004
"""A plain word is in lower case inside sentences at least so often, and has a capital there in at most this share of the places."""
NAMES = frozenset(["will"])
"""Names that are a much more frequent word besides, so that the share does not show them."""
_MAY_END = '.?!:"”)]-—…;'
"""After a word that ends like this a sentence may begin."""


def count(lines: Iterable[str], lower: Counter, capital: Counter) -> None:
    """Counts the words inside sentences by the case of their first letter."""
    for line in lines:
        words = line.split()
        for before, word in zip(words, words[1:]):
            letters = re.sub(r"[^\w']", "", word)
            if before[-1] not in _MAY_END and letters[:1].isalpha():
                (capital if letters[0].isupper() else lower)[letters.lower()] += 1


def plain(lower: Counter, capital: Counter) -> list[str]:
    """The plain words of these counts, in order."""
    return sorted(w for w, n in lower.items() if n >= LEAST and capital[w] <= CAPITALS * n and w not in NAMES)


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--data", type=Path, required=True, help="directory with the files of sources.SOURCES")
    a.add_argument("--out", type=Path, required=True)
    a.add_argument("--licences", choices=["all", "commercial"], default="all")
    args = a.parse_args()
    lower, capital = Counter(), Counter()
    for name in FILES if args.licences == "all" else COMMERCIAL:
        if not (args.data / name).is_file():
            raise SystemExit(f"error: {args.data / name}: expected a text source of sources.SOURCES, found none")
        with gzip.open(args.data / name, "rt", encoding="utf-8", errors="replace") as file:
            lines = islice(file, LINES)
            count((json.loads(line)["written"] for line in lines) if name.endswith(".jsonl.gz") else lines, lower, capital)
    words = plain(lower, capital)
    args.out.write_text("".join(f"{w}\n" for w in words), encoding="utf-8")
    print(f"{args.out}: {len(words)} plain words")


if __name__ == "__main__":
    main()
