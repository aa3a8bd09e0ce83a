"""The one exception for a user's mistake. Its message is one line: the cause, then the cure."""

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import NamedTuple


class Parameter(NamedTuple):
    """A parameter that an error message mentions, alone (`max_steps`) or with a value (`missing='impute'`).

    A message holds it as such, and not as text, so that the command line can show its own option instead.
    """

    name: str
    value: str | int | float | tuple[str, ...] | None = None

    def __str__(self) -> str:
        shown = list(self.value) if isinstance(self.value, tuple) else self.value
        return self.name if shown is None else f"{self.name}={shown!r}"


class InputError(ValueError):
    """A value, file or setting that cannot be used. The message says on one line what is wrong and what to do.

    Parameters
    ----------
    *parts : str or Parameter
        The message in pieces, put together without blanks between them.
    """

    def __init__(self, *parts: str | Parameter) -> None:
        super().__init__(*parts)

    def __str__(self) -> str:
        return self.message(str)

    def message(self, spell: Callable[[Parameter], str]) -> str:
        """Return the message with every parameter written as `spell` returns it."""
        return "".join(spell(part) if isinstance(part, Parameter) else str(part) for part in self.args)


class TableError(InputError):
    """Several problems of one table, so that all of them can be mended at once.

    Parameters
    ----------
    what : str
        The table.
    problems : sequence of InputError
        What is wrong with it.
    cures : sequence of Parameter
        Choices that settle problems.
    settles_all : bool, default=True
        Whether the table can be used as it is with these choices.
    """

    def __init__(
        self, what: str, problems: Sequence[InputError], cures: Sequence[Parameter], settles_all: bool = True
    ) -> None:
        super().__init__(what)
        self.what, self.problems, self.cures = what, tuple(problems), tuple(cures)
        self.settles_all = settles_all

    def __reduce__(self) -> tuple[type["TableError"], tuple[object, ...]]:
        return type(self), (self.what, self.problems, self.cures, self.settles_all)

    def message(self, spell: Callable[[Parameter], str]) -> str:
        """Return all lines as one: the problems with numbers, then the choices."""
        head, *problems = self.lines(spell, ", ")
        last = f"; {problems.pop()}" if self.cures else ""
        return f"{head} {'; '.join(f'({k}) {text}' for k, text in enumerate(problems, start=1))}{last}"

    def lines(self, spell: Callable[[Parameter], str], between: str) -> list[str]:
        """Return how many problems there are, one line for each, and the choices, if there are any."""
        head = f"{self.what} has {len(self.problems)} problems:"
        use = "to use it as it is" if self.settles_all else "correct what is wrong, and settle the rest with"
        choices = [f"{use}: {between.join(map(spell, self.cures))}"] if self.cures else []
        return [head, *(problem.message(spell) for problem in self.problems), *choices]


class TableWarning(UserWarning):
    """A table file was read in one of several possible ways."""


class DamageError(Exception):
    """A file that does not hold what it must. The message says which part; callers add the file and the cure."""


class StoreWarning(UserWarning):
    """A store has a damaged part, which is computed again, or parts that other versions or processors computed."""


class FarRowsWarning(UserWarning):
    """Rows to predict lie far outside the rows of the fit; their std is widened."""


def error_text(error: BaseException) -> str:
    """Return another library's error message on one line and without its full stop, to be quoted in ours."""
    return printable(" ".join(str(error).split()).rstrip("."))


def printable(text: str, most: int = 300) -> str:
    """Return text that is safe in a terminal: control codes, lone surrogates and marks of direction are escaped.

    At most `most` characters are kept.
    """
    shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text[:most])
    return shown if len(text) <= most else f"{shown}..."


def refuse_half_characters(names: Iterable[object]) -> None:
    """Raise an `InputError` for a name with half a character (a lone surrogate), which no file can hold as text."""
    for name in names:
        if any(0xD800 <= ord(one) <= 0xDFFF for one in str(name)):
            raise InputError(f"the name {printable(str(name), 60)!r} holds bytes that are no text: rename the column")


def refuse_misplaced(options: Sequence[Parameter], belong: str, place: str) -> None:
    """Raise an `InputError` that names all options at once that are for something else than what was given.

    Parameters
    ----------
    options : sequence of Parameter
        Options that were given and do not belong; nothing is raised if there are none.
    belong : str
        What they are for, such as "tables".
    place : str
        What was given instead, with a preposition, such as "for a stream".
    """
    if not options:
        return
    *others, last = options
    listed = [part for option in others[:-1] for part in (option, ", ")]
    listed += [others[-1], " and "] if others else []
    verb, them = ("are", "them") if others else ("is", "it")
    raise InputError(*listed, last, f" {verb} for {belong}: leave {them} out {place}")


def check_positive_integer(name: str, value: object, least: int = 1) -> int:
    """Return `value` as an int of at least `least` (1 or 0); raise an `InputError` that names the parameter if not."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(Parameter(name), f" must be a positive integer{'' if least else ' or 0'}, got {value!r}")
    return int(value)
