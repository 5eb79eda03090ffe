"""Speech as sequences of numbers: MFCC with deltas, and phone segments of TIMIT. Needs ``chainfield[audio]``."""

from .mfcc import mfcc, normalise, read_audio
from .phones import fold_39, fold_48
from .timit import Segment, phone_segments, read_phones

__all__ = ["Segment", "fold_39", "fold_48", "mfcc", "normalise", "phone_segments", "read_audio", "read_phones"]
