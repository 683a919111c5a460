"""Tests that need PyTorch; ``make test-training`` runs them."""

import pickle
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
from faircopy_training import labels as L
from faircopy_training.dataset import Corpus, Sampler, Stream
from faircopy_training.model import MINILM, MPNET, Tagger, buckets
from faircopy_training.noise import confusions, corrupt
from faircopy_training.quantise import RowInt8Linear
from faircopy_training.teach import teach
from faircopy_training.train import B_IDS, Pupil, joint_loss, taught_loss


class Mask(unittest.TestCase):
    def test_a_word_beyond_the_lookahead_changes_nothing_and_the_next_one_does(self):
        torch.manual_seed(1)
        for shape in (MINILM, MPNET.cut(2)):
            self.holds(Tagger(shape).eval())

    def holds(self, model):
        tokens = torch.randint(1000, 2000, (1, 24))
        tokens[0, 0] = model.shape.cls
        words = torch.arange(-1, 23)[None]
        for lookahead in (0, 2, 9):
            base = model(tokens, words, torch.tensor([lookahead]))
            for word in (0, 5, 10):
                for changed, same in ((word + lookahead + 1, True), (word + lookahead, False)):
                    other = tokens.clone()
                    other[0, changed + 1] += 7
                    moved = model(other, words, torch.tensor([lookahead]))[0, word + 1]
                    self.assertEqual(torch.equal(moved, base[0, word + 1]), same, (lookahead, word, changed))


class Loss(unittest.TestCase):
    def test_an_untyped_span_is_satisfied_by_any_class_and_ignored_words_cost_nothing(self):
        width = sum(len(v) for v in L.HEADS.values())
        logits = torch.zeros(1, 1, width)
        itn = len(L.PUNCT) + len(L.CASE)
        labels = torch.full((1, 1, 4), L.IGNORE)
        self.assertEqual(joint_loss(logits, labels).item(), 0)
        labels[0, 0, 2] = L.ANY_B
        for index in (B_IDS[0], B_IDS[5]):
            sure = logits.clone()
            sure[0, 0, itn + index] = 50
            self.assertLess(joint_loss(sure, labels).item(), 1e-3)
        sure = logits.clone()
        sure[0, 0, itn] = 50  # O
        self.assertGreater(joint_loss(sure, labels).item(), 10)


class Chunks(unittest.TestCase):
    def test_a_stopped_chunk_ends_a_sentence_more_often_than_not_and_fits_its_row(self):
        n = 3000
        labels = np.zeros((n, 4), np.int16)
        labels[::9, 0] = 2
        stream = Stream(np.arange(n, dtype=np.int32), labels, 1.0, True)
        corpus = Corpus([stream], [str(i) for i in range(n)], {})
        sampler = Sampler(corpus, lambda w: [int(w) + 1000], MINILM, 40, Tagger.PAD_WORD)
        tokens, words, marks = sampler.batch(300, np.random.default_rng(1))
        SEP = MINILM.sep
        stopped = [r for r in range(300) if SEP in tokens[r]]
        at_end = [r for r in stopped if marks[r, list(tokens[r]).index(SEP) - 1, 0] == 2]
        self.assertTrue(100 < len(stopped) < 220 and len(at_end) / len(stopped) > 0.8, (len(stopped), len(at_end)))
        for r in stopped:
            sep = list(tokens[r]).index(SEP)
            self.assertEqual(words[r, sep], words[r, sep - 1] + 1)
            self.assertTrue((words[r, sep + 1 :] == Tagger.PAD_WORD).all())


class Taught(unittest.TestCase):
    def test_a_student_is_taught_what_its_teacher_says_of_the_words_it_sees(self):
        torch.manual_seed(2)
        n = 400
        corpus = Corpus([Stream(np.arange(n, dtype=np.int32), np.zeros((n, 4), np.int16), 1.0, True)], [str(i) for i in range(n)], {})
        sampler = Sampler(corpus, lambda w: [int(w) + 1000] * (1 + int(w) % 2), MINILM, 40, Tagger.PAD_WORD)
        teacher = Tagger(MINILM.cut(1)).eval()
        with tempfile.TemporaryDirectory() as d:
            with (Path(d) / "lessons").open("wb") as f:
                for seed in range(2):
                    pickle.dump(teach(teacher, sampler, 3, np.random.default_rng(seed)), f)
            pupil = Pupil(Path(d) / "lessons", sampler)
        self.assertEqual(len(pupil.lessons), 6)
        self.assertTrue(all(len(x.taught) == len(x.words) and abs(x.taught[:, :4].sum(-1) - 1).max() < 0.01 for x in pupil.lessons))
        tokens, words, labels, taught = (torch.from_numpy(x) for x in pupil.batch(8, np.random.default_rng(1)))
        self.assertTrue(torch.equal(taught[..., 0] >= 0, labels[..., 0] != L.IGNORE), "every word that is seen is taught")
        uncut = teacher(tokens, words, torch.full((8,), 1 << 20))
        right, wrong = taught_loss(uncut, taught), taught_loss(-uncut, taught)
        self.assertLess(right.item(), wrong.item())


class Positions(unittest.TestCase):
    def test_near_positions_have_a_bucket_each_and_far_ones_share(self):
        b = buckets(300, 32, torch.device("cpu"))
        self.assertEqual(b[10, 10:14].tolist(), [0, 17, 18, 19])
        self.assertEqual(b[10, 7:11].tolist(), [3, 2, 1, 0])
        self.assertEqual((b[0, 299].item(), b[299, 0].item()), (31, 15))


class Noise(unittest.TestCase):
    def test_words_that_sound_alike_are_confused(self):
        counts = Counter({w: 100 for w in "there their then night knight cat".split()})
        table = confusions(counts)
        self.assertIn("their", table["there"])
        self.assertEqual(table["night"][0], "knight")

    def test_marks_and_capitals_outlive_the_words_left_out_and_spans_stay(self):
        labels = np.zeros((4000, 4), np.int16)
        labels[::8, 0], labels[1::8, 1] = 2, 1
        labels[4::8, 2] = 1
        words = np.arange(4000)
        got, tags = corrupt(words, labels, {7: np.array([9999])}, np.random.default_rng(3))
        self.assertTrue(set(words[4::8]) <= set(got))
        self.assertTrue(100 < len(set(words) - set(got)) < 300)
        self.assertGreater((tags[:, 0] == 2).sum(), 480)
        starts = np.flatnonzero(tags[:-1, 0] == 2) + 1
        self.assertGreater((tags[starts, 1] != 0).mean(), 0.95)


class Quantised(unittest.TestCase):
    def test_rows_are_quantised_one_by_one_and_stay_close(self):
        torch.manual_seed(1)
        linear = nn.Linear(384, 64)
        quantised = RowInt8Linear(linear)
        x = torch.randn(5, 384)
        self.assertLess((quantised(x) - linear(x)).abs().max().item(), 0.05)
        louder = x.clone()
        louder[1] *= 1000
        self.assertTrue(torch.equal(quantised(louder)[0], quantised(x)[0]))


if __name__ == "__main__":
    unittest.main()
