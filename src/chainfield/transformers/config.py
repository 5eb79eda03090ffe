"""What a saved model says of itself."""

from __future__ import annotations

from typing import Any, ClassVar

from transformers import AutoConfig, PretrainedConfig

from chainfield.errors import ConfigError


class CRFConfig(PretrainedConfig):  # type: ignore[misc]
    """The configuration of the encoder, the labels, and the rules of their scheme.

    ``scheme``: "bio", "iob1", "bioes" or "bilou" if labels stand for spans and may only follow each other as the
    scheme allows; None: all may.
    """

    model_type = "chainfield-crf"
    sub_configs: ClassVar[dict[str, Any]] = {"encoder": AutoConfig}
    has_no_defaults_at_init = True

    def __init__(
        self,
        encoder: Any = None,
        scheme: str | None = None,
        classifier_dropout: float = 0.1,
        **more: Any,
    ) -> None:
        if isinstance(encoder, dict):
            kind = encoder.get("model_type")
            if not isinstance(kind, str):
                raise ConfigError("The configuration of the encoder has no model_type; the file is damaged.")
            encoder = AutoConfig.for_model(**encoder)
        self.encoder = encoder
        self.scheme = scheme
        self.classifier_dropout = classifier_dropout
        super().__init__(**more)
