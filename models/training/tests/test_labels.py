import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from faircopy_training.labels import CASE, HEADS, PUNCT, case_of, punct_id


class Labels(unittest.TestCase):
    def test_marks_fold_onto_four_and_the_strongest_wins(self):
        for mark, label in [("", "O"), (",", "COMMA"), ("-", "COMMA"), ("!", "PERIOD"), ("…", "PERIOD"), (".…", "PERIOD"), ("?…", "QUESTION")]:
            self.assertEqual(PUNCT[punct_id(mark)], label, mark)

    def test_an_unknown_mark_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(ValueError, "unknown mark '§'"):
            punct_id("§")

    def test_case_is_read_off_the_letters(self):
        for word, case in [("hello", "LOWER"), ("Hello", "CAP"), ("I", "CAP"), ("NASA", "UPPER"), ("NASA's", "UPPER"),
                           ("iPhone", "MIXED"), ("McKay", "MIXED"), ("42", "LOWER"), ("Élan", "CAP")]:
            self.assertEqual(case_of(word), case, word)

    def test_heads_are_as_wide_as_the_service_expects(self):
        self.assertEqual([len(v) for v in HEADS.values()], [4, 4, 33, 7])
        self.assertIn("LOWER", CASE)


if __name__ == "__main__":
    unittest.main()
