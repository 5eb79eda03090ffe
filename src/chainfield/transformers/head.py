"""Token classification by a chain: an encoder makes emissions, a CRF makes them agree with each other.

Encoders read pieces of words, and labels belong to words: the first piece of a word has its label, the others have
-100, as everywhere in transformers. The chain runs over the positions that have labels and leaves out the others, so
that labels of neighbouring words are neighbours in the chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel
from transformers.utils import ModelOutput

from chainfield.errors import ConfigError, DataError
from chainfield.states import StateSpace, one_per_label, restrict
from chainfield.states.schemes import scheme_rules
from chainfield.torch import CRF

from .config import CRFConfig

IGNORED = -100  # the label of a position that has none


@dataclass
class CRFOutput(ModelOutput):  # type: ignore[misc]
    """What a step gives: as the usual output of token classification, and the best labels beside it."""

    loss: Tensor | None = None
    logits: Tensor | None = None  # (batch, time, labels) emissions
    predictions: Tensor | None = None  # (batch, time) labels of the best sequences, -100 where there are none
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor, ...] | None = None


class CRFForTokenClassification(PreTrainedModel):  # type: ignore[misc]
    """An encoder, a linear layer and a :class:`chainfield.torch.CRF`.

    The loss is minus the mean log-likelihood of a sequence. ``predictions`` are made where the model is not in
    training mode. Saved and loaded by ``save_pretrained`` and ``from_pretrained``.
    """

    config_class = CRFConfig
    base_model_prefix = "encoder"
    _supports_sdpa = True
    _supports_attention_backend = True

    def __init__(self, config: CRFConfig) -> None:
        super().__init__(config)
        self.encoder = AutoModel.from_config(config.encoder)
        self.dropout = nn.Dropout(config.classifier_dropout)
        self.classifier = nn.Linear(config.encoder.hidden_size, config.num_labels)
        self.crf = CRF(_space(config), batch_first=True)
        self.post_init()

    @classmethod
    def around(
        cls, encoder: nn.Module, labels: Sequence[str], *, scheme: str | None = None, dropout: float = 0.1
    ) -> CRFForTokenClassification:
        """A new head on a copy of an encoder, such as ``AutoModel.from_pretrained(name)``."""
        names = list(labels)
        if len(set(names)) != len(names) or not names:
            raise ConfigError("labels have to be names that differ from each other, at least one.")
        numbers = {name: i for i, name in enumerate(names)}
        config = CRFConfig(
            encoder=deepcopy(encoder.config),
            scheme=scheme,
            classifier_dropout=dropout,
            id2label=dict(enumerate(names)),
            label2id=numbers,
        )
        found = cls(config)
        found.encoder.load_state_dict(encoder.state_dict())
        return found

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, CRF):
            module.reset_parameters()
            module.register_buffer("_pair", module.pairs().to(module.transitions.device), persistent=False)
        elif module is self.__dict__["_modules"].get("classifier"):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        word_mask: Tensor | None = None,
        **more: Any,
    ) -> CRFOutput:
        """Emissions, and with ``labels`` the loss.

        labels (batch, time): -100 where a position has no label. ``word_mask`` (batch, time): true for the positions
        that get labels, such as the first pieces of words; if it is not given, those with labels, or else all that are
        no padding.
        """
        more.pop("return_dict", None)
        more.pop("num_items_in_batch", None)
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask, **more)
        logits = self.classifier(self.dropout(states.last_hidden_state))
        mask = _mask(logits, labels, word_mask, attention_mask)
        inside = mask.any(dim=1)
        loss = predictions = None
        if labels is not None:
            loss = self._loss(logits, labels, mask, inside)
        if not self.training:
            predictions = self.decode(logits, mask)
        return CRFOutput(loss, logits, predictions, states.get("hidden_states"), states.get("attentions"))

    def _loss(self, logits: Tensor, labels: Tensor, mask: Tensor, inside: Tensor) -> Tensor:
        known = torch.where(labels == IGNORED, torch.full_like(labels, -1), labels)  # -1: unknown to the chain
        if not bool(inside.any()):
            return logits.sum() * 0.0
        return -self.crf(logits[inside], known[inside], mask[inside], reduction="mean")

    @torch.no_grad()
    def decode(self, logits: Tensor, mask: Tensor) -> Tensor:
        """(batch, time) the best labels of the positions that the mask has, -100 elsewhere."""
        found = torch.full(mask.shape, IGNORED, dtype=torch.long, device=logits.device)
        inside = mask.any(dim=1)
        if bool(inside.any()):
            best = self.crf.decode(logits[inside], mask[inside])
            found[mask] = torch.tensor([y for own in best for y in own], dtype=torch.long, device=logits.device)
        return found

    @torch.no_grad()
    def probabilities(self, logits: Tensor, mask: Tensor) -> Tensor:
        """(batch, time, labels) the probability of each label at each position, given the whole sequence."""
        found = torch.zeros_like(logits)
        inside = mask.any(dim=1)
        if bool(inside.any()):
            found[inside] = self.crf.label_marginals(logits[inside], mask[inside]).to(found.dtype)
        return found


def _mask(logits: Tensor, labels: Tensor | None, word_mask: Tensor | None, attention_mask: Tensor | None) -> Tensor:
    """(batch, time) the positions that the chain runs over."""
    shape = logits.shape[:2]
    for name, given in (("labels", labels), ("word_mask", word_mask)):
        if given is not None and tuple(given.shape) != tuple(shape):
            raise DataError(f"{name} has the shape {tuple(given.shape)}, but the input has {tuple(shape)}.")
    if word_mask is not None:
        return word_mask.bool()
    if labels is not None:
        return labels != IGNORED
    if attention_mask is not None and attention_mask.dim() == 2:
        return attention_mask.bool()
    return torch.ones(shape, dtype=torch.bool, device=logits.device)


def _space(config: CRFConfig) -> StateSpace:
    space = one_per_label(config.num_labels)
    if config.scheme is None:
        return space
    return restrict(space, scheme_rules([config.id2label[i] for i in range(config.num_labels)], config.scheme))
