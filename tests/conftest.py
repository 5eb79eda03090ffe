"""What all tests share."""

import os

from hypothesis import settings

# Model files without the seconds of training: the same training gives the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "0"

# How long an example takes depends on what else the machine does.
settings.register_profile("chainfield", deadline=None)
settings.load_profile("chainfield")
