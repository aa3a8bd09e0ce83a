"""The one exception a user's mistake raises: a sentence of cause and a sentence of cure."""


class InputError(ValueError):
    """What the caller gave cannot be used; the message says what is wrong and what to do, on one line."""
