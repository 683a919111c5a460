"""Gold whose entities are spoken by NeMo's text normalisation, not by faircopy's grammars run backwards: ``said.py COUNT [SEED] > said.jsonl``

Needs ``nemo_text_processing``. COUNT sentences of each kind: a written entity in a sentence that stands in no training text, which NeMo speaks. What NeMo spells
by letters it writes in capitals (PM, WWW); a recogniser writes such letters apart, and so does this. A sentence that NeMo changes around the entity is left out, and
counted on standard error. The rows are in the format of ``faircopy eval``: ``accuracy.py --conventions`` judges systems on them.
"""

from __future__ import annotations

import json
import logging
import random
import re
import sys
from collections import Counter

FRAMES = {
    "PHONE": ["If the line drops, ring {} and say it was me.", "Her assistant picks up on {} most mornings.", "Whoever has {} keeps hanging up on us.",
              "Our night desk moved over to {} in spring.", "The plumber left {} on a sticky note.", "Leave a message on {} when the parts arrive."],
    "CARD": ["Run the deposit through {} this time.", "Somebody in Leeds tried to spend on {} again.", "I am reading from the plastic now, {} is all it says.",
             "Our travel desk pays everything with {} anyway.", "The bank sent a new one, {} is printed on it.", "Block {} until we find the wallet."],
    "SSN": ["The clerk typed {} into the wrong box.", "Payroll has {} under her maiden name.", "According to the form, {} belongs to his brother.",
            "They need {} before the background check starts.", "Our records show {} for that employee.", "Whose number is {} then?"],
    "EMAIL": ["Copy {} on whatever the lawyers say.", "The tickets went out to {} by mistake.", "Everything from {} lands in my junk folder.",
              "Ask whether {} still works for him.", "You could try {} if nobody answers.", "The survey came from {} last night."],
    "WEBSITE": ["They moved the whole catalogue to {} in June.", "Half of the manuals are gone from {} now.", "Point your browser at {} and wait.",
                "The old menu is still on {} somewhere.", "Kids keep asking for {} at home.", "I read the recall notice on {} twice."],
    "ADDRESS": ["The movers are parked outside {} already.", "Her studio is above the bakery at {} I think.", "Meet the inspector in front of {} at noon.",
                "Nobody has lived in {} since the flood.", "The courier swears he rang at {} twice.", "We sold {} to a young couple."],
    "MONEY": ["The deposit alone was {} for the hall.", "My cousin owes the garage {} still.", "He talked them down to {} in the end.",
              "Parking sets us back {} every month.", "They shorted the register by {} again.", "Her bonus came out at {} after tax."],
    "DATE": ["The lease runs out on {} unless we sign.", "My grandmother sailed over on {} alone.", "Nothing in the log between then and {} makes sense.",
             "The recall covers anything built before {} only.", "They married on {} in the rain.", "Our licence was renewed on {} by post."],
    "TIME": ["The ferry pulls out at {} sharp.", "Somebody knocked at {} and ran.", "Rehearsal got pushed to {} tonight.", "The bakery sells out by {} on weekends.",
             "Doors close at {} without warning.", "Her shift ended at {} yesterday."],
    "PERCENT": ["Turnout slipped by {} in the suburbs.", "The lender wants {} down.", "Roughly {} of the jars were cracked.", "Rents climbed {} in a year.",
                "They keep {} of every ticket.", "Humidity sat at {} all week."],
}
"""Sentences for each kind. None stands in the training's carriers or templates."""
FIRST = "mabel otto ingrid felix ruth boris carla hugo petra amir wendy gus".split()
LAST = "hale brandt quist moreno vance oduya lindt farrow nash pell".split()
HOSTS = "copperkettle larkfield tidewater gmail saltbox outlook ravenhill pinecone yahoo moonpress".split()
ENDS = "com com com org net io co".split()
PAGES = "menu recall parts tickets returns".split()
ROADS = "Juniper Harbor Quarry Larch Mercer Tanner Fulton Alder Foundry Bishop".split()
WAYS = "Street Avenue Road Drive Lane".split()
MONTHS = "January February March April May June July August September October November December".split()


