"""Classes with settings: from their declarations come the constructor, its checks and its documentation.

The methods are those of scikit-learn's estimators, so that its tools work on them; scikit-learn itself is imported only
where it asks.
"""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Iterable
from inspect import isfunction
from typing import Any, ClassVar

import chainfield
from chainfield.errors import SettingError

from . import scikit
from .foreign import FOREIGN
from .setting import Setting

WIDTH = 116


class Configurable:
    """Base of everything that has settings, declared in its body or in the bodies of its bases.

    ``class Model(Base, group="Model", without=("margin",))``: the group of the settings declared here, and settings of
    the bases that this class does without.
    """

    #: The settings by name.
    settings: ClassVar[dict[str, Setting]] = {}
    #: What the groups are called, in the order in which they are shown.
    groups: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **settings: Any) -> None:
        """Every class has a constructor of its own, with its settings by name."""

    def __init_subclass__(cls, *, group: str = "Model", without: Iterable[str] = (), **more: Any) -> None:
        super().__init_subclass__(**more)
        found: dict[str, Setting] = {}
        for base in reversed(cls.__mro__[1:]):
            if base is not Configurable and issubclass(base, Configurable):
                found.update(base.settings)
        for name, value in vars(cls).items():
            if isinstance(value, Setting):
                value.group = value.group or group
                found[name] = value
        for name in without:
            del found[name]
        order = {name: place for place, name in enumerate(cls.groups)}
        ordered = sorted(found.values(), key=lambda setting: order.get(setting.group, len(order)))
        cls.settings = {setting.name: setting for setting in ordered}
        cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        cls.__doc__ = _documented(cls)

    # ---- scikit-learn's conventions ------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self.settings}

    def set_params(self, **params: Any) -> Any:
        """Change settings."""
        check_names(type(self), params)
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value.__name__ if isfunction(value) else repr(value)}" for name, value in self.changed().items()
        )
        return f"{type(self).__name__}({shown})"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_chainfield_version": chainfield.__version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: value for name, value in state.items() if name != "_chainfield_version"})

    def __sklearn_tags__(self) -> Any:
        return scikit.tags(self)

    def _repr_html_(self) -> str:
        return scikit.page(self)

    def __getattr__(self, name: str) -> Any:
        if name in scikit.ROUTING:
            return scikit.routing(self, name)
        own = getattr(type(self), name, None)
        if isinstance(own, property) and own.fget is not None:  # its own AttributeError led here, and says more
            return own.fget(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def changed(self) -> dict[str, Any]:
        """The settings that do not stand at their defaults."""
        values = {name: getattr(self, name) for name in self.settings}
        return {name: value for name, value in values.items() if not _same(value, self.settings[name].default)}

    # ---- checks --------------------------------------------------------------------------------------------------

    def check_settings(self) -> None:
        """Refuse settings that are not possible, or contradict each other, before any work is done."""
        for name, value in self.changed().items():  # defaults are checked where they are declared
            setting = self.settings[name]
            setting.check(value)
            for other, values in setting.only_with.items():
                if other in self.settings and getattr(self, other) not in values:
                    allowed = " or ".join(f"{other}={v!r}" for v in values)
                    raise SettingError(
                        f"{name} has no effect with {other}={getattr(self, other)!r}; it needs {allowed}."
                    )


def check_names(kind: type[Configurable], names: Iterable[str]) -> None:
    """Refuse settings that a class does not have, and say which it has."""
    for name in names:
        if name not in kind.settings:
            raise SettingError(unknown_setting(kind, name))


def unknown_setting(kind: type[Configurable], name: str, flags: bool = False) -> str:
    """What to say of a setting that a class does not have; ``flags``: as the command line writes settings."""

    def shown(setting: str) -> str:
        return kind.settings[setting].flag if flags and setting in kind.settings else setting

    known = [own for own in sorted(kind.settings) if not (flags and kind.settings[own].option == "")]

    lacks = f"there is no option --{name.replace('_', '-')}" if flags else f"{kind.__name__} has no setting {name}"
    meant = FOREIGN.get(name)
    if meant is not None and (meant in kind.settings or not meant.isidentifier()):
        return f"{lacks}; here it is {shown(meant)}."
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {shown(near[0])}? " if near else ""
    return f"{lacks}; {hint}{kind.__name__} has {', '.join(map(shown, known))}."


def _constructor(kind: type[Configurable]) -> Any:
    """``__init__`` of a class: stores what is given, and defaults for the rest."""

    def __init__(self: Any, *args: Any, **given: Any) -> None:
        if args:
            first = next(iter(kind.settings))
            raise SettingError(
                f"{kind.__name__} takes its settings by name, but {len(args)} came without one; write for example "
                f"{kind.__name__}({first}={args[0]!r})."
            )
        check_names(kind, given)
        for name, setting in kind.settings.items():
            setattr(self, name, given.get(name, setting.default))

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=setting.default)
        for name, setting in kind.settings.items()
    ]
    __init__.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{kind.__qualname__}.__init__"
    __init__.__module__ = kind.__module__
    return __init__


def _documented(kind: type[Configurable]) -> str | None:
    """The docstring of a class, with its settings."""
    own = vars(kind).get("__doc__")
    if own is None or not kind.settings:
        return own
    lines = [inspect.cleandoc(own), "", "Parameters", "----------"]
    for name, setting in kind.settings.items():
        lines.append(f"{name} : {setting.noun}, default {setting.default!r}")
        lines += textwrap.wrap(setting.help, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def _same(value: Any, default: Any) -> bool:
    """Whether a value is the default; arrays and the like never are."""
    return value is default or (
        type(value) is type(default) and isinstance(value, str | int | float) and value == default
    )
