"""A blind sheet of preferences: faircopy's service beside a pipeline of the same tagger and NeMo's inverse text normalisation.

    pairs.py make --program target/release/faircopy --out SHEET calls.jsonl podcasts.jsonl telephone.jsonl
    pairs.py score SHEET/pairs.jsonl SHEET/votes-1.txt SHEET/votes-2.txt SHEET/votes-3.txt

``make`` draws stretches of 25 to 60 words from files in the format of ``faircopy eval`` (a file is a kind of speech), has both sides write them, and writes
``pairs.jsonl`` (the key: no reader may see it) and ``reader-N.md`` for each reader, in an order and with sides of the reader's own. Pairs whose texts are equal
are not shown, and count as neutral in the lines "all samples" of the score. It needs ``nemo_text_processing``, and runs where the grammars and models are.
A reader's votes are lines of a pair's number and L, R or 0 (neither is better). Both sides get the spoken words and nothing else.
Side a is ``faircopy format``, side b is in ``nemo_pipeline.py``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path

from accuracy import fold, without_customs
from nemo_pipeline import pipeline, tagged
from serve import service, system

SHORT, LONG = 25, 60
ASK = """# Which text is written better? (reader {reader})

Each pair is one stretch of speech, written in two ways by programs that heard the same words. The speech itself has mistakes and breaks off: do not judge it. Judge
how it is written down: numbers, dates, money and names, marks and case. Which one would you rather read in a transcript? Write a line for each pair into
votes-{reader}.txt: its number and L (left is better), R (right is better) or 0 (neither is better). Vote on every pair, and look at no other file.
"""
NUMBERS = set("""two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty
sixty seventy eighty ninety hundred hundreds thousand thousands million billion trillion third fourth fifth sixth seventh eighth ninth tenth""".split())
"""Words that make a stretch one with a number. "One", "oh", "first" and "second" are too often something else."""
SHORT_UNITS = {"hours": "h", "minutes": "min", "seconds": "s", "miles": "mi", "meters": "m", "kilometers": "km", "centimeters": "cm", "inches": "in", "feet": "ft"}


def stretches(path: str, rng: random.Random) -> Iterator[list[str]]:
    """Whole sentences of one speaker in a row, as many as a length drawn by chance asks for. Only the words are passed on."""
    rows = (json.loads(line) for line in open(path, encoding="utf-8"))
    for _, turn in groupby(rows, key=lambda row: row.get("speaker")):
        held: list[str] = []
        sentence: list[str] = []
        wanted = rng.randint(SHORT, LONG)
        for word, mark in ((word, mark) for row in turn for word, mark in zip(row["w"], row["p"])):
            sentence.append(word)
            if not re.search(r"[.?!]", mark):
                continue
            if len(held) >= wanted or len(held) + len(sentence) > LONG:
                if SHORT <= len(held) <= LONG:
                    yield held
                held, wanted = [], rng.randint(SHORT, LONG)
            held, sentence = held + sentence, []
        if SHORT <= len(held) <= LONG:
            yield held


def draw(paths: list[str], per_kind: int, seed: int) -> list[dict]:
    """Stretches of each kind of speech: two thirds of all have a number word, and the rest have none."""
    drawn = []
    for at, path in enumerate(paths):
        kind, rng = Path(path).stem, random.Random(f"{seed} {Path(path).stem}")
        pool = list(stretches(path, rng))
        rng.shuffle(pool)
        if not per_kind:
            drawn += [{"id": f"{kind}#{n}", "kind": kind, "words": words} for n, words in enumerate(pool)]
            continue
        need = round((at + 1) * per_kind * 2 / 3) - round(at * per_kind * 2 / 3)
        numbered = [n for n, words in enumerate(pool) if NUMBERS & set(words)][:need]
        without = [n for n, words in enumerate(pool) if not NUMBERS & set(words)][: per_kind - need]
        if len(numbered) < need or len(without) < per_kind - need:
            raise SystemExit(f"error: {path}: expected {need} stretches of {SHORT} to {LONG} words with a number and {per_kind - need} without, "
                             f"got {len(numbered)} and {len(without)}: give more text or a lower --per-kind")
        drawn += [{"id": f"{kind}#{n}", "kind": kind, "words": pool[n]} for n in sorted(numbered + without)]
    return drawn


def plain(text: str) -> list[str]:
    """The text without customs of writing in which systems differ."""
    return [SHORT_UNITS.get(token, token) for token in without_customs(fold(text))]


def make(args: argparse.Namespace) -> None:
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    samples = draw(args.gold, args.per_kind, args.seed)
    command = args.program.split()
    nemo = system("nemo")
    written = [" ".join(text.split()) for text in service(command, [" ".join(sample["words"]) for sample in samples])]
    tags = tagged(command, [sample["words"] for sample in samples])
    for sample, a, words in zip(samples, written, tags):
        sample |= {"a": a, "b": pipeline(words, nemo)}
        sample |= {"customs": plain(a) == plain(sample["b"]), "shown": {}}
    unequal = [sample for sample in samples if sample["a"] != sample["b"]]
    for reader in range(1, args.readers + 1):
        rng = random.Random(f"{args.seed} reader {reader}")
        sheet = [ASK.format(reader=reader)]
        for number, sample in enumerate(rng.sample(unequal, len(unequal)), 1):
            left, right = rng.sample("ab", 2)
            sample["shown"][str(reader)] = [number, left]
            sheet.append(f"## {number}\n\nLEFT: {sample[left]}\n\nRIGHT: {sample[right]}\n")
        (out / f"reader-{reader}.md").write_text("\n".join(sheet), encoding="utf-8")
    (out / "pairs.jsonl").write_text("".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples), encoding="utf-8")
    print(f"{len(samples)} samples, {len(samples) - len(unequal)} with equal texts; {len(unequal)} pairs a reader, "
          f"{sum(sample['customs'] for sample in unequal)} of them with a difference of custom alone")
    print("unequal:", dict(Counter(sample["kind"] for sample in unequal)))


def votes_of(path: str, pairs: list[dict]) -> dict[str, int]:
    """A reader's votes by sample: 1 for side a, -1 for side b, 0 for neither."""
    named = re.fullmatch(r"votes-(\d+)\.txt", Path(path).name)
    reader = named[1] if named else ""
    shown = {pair["shown"][reader][0]: pair for pair in pairs if reader in pair["shown"]}
    if not shown:
        raise SystemExit(f"error: {path}: expected votes-N.txt, where N is a reader whom the pairs were made for")
    out: dict[str, int] = {}
    for at, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        told = re.fullmatch(r"(\d+)\s+([LR0])", line.strip())
        pair = shown.get(int(told[1])) if told else None
        if line.strip() and (told is None or pair is None or pair["id"] in out):
            raise SystemExit(f"error: {path}:{at}: expected a pair's number, each once, from 1 to {len(shown)}, and L, R or 0; got {line!r}")
        if told and pair:
            side = pair["shown"][reader][1]
            out[pair["id"]] = 0 if told[2] == "0" else 1 if (side == "a") == (told[2] == "L") else -1
    if missing := [number for number, pair in shown.items() if pair["id"] not in out]:
        raise SystemExit(f"error: {path}: expected a vote on each of {len(shown)} pairs, got none on {sorted(missing)[:10]}: add them")
    return out


