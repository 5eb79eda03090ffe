"""How far the defaults are from the best of a grid, on many corpora; and how strong other means are on some of them.

Readers of corpora, and what keeps parts of a long run in files, are those of ``papers/``.
"""

import sys
from pathlib import Path

PAPERS = Path(__file__).resolve().parents[2] / "papers"
if str(PAPERS) not in sys.path:
    sys.path.append(str(PAPERS))
