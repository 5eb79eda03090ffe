"""Features: from the user's sequences to numbers, and the templates that describe them."""

from chainfield.lazy import Registry

from .batch import Batch, Sparse
from .columns_map import TemplateFeatures
from .feature_map import FeatureMap
from .named import NamedFeatures
from .numbers import DenseFeatures, SparseFeatures
from .spelling import lafferty_template, spelling_template
from .template import Template, TemplateSet, load_template, parse_template
from .text import text_template

#: Feature maps that a model file may name, by their kinds.
MAPS: Registry[FeatureMap] = Registry("chainfield.models.families")
MAPS.update({m.kind: m for m in (NamedFeatures, TemplateFeatures, DenseFeatures, SparseFeatures)})

__all__ = [
    "MAPS",
    "Batch",
    "DenseFeatures",
    "FeatureMap",
    "NamedFeatures",
    "Sparse",
    "SparseFeatures",
    "Template",
    "TemplateFeatures",
    "TemplateSet",
    "lafferty_template",
    "load_template",
    "parse_template",
    "spelling_template",
    "text_template",
]
