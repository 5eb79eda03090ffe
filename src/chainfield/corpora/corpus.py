"""A corpus in pieces, as models are fitted on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from chainfield.errors import ConfigError
from chainfield.features.feature_map import FeatureMap
from chainfield.features.template import TemplateSet
from chainfield.problem import Pieces

from .part import Part, encode_source
from .profile import Profile
from .source import Source
from .survey import ChooseMap, join_surveys, settle, survey_source


@dataclass(frozen=True, eq=False)
class Encoding:
    """A corpus in numbers: the features that were learned, encoded pieces, and what is known of the whole."""

    features: FeatureMap
    parts: Pieces[Part]
    profile: Profile


class Corpus(ABC):
    """Labelled sequences in pieces. ``fit`` of a model takes it in place of X and y."""

    @property
    def sources(self) -> Pieces[Source]:
        """The pieces as they are read, for models that count words; encoded ones have no words any more."""
        raise ConfigError("An encoded corpus holds numbers, not words; count the files that it was made from.")

    @abstractmethod
    def encoding(self, choose: ChooseMap, min_count: int, template: TemplateSet | None = None) -> Encoding:
        """The corpus in numbers; ``choose``: the feature map that suits sequences, still empty.

        ``template``: the one that ``choose`` uses, if a model names one.
        """


@dataclass(frozen=True, eq=False)
class SourceCorpus(Corpus):
    """Pieces that are read twice: to learn the features, and to encode with those of all pieces."""

    read_from: Pieces[Source]

    @property
    def sources(self) -> Pieces[Source]:
        """What is read."""
        return self.read_from

    def encoding(self, choose: ChooseMap, min_count: int, template: TemplateSet | None = None) -> Encoding:
        """Count, merge, cut off, number; then encode."""
        survey = self.sources.fold(survey_source, join_surveys, choose)
        features = settle(survey, min_count)
        parts = self.sources.derive(encode_source, features, survey.profile.firsts)
        return Encoding(features, parts, survey.profile)