def written(kind: str, rng: random.Random) -> str:
    """An entity as people write it."""
    n = rng.randrange
    if kind == "PHONE":
        number = f"{n(201, 990)}-{n(201, 990)}-{n(10000):04d}"
        return number if rng.random() < 0.8 else f"1-{rng.choice([800, 877])}-{number[4:]}"
    if kind == "CARD":
        return f"{rng.choice([4, 5])}{n(10**15):015d}"
    if kind == "SSN":
        return f"{n(101, 900)}-{n(10, 100)}-{n(1000, 10000)}"
    if kind == "EMAIL":
        return f"{rng.choice(FIRST)}{rng.choice(['.', '_', ''])}{rng.choice(LAST)}{rng.choice(['', '', n(2, 99)])}@{rng.choice(HOSTS)}.{rng.choice(ENDS)}"
    if kind == "WEBSITE":
        return f"{rng.choice(['', 'www.'])}{rng.choice(HOSTS)}.{rng.choice(ENDS)}{rng.choice(['', '/' + rng.choice(PAGES)])}"
    if kind == "ADDRESS":
        return f"{rng.choice([n(2, 100), n(100, 1000), n(1000, 10000)])} {rng.choice(ROADS)} {rng.choice(WAYS)}"
    if kind == "MONEY":
        return rng.choice([f"${n(2, 1000)}", f"${n(1, 1000)}.{n(1, 100):02d}", f"${n(1000, 100000):,}", f"${n(2, 90)}.{n(1, 10)} million"])
    if kind == "DATE":
        day = f"{rng.choice(MONTHS)} {n(1, 29)}"
        return day if rng.random() < 0.4 else f"{day}, {n(1950, 2025)}"
    if kind == "TIME":
        return f"{n(1, 13)}:{n(60):02d} {rng.choice(['AM', 'PM'])}"
    if kind == "PERCENT":
        return rng.choice([f"{n(2, 100)}%", f"{n(1, 40)}.{n(1, 10)}%"])
    raise ValueError(f"unknown kind {kind!r}: expected one of {', '.join(FRAMES)}")


def as_heard(text: str) -> list[str]:
    """Words as a recogniser writes them: no marks, no capitals, letters that are spelled apart."""
    words = []
    for token in re.sub(r"[,?.]+(?=\s|$)", "", text).replace("-", " ").split():
        words += list(token.lower()) if len(token) > 1 and token.isupper() else [token.lower()]
    return words


def row(number: int, kind: str, frame: str, entity: str, said: str) -> dict | None:
    """A gold row, if NeMo left the sentence around the entity as it was."""
    left, right = (as_heard(part) for part in frame.split("{}"))
    words = as_heard(said)
    end = len(words) - len(right)
    if words[: len(left)] != left or words[end:] != right or end <= len(left):
        return None
    return {"id": f"{kind}#{number}", "w": words, "itn": [[len(left), end, kind, entity]]}


def main() -> None:
    logging.disable(logging.CRITICAL)
    from nemo_text_processing.text_normalization.normalize import Normalizer

    count, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1"
    nemo, left_out = Normalizer(input_case="cased", lang="en"), Counter()
    for kind, frames in FRAMES.items():
        rng, done = random.Random(f"{kind} {seed}"), 0
        while done < count:
            frame, entity = rng.choice(frames), written(kind, rng)
            made = row(done, kind, frame, entity, nemo.normalize(frame.format(entity), verbose=False))
            if made is None:
                left_out[kind] += 1
                if left_out[kind] > count:
                    raise SystemExit(f"error: NeMo changes more sentences of {kind} than it leaves: look at what it says")
                continue
            print(json.dumps(made))
            done += 1
    print(f"left out: {dict(left_out)}", file=sys.stderr)


if __name__ == "__main__":
    main()
