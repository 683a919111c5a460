"""llama.cpp by its C interface, out of the package ``xllamacpp``, whose wheel has the library built: tokens and logits of a GGUF file.

The package's own classes give no logits of a given text. Parameters are structures whose fields change with the version, so they stay opaque here: the library
fills them with its defaults and gets them back. Its defaults are a context of 512 tokens, all on the CPU.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import POINTER, c_bool, c_char_p, c_int8, c_int32, c_ubyte, c_uint32, c_void_p
from pathlib import Path

import numpy as np

PACKAGE = "xllamacpp"
QUIET = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)(lambda *_: None)
"""What the library is given to log with."""


class Parameters(ctypes.Structure):
    """Any of the library's parameters: more bytes than any of them has."""

    _fields_ = [("bytes", c_ubyte * 2048)]


class Batch(ctypes.Structure):
    """``llama_batch``."""

    _fields_ = [("n_tokens", c_int32), ("token", POINTER(c_int32)), ("embd", c_void_p), ("pos", POINTER(c_int32)), ("n_seq_id", POINTER(c_int32)),
                ("seq_id", POINTER(POINTER(c_int32))), ("logits", POINTER(c_int8))]


FUNCTIONS = {
    "llama_backend_init": (None, []),
    "llama_log_set": (None, [c_void_p, c_void_p]),
    "llama_model_default_params": (Parameters, []),
    "llama_context_default_params": (Parameters, []),
    "llama_model_load_from_file": (c_void_p, [c_char_p, Parameters]),
    "llama_model_get_vocab": (c_void_p, [c_void_p]),
    "llama_vocab_n_tokens": (c_int32, [c_void_p]),
    "llama_init_from_model": (c_void_p, [c_void_p, Parameters]),
    "llama_n_ctx": (c_uint32, [c_void_p]),
    "llama_tokenize": (c_int32, [c_void_p, c_char_p, c_int32, POINTER(c_int32), c_int32, c_bool, c_bool]),
    "llama_batch_init": (Batch, [c_int32, c_int32, c_int32]),
    "llama_decode": (c_int32, [c_void_p, Batch]),
    "llama_get_logits_ith": (POINTER(ctypes.c_float), [c_void_p, c_int32]),
    "llama_get_memory": (c_void_p, [c_void_p]),
    "llama_memory_clear": (None, [c_void_p, c_bool]),
}


def library() -> Path | None:
    """The package's library, if the package is installed."""
    spec = importlib.util.find_spec(PACKAGE)
    return next(Path(spec.origin).parent.glob("*.so"), None) if spec and spec.origin else None


class Llama:
    """A GGUF file as llama.cpp reads it. Raises ``ImportError`` without the package and ``SystemExit`` for a file that it does not read."""

    def __init__(self, source: Path) -> None:
        path = library()
        if path is None:
            raise ImportError(f"the package {PACKAGE} is not installed")
        self.c = ctypes.CDLL(str(path))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments
        self.c.llama_log_set(ctypes.cast(QUIET, c_void_p), None)
        self.c.llama_backend_init()
        model = self.c.llama_model_load_from_file(str(source).encode(), self.c.llama_model_default_params())
        if not model:
            raise SystemExit(f"error: {source}: expected a GGUF file, got one that llama.cpp does not read")
        self.vocabulary = self.c.llama_model_get_vocab(model)
        self.size = self.c.llama_vocab_n_tokens(self.vocabulary)
        self.context = self.c.llama_init_from_model(model, self.c.llama_context_default_params())
        self.window = self.c.llama_n_ctx(self.context)

    def tokens(self, text: str) -> list[int]:
        """The text's tokens, none put in before or after."""
        said = text.encode()
        ids = (c_int32 * (len(said) + 1))()
        count = self.c.llama_tokenize(self.vocabulary, said, len(said), ids, len(ids), False, False)
        return list(ids[:count])

    def logits(self, tokens: list[int]) -> np.ndarray:
        """[tokens, vocabulary] float32 logits of the token after each; nothing is known before the first. At most ``window`` tokens."""
        if len(tokens) > self.window:
            raise ValueError(f"expected at most {self.window} tokens, got {len(tokens)}")
        self.c.llama_memory_clear(self.c.llama_get_memory(self.context), True)
        batch = self.c.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for n, token in enumerate(tokens):
            batch.token[n], batch.pos[n], batch.n_seq_id[n], batch.seq_id[n][0], batch.logits[n] = token, n, 1, 0, 1
        if failed := self.c.llama_decode(self.context, batch):
            raise SystemExit(f"error: llama_decode of {len(tokens)} tokens returned {failed}")
        return np.stack([np.ctypeslib.as_array(self.c.llama_get_logits_ith(self.context, n), (self.size,)).copy() for n in range(len(tokens))])
