import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from faircopy_training import cleaning


class Coarse(unittest.TestCase):
    def test_what_is_no_prose_is_dropped_by_name(self):
        for line, rule in [
            ("1234 -- 55", "no letters"), ("a" * 30_000, "too long"), ("Это обычный текст по-русски, да.", "another script"),
            ("THE WHOLE LINE IS SHOUTED AT US ALL.", "mostly capitals"), ("this line has no capital letter anywhere in it", "no capital"),
            ("Total 12 34 56 78 90", "mostly numbers"), ("Wait ---------- what?", "a character again and again"),
        ]:
            self.assertEqual(cleaning.coarse(line), rule, line)
        for line in ["Hello, how are you?", "NASA and the FAA met.", "He paid $5.", "okay"]:
            self.assertIsNone(cleaning.coarse(line), line)


class Clean(unittest.TestCase):
    def test_each_rule_changes_what_it_is_for_and_counts_it(self):
        for line, cleaned, rule in [
            ("Salt &amp; pepper, please.", "Salt & pepper, please.", "entities"),
            ("“It’s here,” he said.", "\"It's here,\" he said.", "marks"),
            ("It is <b>very</b> good.", "It is very good.", "markup"),
            ("Thank you. (Applause) Good night.", "Thank you. Good night.", "stage directions"),
            ("So [inaudible] we left.", "So we left.", "stage directions"),
            ("Chris Anderson: Welcome back.", "Welcome back.", "speaker label"),
            ("We won 🎉 today.", "We won today.", "symbols"),
            ("Really?? Yes!!", "Really? Yes!", "repeated marks"),
            (", and then we left.", "and then we left.", "mark at the start"),
            ("Is it here ?", "Is it here?", "space before a mark"),
            ("Mr Smith met Dr Jones.", "Mr. Smith met Dr. Jones.", "titles"),
            ("And then, Um, we left.", "And then, um, we left.", "filler in the middle"),
        ]:
            counts = Counter()
            self.assertEqual(cleaning.clean(line, counts), cleaned)
            self.assertEqual(counts[rule], 1, (line, counts))

    def test_prose_stays_as_it_is(self):
        for line in ["The answer: it depends.", "He (my brother) left.", "At 4:30 p.m. I -- I left.", "Note: this is fine."]:
            counts = Counter()
            self.assertEqual((cleaning.clean(line, counts), counts), (line, Counter()))


class Fine(unittest.TestCase):
    def test_unusual_shares_of_marks_and_capitals_are_dropped(self):
        self.assertEqual(cleaning.fine(80, 1, 2), "hardly any mark")
        self.assertEqual(cleaning.fine(20, 15, 2), "too many marks")
        self.assertEqual(cleaning.fine(20, 2, 18), "too many capitals")
        self.assertIsNone(cleaning.fine(20, 2, 3))
        self.assertIsNone(cleaning.fine(3, 3, 3))


if __name__ == "__main__":
    unittest.main()
