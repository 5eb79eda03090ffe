"""What all tests share."""

import os

# Model files without the seconds of training: the same training gives the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "0"
