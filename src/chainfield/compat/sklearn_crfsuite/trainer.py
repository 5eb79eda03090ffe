"""A trainer that prints one line per iteration."""

from __future__ import annotations

from typing import Any

from chainfield.compat.pycrfsuite import Trainer

#: What an iteration shows, where it has it.
_PARTS = (
    ("num", "Iter {num:<3} "),
    ("time", "time={time:<5.2f} "),
    ("loss", "loss={loss:<8.2f} "),
    ("active_features", "active={active_features:<5} "),
    ("avg_precision", "precision={avg_precision:0.3f}  recall={avg_recall:0.3f}  F1={avg_f1:0.3f}  "),
    ("item_accuracy_float", "Acc(item/seq)={item_accuracy_float:0.3f} {instance_accuracy_float:0.3f}  "),
    ("feature_norm", "feature_norm={feature_norm:<8.2f}"),
)


class LinePerIterationTrainer(Trainer):
    """Prints one line per iteration, and a table of the labels of held-out data at the end."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """One line."""
        print("".join(form for key, form in _PARTS if key in info).format(**info).strip())

    def on_optimization_end(self, log: str) -> None:
        """The table."""
        assert self.logparser is not None
        scores = (self.logparser.last_iteration or {}).get("scores")
        if scores:
            width = max(len("Label"), *map(len, scores))
            head = f"{'Label':<{width}}  Precision  Recall     F1  Support"
            print("=" * len(head), head, sep="\n")
            for label, score in sorted(scores.items()):
                numbers = (score.precision or 0.0, score.recall or 0.0, score.f1 or 0.0)
                print(f"{label:<{width}}  {numbers[0]:9.3f}  {numbers[1]:6.3f}  {numbers[2]:5.3f}  {score.ref:7d}")
            print("-" * len(head))
        super().on_optimization_end(log)
