"""Charts of speed, from the stored results of benchmarks, as SVG that reads well in light and in dark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
WIDTH, LEFT, RIGHT, ROW, TOP = 720, 150, 110, 30, 44
OURS, PEER = "#1b5fa6", "#8b939b"
STYLE = (
    "text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1b1e22}.t{font-weight:600;font-size:14px}"
    ".n{fill:#59616a}@media(prefers-color-scheme:dark){text{fill:#e7e9eb}.n{fill:#9ca5ae}}"
)


def bars(title: str, note: str, rows: Sequence[tuple[str, float]], unit: str) -> str:
    """Horizontal bars, ours first, each with its figure."""
    height = TOP + ROW * len(rows) + 30
    scale = (WIDTH - LEFT - RIGHT) / max(value for _, value in rows)
    told = "; ".join(f"{name} {shown(value)} {unit}" for name, value in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(f"{title}: {told}")}">',
        f"<style>{STYLE}</style>",
        f'<text class="t" x="12" y="22">{escape(title)}</text>',
    ]
    for i, (name, value) in enumerate(rows):
        y, long = TOP + i * ROW, max(value * scale, 2.0)
        parts += [
            f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{long:.1f}" height="20" rx="2" fill="{PEER if i else OURS}"/>',
            f'<text x="{LEFT + long + 8:.1f}" y="{y + 15}">{shown(value)} {escape(unit)}</text>',
        ]
    parts.append(f'<text class="n" x="12" y="{height - 10}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def shown(value: float) -> str:
    """A figure with two digits that count."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def figures(name: str) -> tuple[dict[str, float], str]:
    """The figures of a benchmark, and the machine they were measured on."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    machine = found["machine"]
    return found["figures"], f"{machine['processor']}, {machine['cores']} cores"


def charts() -> dict[str, str]:
    """All charts by the names of their files."""
    training, machine = figures("train-conll2000")
    dutch, dutch_machine = figures("train-dutch-ner")
    tagging, tagging_machine = figures("tag-conll2000")
    counted, _ = figures("empirical")
    hmm, hmm_machine = figures("hmm-em")
    rate = tagging["tag_columns_tokens_per_second"] / 1000
    piped = tagging["tag_stdin_tokens_per_second_chainfield"] / 1000
    wapiti = tagging["tag_stdin_tokens_per_second_wapiti"] / 1000
    return {
        "speed_training.svg": bars(
            "Training a chunker (CoNLL-2000) to within 0.1 % of the optimum",
            f"Seconds, less is better; one run, {machine}",
            [
                ("chainfield", training["train_seconds"]),
                ("python-crfsuite", training["train_seconds_crfsuite"]),
                ("chaine", training["train_seconds_chaine"]),
                ("Wapiti", training["train_seconds_wapiti"]),
            ],
            "s",
        ),
        "speed_ner.svg": bars(
            "Training named entities (CoNLL-2002, Dutch) to within 0.1 % of the optimum",
            f"Seconds, less is better; one run, {dutch_machine}",
            [("chainfield", dutch["train_seconds"]), ("python-crfsuite", dutch["train_seconds_crfsuite"])],
            "s",
        ),
        "speed_tagging.svg": bars(
            "Tagging from text columns",
            f"Thousands of tokens per second, more is better; {tagging_machine}",
            [
                ("chainfield", rate),
                ("python-crfsuite", rate / tagging["tag_columns_speedup_crfsuite"]),
                ("chaine", rate / tagging["tag_columns_speedup_chaine"]),
            ],
            "thousand",
        ),
        "speed_piped.svg": bars(
            "Tagging from standard input",
            f"Thousands of tokens per second, more is better; {tagging_machine}",
            [("chainfield tag", piped), ("wapiti label", wapiti)],
            "thousand",
        ),
        "speed_counting.svg": bars(
            f"Learning {counted['tokens'] / 1000:,.0f} thousand tokens with {counted['labels']:.0f} labels",
            "Seconds: all of the training of EmpiricalCRF, one iteration of the others",
            [
                ("EmpiricalCRF", counted["empirical_seconds"]),
                ("LinearCRF, L-BFGS", counted["crf_lbfgs_iteration_seconds"]),
                ("python-crfsuite", counted["crfsuite_iteration_seconds"]),
            ],
            "s",
        ),
        "speed_hmm.svg": bars(
            "EM of hidden Markov models, four Gaussians per state, one thread",
            f"Times as fast as hmmlearn; {hmm_machine}",
            [("chainfield", hmm["times_faster_one_thread_4"]), ("hmmlearn", 1.0)],
            "×",
        ),
    }
