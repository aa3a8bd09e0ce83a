"""Find the column names of a table, and give every column a name of its own."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

from heteroscope.core import InputError, TableWarning
from heteroscope.data.column_words import listing

MOST_LINES = 30  # of a file, among which the column names are looked for


def header_place(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of the row with the column names among the first rows of a file; those before it are a title.

    The names are as many as the values of most rows, at least half of them are filled, and not only the first one.
    """
    width = Counter(map(len, rows)).most_common(1)[0][0]
    filled = [sum(bool(cell.strip()) for cell in row) if len(row) == width else 0 for row in rows]
    for place, row in enumerate(rows[:-1]):
        is_title = filled[place] == 1 < max(filled) and row[0].strip()
        if filled[place] >= max(filled) / 2 and not is_title:
            return 0 if are_numbers(row) else place
    return 0


def warn_of_lines_above(file: str, header: Sequence[str], n_lines: int) -> None:
    """Warn that lines above the column names are left out."""
    if n_lines:
        lines = "the first line" if n_lines == 1 else f"the first {n_lines} lines"
        _warn(f"{file}: {lines} above the column names {listing(header, 3)} {'is' if n_lines == 1 else 'are'} left out")


def unique_names(file: str, header: Sequence[str], filled: Sequence[bool]) -> list[str]:
    """Return a name for each column, those of pandas where the header lacks or repeats one; warn of such names.

    A first column without a name holds row labels and stays nameless; so does an empty column, which is to be dropped.

    Parameters
    ----------
    file : str
        The name of the file, for messages.
    header : sequence of str
        The names in the file.
    filled : sequence of bool
        Whether each column has a value.

    Returns
    -------
    list of str
    """
    names: list[str] = []
    taken = set(header)
    repeated: list[str] = []
    nameless: list[str] = []
    for place, name in enumerate(header):
        if not name.strip():
            name = f"Unnamed: {place}" if place and filled[place] else ""
            nameless += [name] if name else []
        elif name in names:
            name = next(new for k in range(1, len(header) + 1) if (new := f"{header[place]}.{k}") not in taken)
            repeated.append(name)
        names.append(name)
        taken.add(name)
    if repeated:
        _warn(f"{file} has column names more than once: the later ones are called {listing(repeated, 5)}")
    if nameless:
        _warn(f"{file} has columns without a name: they are called {listing(nameless, 5)}")
    return names


def refuse_numbers(file: str, header: Sequence[str]) -> None:
    """Raise an `InputError` for column names that are all numbers: the header is missing."""
    if are_numbers(header):
        raise InputError(f"{file} has numbers for column names: put a line with the columns' names first")


def are_numbers(header: Sequence[str]) -> bool:
    """Return whether all names of a header are numbers."""
    return all(_is_number(name) for name in header if name.strip())


def refuse_duplicates(file: str, names: Iterable[str]) -> None:
    """Raise an `InputError` for a column name that occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{file} has more than one column called {name!r}: give each column its own name")
        seen.add(name)


def _is_number(text: str) -> bool:
    """Return whether a text is a number."""
    with suppress(ValueError):
        float(text)
        return True
    return False


def _warn(text: str) -> None:
    warnings.warn(text, TableWarning, stacklevel=2)
