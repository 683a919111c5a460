"""Writes a data directory of a few sentences of our own, in the formats of the real files: ``tiny_data.py DIR``."""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from faircopy_training.sources import SOURCES

TEXT = [
    "Good morning, everyone. How are you today?",
    "The train to Bristol leaves at 9:15 am, and it costs $24.50.",
    "We met on March 5th, 2019, and 35% of them came.",
    "Call me at 212-555-0142, please. Is NASA hiring?",
    "I bought an iPhone -- an iPhone -- for 1,200 dollars.",
]


def row(number: int) -> dict:
    return {
        "id": f"tiny/{number}#0",
        "written": "We, uh, we grew by 12% in Leeds.",
        "w": ["we", "uh", "we", "grew", "by", "twelve", "percent", "in", "leeds"],
        "p": [",", ",", "", "", "", "", "", "", "."],
        "c": ["CAP", "LOWER", "LOWER", "LOWER", "LOWER", "LOWER", "LOWER", "LOWER", "CAP"],
        "itn": [[5, 7, "PERCENT" if number % 2 else "SPAN", "12%"]],
        "d": ["REP", "F", "O", "O", "O", "O", "O", "O", "X"],
    }


def unit(number: int) -> dict:
    """A row of a telephone conversation of two."""
    return {
        "id": f"sw20{number // 20:02d}:{'AB'[number % 2]}.{number}.1",
        "w": ["We", "we", "uh", "s-", "like", "Leeds"],
        "p": ["", "", ",", "", "", "."],
        "c": ["CAP", "LOWER", "LOWER", "LOWER", "LOWER", "CAP"],
        "d": ["REP", "RP", "F", "RM", "O", "O"],
    }


def turn(number: int) -> dict:
    """A row of a talk of two, three rows each."""
    return {"id": f"show/{number // 40}#{number % 40}", "speaker": number // 3 % 2, "written": "Well, I - I tried it... and it works. Did you?"}


def times(number: int) -> dict:
    return {"id": f"tiny/{number}#0", "t": [[i * 0.4, i * 0.4 + 0.3] if i != 3 or number % 2 else None for i in range(9)]}


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        marks = ["so\tO", "we\tO", "met\tCOMMA", "did\tO", "n't\tO", "we\tQUESTION"] * 40
        lines = {"rows": [json.dumps(row(n)) for n in range(12)], "conversations": [json.dumps(unit(n)) for n in range(400)],
                 "turns": [json.dumps(turn(n)) for n in range(120)], "text": TEXT * 4 + TEXT * (source.held_lines // 5), "marks": marks}[source.reader]
        with gzip.open(out / source.file, "wt", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        if source.times:
            with gzip.open(out / source.times, "wt") as f:
                f.write("".join(json.dumps(times(n)) + "\n" for n in range(12)))


main()
