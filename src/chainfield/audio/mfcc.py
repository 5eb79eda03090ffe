"""The usual front end of speech recognition, by librosa: 13 mel-frequency cepstra, their slopes and curvatures."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DataError

FRAME = 0.025  # seconds that a frame looks at
HOP = 0.010  # seconds from frame to frame
N_CEPSTRA, N_MELS = 13, 26
DELTA_WIDTH = 9  # frames that a slope is taken over


def _library(name: str) -> Any:
    """librosa and soundfile are large: imported when they are needed."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigError(f"Audio needs {name}; install it with: pip install 'chainfield[audio]'.") from None


def read_audio(path: str | os.PathLike[str]) -> tuple[Float, int]:
    """A recording as numbers from -1 to 1, and its rate; one channel. WAV, FLAC, NIST SPHERE and more."""
    soundfile = _library("soundfile")
    try:
        signal, rate = soundfile.read(os.fspath(path), dtype="float64")
    except (soundfile.LibsndfileError, OSError) as error:
        raise DataError(f"{path} cannot be read as audio: {error}") from None
    if signal.ndim != 1:
        raise DataError(f"{path} has {signal.shape[1]} channels; choose or mix one.")
    return signal, int(rate)


def mfcc(signal: Float, rate: int) -> Float:
    """(frames, 39) cepstra 0 to 12, their first and second derivatives; a frame every 10 ms, from the beginning on.

    Frame t looks at 25 ms around 10 t ms.
    """
    librosa = _library("librosa")
    hop, window = round(HOP * rate), round(FRAME * rate)
    emphasised = librosa.effects.preemphasis(np.asarray(signal, np.float64))
    mel = librosa.feature.melspectrogram(
        y=emphasised, sr=rate, n_mels=N_MELS, htk=True, hop_length=hop, win_length=window,
        n_fft=1 << (window - 1).bit_length(), window="hamming",
    )  # fmt: skip
    # Logarithms as they are: librosa's own call would cut off what is 80 dB below the loudest frame.
    cepstra = librosa.feature.mfcc(S=librosa.power_to_db(mel, top_db=None), n_mfcc=N_CEPSTRA, lifter=22)
    slopes = [librosa.feature.delta(cepstra, width=DELTA_WIDTH, order=order, mode="nearest") for order in (1, 2)]
    return np.ascontiguousarray(np.concatenate([cepstra, *slopes]).T, dtype=np.float64)


def normalise(frames: Float) -> Float:
    """Every column with mean 0 and deviation 1, over an utterance; a column that never changes becomes 0."""
    spread = frames.std(axis=0)
    return (frames - frames.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
