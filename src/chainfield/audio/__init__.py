"""Speech as sequences of numbers: MFCC with deltas, and phone segments. Needs ``chainfield[audio]``."""

from .mfcc import mfcc, normalise, read_audio
from .timit import Segment, phone_segments, read_phones

__all__ = ["Segment", "mfcc", "normalise", "phone_segments", "read_audio", "read_phones"]
