"""From labels to the parts of an address: by usaddress's own function, or as it did before for the same labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

Parsed = list[tuple[str, str]]
Tagged = tuple[dict[str, str], str]
Plan = tuple[list[tuple[str, int, int]], str]  # (part, its first token, the next one behind it), kind of address

STRIPPED = " ,;"
MOST = 1 << 16  # label sequences whose parts are remembered


class Address(str):
    """An address that knows its tokens and their labels."""

    parsed: Parsed


OwnTag = Callable[[Address, Any], Tagged]  # usaddress's own ``tag``, to which ``parse`` means: what is known already


def own_tag(tag: OwnTag, address_string: Any, parsed: Parsed, mapping: dict[str, str] | None) -> Tagged:
    """The parts of an address by usaddress's function."""
    address = Address(address_string if isinstance(address_string, str) else str(address_string, "utf-8"))
    address.parsed = parsed
    return tag(address, mapping)


@final
class Tagging:
    """The parts of many addresses: those with the same labels have the same parts, which usaddress is asked for once.

    A plan is kept if it gives what usaddress gives for the first address that has these labels.
    """

    def __init__(self, tag: OwnTag, mapping: dict[str, str] | None) -> None:
        self.tag, self.mapping = tag, mapping
        self.plans: dict[tuple[str, ...], Plan | None] = {}

    def of(self, address_string: str, tokens: list[str], labels: tuple[str, ...]) -> Tagged:
        """The parts of one address; RepeatedLabelError as usaddress raises it."""
        plan = self.plans.get(labels)
        if plan is not None:
            return carried_out(plan, tokens)
        found = own_tag(self.tag, address_string, list(zip(tokens, labels, strict=True)), self.mapping)
        if labels not in self.plans and len(self.plans) < MOST:
            self.plans[labels] = self._plan(labels)
            plan = self.plans[labels]
            if plan is not None and carried_out(plan, tokens) != found:
                self.plans[labels] = None
        return found

    def _plan(self, labels: tuple[str, ...]) -> Plan | None:
        """Which tokens each part has, by the example of an address whose tokens are numbers, with marks to be cut."""
        tokens = [f"{STRIPPED}{t}{STRIPPED}" for t in range(len(labels))]
        parts, kind = own_tag(self.tag, "", list(zip(tokens, labels, strict=True)), self.mapping)
        plan: list[tuple[str, int, int]] = []
        for part, text in parts.items():
            numbers = [int(word.strip(STRIPPED)) for word in text.split(f"{STRIPPED} {STRIPPED}")]
            plan.append((part, numbers[0], numbers[-1] + 1))
        return (plan, kind) if carried_out((plan, kind), tokens) == (parts, kind) else None


def carried_out(plan: Plan, tokens: list[str]) -> Tagged:
    """The parts of an address."""
    return {part: " ".join(tokens[a:b]).strip(STRIPPED) for part, a, b in plan[0]}, plan[1]
