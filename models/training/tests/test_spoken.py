import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from faircopy_training import spoken


def readings(f, *args):
    return {" ".join(f(*args, random.Random(seed))) for seed in range(60)}


class Spoken(unittest.TestCase):
    def test_every_reading_is_one_that_people_say(self):
        for got, want in [
            (readings(spoken.cardinal, 150), {"one hundred fifty", "a hundred fifty", "one hundred and fifty", "a hundred and fifty"}),
            (readings(spoken.year, 2020), {"twenty twenty", "two thousand twenty", "two thousand and twenty"}),
            (readings(spoken.year, 1905), {"nineteen oh five"}),
            (readings(spoken.year, 2008), {"two thousand eight", "two thousand and eight"}),
            (readings(spoken.ordinal, 21), {"twenty first"}),
            (readings(spoken.ordinal, 30), {"thirtieth"}),
            (readings(spoken.digits, "05"), {"oh five", "zero five"}),
            (readings(spoken.clock, 4, 30, "p"), {"four thirty p m", "four thirty pm"}),
            (readings(spoken.clock, 9, 0, ""), {"nine o'clock"}),
        ]:
            self.assertEqual(got, want)

    def test_tokens_are_read_by_their_shape(self):
        rng = random.Random(1)
        for token, kind in [("$12.50", "MONEY"), ("35%", "PERCENT"), ("1,200", "CARDINAL"), ("1994", "YEAR"), ("4:30", "TIME"),
                            ("212-555-0142", "PHONE"), ("21st", "ORDINAL"), ("1990s", "YEAR"), ("2.5", "CARDINAL")]:
            self.assertEqual(spoken.read_token(token, rng)[0], kind, token)
        for token in ["B52", "1/2", "12:75", "4x4", "2001:db8"]:
            self.assertIsNone(spoken.read_token(token, rng), token)


if __name__ == "__main__":
    unittest.main()
