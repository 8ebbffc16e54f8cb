"""What is wrong with a job, in a form that every door reports alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one field.

    Attributes:
        path: where it is, from the root of the object: `("spec", "msReplicaSpecs", "Worker", "replicas")`.
        message: what is wrong and what to do.
        rule: stable identifier: `schema` for types and enums, else the id of a rule in `msjob.api.rules`.
    """

    path: tuple[str | int, ...]
    message: str
    rule: str = "schema"

    @property
    def field(self) -> str:
        """The path as people write it: `spec.msReplicaSpecs.Worker.template.spec.containers[0].name`.

        Keys come from users: a long one is cut, and what no output can encode is escaped.
        """
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{_shown(part)}" if text else _shown(part)
        return text

    def __str__(self) -> str:
        """Field and message, as shown in conditions and on the terminal."""
        return f"{self.field}: {self.message}" if self.path else self.message


def _shown(key: str) -> str:
    text = key[:_SHOWN].encode(errors="backslashreplace").decode()
    return text if len(key) <= _SHOWN else f"{text}…"


def summarise(problems: Iterable[Problem], limit: int = 3) -> str:
    """Join problems to one line.

    Args:
        problems: at least one.
        limit: how many are spelled out; the rest is counted.

    Returns:
        For example `spec: a; spec.launchMode: b; and 2 more`.
    """
    listed = list(problems)
    text = "; ".join(str(problem) for problem in listed[:limit])
    rest = len(listed) - limit
    return f"{text}; and {rest} more" if rest > 0 else text
