"""A pipeline to compare with: faircopy's tagger for case, marks and disfluencies, and NeMo's inverse text normalisation for numbers.

The tagger is ``faircopy format`` with all ITN classes off, so that its text has the tagger's case and marks and lacks what is disfluent. Dictionaries stay on:
words that one of them joins (TV) are written so where NeMo leaves them. NeMo gets the words of each sentence, without case and marks. A word that NeMo leaves keeps
its case and mark. What NeMo writes of several words takes the mark of the last one. Where a comma stands between those words, NeMo writes what is before it and
after it apart, unless they are a date, a time, an amount of money or a long number. What readers would take for mistakes is mended: "10 %", "04:30", "mhz", the
sign of an inch, "e.g." for "for example", and "1st" for a lone "first" to "ninth". NeMo's other customs stay: $20000, "24 h", "a.m.".
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple


class Word(NamedTuple):
    """A word as spoken, as the tagger cases it, and the mark behind it."""

    said: str
    cased: str
    mark: str
    joined: str = ""
    """How a dictionary writes it together with words behind it, such as TV."""
    parts: int = 1


Write = Callable[[str], str]
WHOLE = re.compile(r"[$€£@:]|^\d\d? \d{4}$|(\d-?){7}")
"""What NeMo may write over a comma."""
APART = 3
"""Words that NeMo left, between two changes that are taken as one: "six billion dollars" is $6 billion."""


def tagged(command: list[str], samples: list[list[str]]) -> list[list[Word]]:
    """The words that the tagger leaves of each sample."""
    files = Path("grammars/en").glob("*.itn")
    classes = sorted({name for file in files for name in re.findall(r"^(?:class|recipe) (\S+)", file.read_text("utf-8"), re.M)})
    if not classes:
        raise SystemExit("error: expected grammars/en with classes in this directory, got none: run this where faircopy's grammars and models are")
    records = "".join(json.dumps({"session": str(n), "words": [{"w": w} for w in words], "end": "session"}) + "\n" for n, words in enumerate(samples))
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as settings:
        settings.write(f"[profiles.default]\nitn_off = {json.dumps(classes)}\n")
        settings.flush()
        told = subprocess.run([*command, "format", "--config", settings.name], input=records, stdout=subprocess.PIPE, text=True, check=True).stdout
    out: list[list[Word]] = [[] for _ in samples]
    for segment in map(json.loads, told.splitlines()):
        number = int(segment["session"])
        for at, word in enumerate(segment.get("words", []), 1):
            out[number] += apart(samples[number][slice(*word["src"])], word["text"], at == len(segment["words"]))
    return out


def apart(said: list[str], text: str, last: bool) -> list[Word]:
    """A written word as the spoken words that it was made of. Points that belong to the word itself ("d.c.", "U.S.") are no marks."""
    core = text[: len(text.rstrip(".,?")) + len(said[-1]) - len(said[-1].rstrip(".,?"))]
    mark = text[len(core) :]
    if len(said) == 1:
        return [Word(said[0], core, mark)]
    if "." in core and mark.startswith("."):
        core, mark = core + ".", mark if last else mark[1:]
    rest = [Word(word, word, "") for word in said[1:-1]]
    return [Word(said[0], said[0], "", core, len(said)), *rest, Word(said[-1], said[-1], mark)]


def pipeline(words: list[Word], nemo: Write) -> str:
    """What the pipeline writes of the tagger's words."""
    out: list[str] = []
    begin = 0
    for end, word in enumerate(words, 1):
        if end == len(words) or word.mark.strip(","):
            out += sentence(words[begin:end], nemo)
            begin = end
    return " ".join(out)


def sentence(words: list[Word], nemo: Write, first: bool = True) -> list[str]:
    said = [word.said for word in words]
    written = tidy(nemo(" ".join(said))).split()
    out: list[str] = []
    done = 0
    for i1, i2, j1, j2 in changes(said, written):
        group, tokens, begins = words[i1:i2], written[j1:j2], first and i1 == 0
        out += left(words[done:i1])
        done = i2
        commas = [n for n, word in enumerate(group[:-1], 1) if word.mark]
        if len(group) == 1 and re.fullmatch(r"[1-9](st|nd|rd|th)", tokens[0]):
            out += left(group)
        elif commas and not WHOLE.search(" ".join(tokens)):
            out += sentence(group[: commas[0]], nemo, begins) + sentence(group[commas[0] :], nemo, False)
        else:
            tokens = [cased(token, [word.cased for word in group], begins and n == 0) for n, token in enumerate(tokens)]
            out += marked(tokens, group[-1].mark)
    return out + left(words[done:])


def left(words: list[Word]) -> list[str]:
    """Words that NeMo left."""
    out: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        whole = word.parts > 1 and at + word.parts <= len(words)
        at += word.parts if whole else 1
        out += marked([word.joined if whole else word.cased], words[at - 1].mark)
    return out


def marked(tokens: list[str], mark: str) -> list[str]:
    """With a mark behind the last one; a point after an abbreviation's own point is not written."""
    return [*tokens[:-1], tokens[-1] + (mark.removeprefix(".") if tokens[-1].endswith(".") else mark)]


def changes(said: list[str], written: list[str]) -> list[list[int]]:
    """Where NeMo wrote something else: from and to of the spoken words, and of what stands for them. Neither is empty."""
    out: list[list[int]] = []
    lost = False
    for what, i1, i2, j1, j2 in SequenceMatcher(None, said, written, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        if out and (lost or what != "replace") and i1 - out[-1][1] <= APART:
            out[-1], lost = [out[-1][0], i2, out[-1][2], j2], False
        elif what == "replace":
            out.append([i1, i2, j1, j2])
            lost = False
        else:  # the word before goes with it, or the word after where none is before
            out.append([i1 - 1, i2, j1 - 1, j2] if i1 and j1 else [i1, i2 + 1, j1, j2 + 1])
            lost = True
    return out


def cased(token: str, cores: list[str], begins: bool) -> str:
    """What NeMo wrote, with a capital where the tagger gave one to the word that it comes from."""
    like = [core for core in cores if core[:1].lower() == token[:1]]
    capital = (like and like[0][:1].isupper()) or (begins and cores[0][:1].isupper())
    return token[:1].upper() + token[1:] if capital else token


def tidy(written: str) -> str:
    """NeMo's text without those of its customs that readers would mind."""
    written = re.sub(r"\b0(?=\d:\d\d)", "", re.sub(r"(?<=\d) (?=%)", "", written))
    written = re.sub(r"(?<=\d) ([kmg]?)hz\b", lambda m: f" {m[1] if m[1] == 'k' else m[1].upper()}Hz", re.sub(r'(?<=\d) "', " in", written))
    return re.sub(r"\be\.g\.", "for example", written)
