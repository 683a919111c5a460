import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from faircopy_training import spoken

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "target" / "debug" / "faircopy"
READINGS = spoken.Readings(PROGRAM, ROOT)


def said(entity):
    return {" ".join(READINGS.of(entity, random.Random(seed))) for seed in range(40)}


class Shapes(unittest.TestCase):
    def test_tokens_are_told_by_their_shape(self):
        for token, entity in [
            ("$12.50", ("MONEY", "MONEY", "$12.50")), ("$1200", ("MONEY", "MONEY", "$1,200")), ("35%", ("PERCENT", "PERCENT", "35%")),
            ("1,200", ("CARDINAL", "CARDINAL", "1,200")), ("3400", ("CARDINAL", "CARDINAL", "3,400")), ("1994", ("YEAR", "YEAR", "1994")),
            ("4:30", ("TIME", "TIME", "4:30")), ("(212)-555-0142", ("PHONE", "PHONE", "212-555-0142")), ("21st", ("ORDINAL", "ORDINAL", "21st")),
            ("1990s", ("YEAR", "YEAR", "1990s")), (".5", ("CARDINAL", "CARDINAL", "0.5")), ("1/2", ("CARDINAL", "FRACTION", "1/2")),
            ("10-15%", ("RANGE", "RANGE", "10-15%")), ("B52", ("ALPHANUMERIC", "ALPHANUMERIC", "B52")),
            ("sam.lee@example.com", ("EMAIL", "EMAIL", "sam.lee@example.com")), ("example.com", ("WEBSITE", "WEBSITE", "example.com")),
        ]:
            self.assertEqual(spoken.shape(token), entity, token)
        for token in ["12:75", "4x4", "2001:db8", "25:00"]:
            self.assertIsNone(spoken.shape(token), token)


class Spoken(unittest.TestCase):
    def test_the_grammars_say_entities_as_people_do(self):
        for entity, ways in [
            (("CARDINAL", "CARDINAL", "150"), {"one hundred fifty", "a hundred and fifty", "one fifty"}),
            (("YEAR", "YEAR", "2020"), {"twenty twenty", "two thousand twenty", "two thousand and twenty"}),
            (("PHONE", "CARD", "4111 1111 1111 1111"), {"four one one one one one one one one one one one one one one one"}),
            (spoken.date("march", "5", "2019"), {"march fifth twenty nineteen", "march the fifth twenty nineteen", "march fifth two thousand nineteen"}),
            (spoken.clock(4, 30, "p"), {"four thirty p m", "half past four p m", "half past four pm", "four thirty pm"}),
        ]:
            got = said(entity)
            self.assertTrue(got, entity)
            self.assertTrue(got & ways or entity[1] == "CARD", (entity, got))
        self.assertIsNone(READINGS.of(("TIME", "TIME", "25:61"), random.Random(1)))

    def test_what_is_noted_is_read_in_one_run(self):
        readings = spoken.Readings(PROGRAM, ROOT)
        readings.collecting = True
        self.assertEqual(readings.of(("PERCENT", "PERCENT", "42%"), random.Random(1)), ["x"])
        readings.collecting = False
        readings.fetch()
        self.assertEqual(set(readings.known), {("PERCENT", "42%")})
        self.assertIn(readings.of(("PERCENT", "PERCENT", "42%"), random.Random(1)), [["forty", "two", "percent"], ["forty", "two", "per", "cent"]])

    def test_a_missing_program_and_an_unknown_class_are_named(self):
        readings = spoken.Readings(Path("/nowhere/faircopy"), ROOT)
        with self.assertRaisesRegex(spoken.Unreadable, "no such program"):
            readings.of(("YEAR", "YEAR", "1999"), random.Random(1))
        with self.assertRaisesRegex(spoken.Unreadable, "TIMES"):
            spoken.Readings(PROGRAM, ROOT).of(("TIME", "TIMES", "4:30"), random.Random(1))


if __name__ == "__main__":
    unittest.main()
