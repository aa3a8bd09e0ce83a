"""Types of options that click does not have: lists between commas, and "auto" beside a number."""

import click


class IntegerList(click.ParamType):
    """Integers between commas: `128,128,128` becomes the tuple (128, 128, 128)."""

    name = "sizes"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the integers as a tuple."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of sizes such as 128,128,128", param, ctx)


class NumberList(click.ParamType):
    """Numbers between commas: `0.1,0.5,0.9` becomes the list [0.1, 0.5, 0.9]."""

    name = "numbers"

    def convert(
        self, value: str | list[float], param: click.Parameter | None, ctx: click.Context | None
    ) -> list[float]:
        """Return the numbers as a list."""
        if isinstance(value, list):
            return value
        try:
            return [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is no list of numbers such as 0.1,0.5,0.9", param, ctx)


class NameList(click.ParamType):
    """Names between commas: `a,b,c` becomes the tuple ("a", "b", "c")."""

    name = "names"

    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names as a tuple, without blanks around them."""
        return value if isinstance(value, tuple) else tuple(part.strip() for part in value.split(",") if part.strip())


class IntegerOrAuto(click.ParamType):
    """`12` as an integer, or the word `auto`."""

    name = "integer|auto"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the integer or "auto"; the library checks whether the number is in range."""
        try:
            return value if value == "auto" else int(value)
        except ValueError:
            self.fail(f"{value!r} is not a valid integer, nor 'auto'", param, ctx)


class NumberOrWord(click.ParamType):
    """`0.001` as a number, or any word as it is."""

    name = "number|word"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Return the number or the word; the library checks which words it knows."""
        try:
            return float(value)
        except ValueError:
            return value
