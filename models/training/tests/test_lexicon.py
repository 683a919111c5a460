import unittest
from collections import Counter

from faircopy_training.lexicon import lexicon


class LexiconTest(unittest.TestCase):
    def test_a_spelling_in_mixed_case_is_kept_where_it_is_usual(self):
        found = lexicon(Counter({"ZyxPay": 3, "Zyxpay": 5, "BlueFoo": 2, "deKalb": 3, "Dekalb": 9}))
        self.assertEqual(found.get("zyxpay"), "ZyxPay", "a third of all cases")
        self.assertNotIn("bluefoo", found, "seen twice only")
        self.assertNotIn("dekalb", found, "a quarter of all cases")

    def test_an_acronym_has_a_plural_unless_the_word_is_another(self):
        found = lexicon(Counter({"QRM": 5, "IT": 900, "its": 700, "GPS": 9, "VII": 9, "ZB": 4, "LNG": 6, "LNGs": 1, "lngs": 1}))
        self.assertEqual((found.get("qrms"), found.get("lngs")), ("QRMs", "LNGs"))
        for word in ("its", "gpss", "viis", "zbs"):
            self.assertNotIn(word, found)

    def test_what_a_person_has_listed_comes_first(self):
        self.assertEqual(lexicon(Counter({"iphone": 500}))["iphone"], "iPhone")


if __name__ == "__main__":
    unittest.main()
