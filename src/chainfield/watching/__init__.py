"""Watching a training: callbacks for ``fit(callback=…)`` that hand its progress to TensorBoard, MLflow and others.

A callback is any function of a :class:`chainfield.trainers.Progress`; it is called once per iteration.
"""

from .forwarding import each_of, log_to
from .notebook import NotebookBar, in_notebook
from .tensorboard import TensorBoard

__all__ = ["NotebookBar", "TensorBoard", "each_of", "in_notebook", "log_to"]