def counted(votes: list[int]) -> str:
    return f"a {votes.count(1)}, b {votes.count(-1)}, neutral {votes.count(0)}"


def lead(name: str, samples: list[list[int]]) -> None:
    """The share of votes for a less the share for b, and where it lies in 95 of 100 draws of the samples."""
    if not samples:
        return print(f"{name}: no samples")
    rng = random.Random(1)
    draws = sorted(sum(map(sum, rng.choices(samples, k=len(samples)))) for _ in range(4000))
    votes = [vote for sample in samples for vote in sample]
    share = 100 / len(votes)
    print(f"{name} ({len(samples)}): {counted(votes)}; {votes.count(1) * share:.1f} % a, {votes.count(-1) * share:.1f} % b; "
          f"a less b {sum(votes) * share:+.1f} points (95 %: {draws[100] * share:+.1f} to {draws[3899] * share:+.1f})")


def score(args: argparse.Namespace) -> None:
    pairs = [json.loads(line) for line in open(args.pairs, encoding="utf-8")]
    readers = {Path(path).stem: votes_of(path, pairs) for path in args.votes}
    kinds = sorted({pair["kind"] for pair in pairs})
    for name, votes in [*readers.items(), ("all readers", None)]:
        of = {kind: [r[p["id"]] for r in ([votes] if votes else readers.values()) for p in pairs if p["kind"] == kind and p["shown"]] for kind in kinds}
        print(f"{name}: {counted(sum(of.values(), []))}; " + "; ".join(f"{kind}: {counted(of[kind])}" for kind in kinds))
    rows = {pair["id"]: [votes[pair["id"]] for votes in readers.values()] if pair["shown"] else [0] * len(readers) for pair in pairs}
    shown = [rows[pair["id"]] for pair in pairs if pair["shown"]]
    if len(readers) > 1:
        same = [x == y for row in shown for x, y in combinations(row, 2)]
        shares = [sum(row.count(vote) for row in shown) / len(readers) / len(shown) for vote in (1, -1, 0)]
        chance = sum(share * share for share in shares)
        kappa = (sum(same) / len(same) - chance) / (1 - chance) if chance < 1 else 1.0
        print(f"two readers vote the same in {100 * sum(same) / len(same):.1f} %; Fleiss' kappa {kappa:.2f}; "
              f"all vote the same on {sum(len(set(row)) == 1 for row in shown)} of {len(shown)} pairs")
    lead("pairs shown", shown)
    lead("all samples", list(rows.values()))
    lead("pairs that differ by more than customs", [rows[pair["id"]] for pair in pairs if pair["shown"] and not pair["customs"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make")
    making.add_argument("--program", required=True, help="faircopy, and arguments for it")
    making.add_argument("--out", required=True, help="a folder for the key and the readers' files")
    making.add_argument("--per-kind", type=int, default=40, help="samples of each file; 0: all that there are")
    making.add_argument("--readers", type=int, default=3)
    making.add_argument("--seed", type=int, default=44)
    making.add_argument("gold", nargs="+")
    making.set_defaults(run=make)
    scoring = commands.add_parser("score")
    scoring.add_argument("pairs")
    scoring.add_argument("votes", nargs="+")
    scoring.set_defaults(run=score)
    args = parser.parse_args()
    try:
        args.run(args)
    except (OSError, subprocess.CalledProcessError) as what:
        raise SystemExit(f"error: {what}") from None


if __name__ == "__main__":
    main()
