"""A chain on top of any encoder of Hugging Face's transformers (extra ``transformers``).

>>> from chainfield.transformers import CRFForTokenClassification
>>> model = CRFForTokenClassification.around(encoder, ["O", "B-PER", "I-PER"])  # doctest: +SKIP
"""

try:
    import torch as _torch  # noqa: F401
    import transformers as _transformers
except ImportError as error:
    raise ImportError(
        "chainfield.transformers needs torch and transformers; install them with: "
        "pip install 'chainfield[transformers]'.",
        name=error.name,
    ) from None

from .aligning import align_labels
from .config import CRFConfig
from .head import CRFForTokenClassification, CRFOutput

_transformers.AutoConfig.register(CRFConfig.model_type, CRFConfig, exist_ok=True)
_transformers.AutoModelForTokenClassification.register(CRFConfig, CRFForTokenClassification, exist_ok=True)

__all__ = ["CRFConfig", "CRFForTokenClassification", "CRFOutput", "align_labels"]
