"""A peer as a filter: lines of spoken words in, written lines out. ``serve.py nemo|wetext [--time REPEATS]``; ``serve.py service PROGRAM [ARGUMENT]…`` has
faircopy's whole service, with its tagger, write each line as a call of its own.

With ``--time`` it prints microseconds of CPU time a line instead, the best of REPEATS runs over all lines, after one run to warm up.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time


def system(name: str):
    if name == "nemo":
        import logging

        logging.disable(logging.CRITICAL)
        from nemo_text_processing.inverse_text_normalization.inverse_normalize import InverseNormalizer

        nemo = InverseNormalizer(lang="en")
        return lambda line: nemo.inverse_normalize(line, verbose=False)
    if name == "wetext":
        from itn.english.inverse_normalizer import InverseNormalizer as English

        wetext = English()
        return wetext.normalize
    raise SystemExit(f"error: {name!r}: expected nemo or wetext")


def service(command: list[str], lines: list[str]) -> list[str]:
    """What ``faircopy format`` writes of each line."""
    calls = ({"session": str(n), "words": [{"w": w} for w in line.split()], "end": "session"} for n, line in enumerate(lines))
    records = "".join(json.dumps(call) + "\n" for call in calls)
    written = [""] * len(lines)
    for segment in subprocess.run([*command, "format"], input=records, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        told = json.loads(segment)
        written[int(told["session"])] += " " + told.get("text", "")
    return [text.strip() for text in written]


def main() -> None:
    if sys.argv[1] == "service":
        print("\n".join(service(sys.argv[2:], sys.stdin.read().splitlines())))
        return
    write = system(sys.argv[1])
    lines = [line.rstrip("\n") for line in sys.stdin]
    if "--time" in sys.argv:
        repeats = int(sys.argv[sys.argv.index("--time") + 1])
        best = float("inf")
        for run in range(repeats + 1):
            began = time.process_time()
            for line in lines:
                write(line)
            if run:
                best = min(best, time.process_time() - began)
        print(f"{1e6 * best / len(lines):.1f}")
        return
    for line in lines:
        print(write(line).replace("\n", " "))


if __name__ == "__main__":
    main()
