"""Columns of text that hold numbers: with thousands set apart, with a sign or unit, or with words for gaps."""

import re
from itertools import product
from typing import NamedTuple

import pandas as pd
from pandas.api.types import infer_dtype

#: What people write into a cell for which there is no number, in lower case.
GAP_WORDS = frozenset(
    (
        *("-", "--", "---", "\u2013", "\u2014", "?", "??", ".", "..", "...", "*"),
        *("n.a.", "n.a", "na", "n/a", "k.a.", "nil", "none", "null", "nan", "nat", "missing", "unknown"),
        *("not available", "not known", "no data"),
        *("#n/a", "#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"),
    )
)
_THOUSANDS = (",", ".", " ", "\u00a0", "\u202f", "'", "\u2019")
_KNOWN_UNITS = (
    "kg|mg|g|t|lbs?|oz|km/h|mph|m/s|km|cm|mm|µm|nm|m|ft|in|km²|m²|m2|m³|m3|ml|l|min|ms|hrs?|h|s|d|kWh|MWh|kW|MW|W|kV|V|"
    "mA|A|kHz|MHz|GHz|Hz|hPa|kPa|Pa|bar|ppm|ppb|°C|°F|°|K|GB|MB|kB|TB|USD|EUR|GBP|CHF|JPY"
)
# $1,200.50, 30 %, 12.5€, EUR 3, 170 cm: numbers with one sign or unit, in which commas can only separate thousands.
# A unit that is not known stands behind a blank.
_SIGNED = re.compile(
    r" *([-+]?) *(?P<front>[$€£¥]|(?:USD|EUR|GBP|CHF|JPY)(?= ))? *([-+]?)(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d*)?)"
    rf" *(?P<back>[$€£¥%‰]|{_KNOWN_UNITS}|(?<= )[^\W\d_][^\W_]{{0,11}}(?:/[^\W_]{{1,4}})?)? *"
)
_CODE = r" *0\d\d"


class Format(NamedTuple):
    """How numbers are written: their decimal sign, and what separates their thousands."""

    decimal: str
    thousands: str


def gap_spellings() -> list[str]:
    """Return the words for gaps in lower case, in capitals, and with a capital at the beginning."""
    return sorted({spelt for word in GAP_WORDS for spelt in (word, word.upper(), word.capitalize())})


def read_numbers(series: pd.Series, decimal: str | None = None, thousands: str | None = None) -> pd.Series:
    """Return a column of text as numbers if it holds nothing else, with gaps for words such as "-" among numbers.

    Numbers with a sign or unit stay text, without words for gaps and written with decimal points: `common_sign` finds
    the sign. All other columns are returned as they are.

    Parameters
    ----------
    series : pandas.Series
        The column.
    decimal : {".", ","}, default=None
        The decimal sign if it is known: then 1.200 or 1,200 is told for sure.
    thousands : str, default=None
        What separates thousands if it is known.

    Returns
    -------
    pandas.Series
    """
    if infer_dtype(series, skipna=True) != "string":
        return series
    texts = series.dropna().drop_duplicates()
    kept = texts[~texts.str.strip().str.casefold().isin(GAP_WORDS)]
    if not len(kept) or not _may_be_number(str(kept.iloc[0])):
        return series
    plain = pd.to_numeric(kept, errors="coerce")
    if plain.notna().all():
        is_code = kept.str.match(_CODE).any()
        return series if is_code or len(kept) == len(texts) else _replaced(series, plain.set_axis(kept))
    found = _format_of(kept, decimal, thousands)
    if found is not None:
        return _replaced(series, pd.Series([float(_with_point(text, found)) for text in kept], index=kept))
    if not common_sign(kept):
        found = _format_of(kept.map(_without_letters), decimal, thousands)
        rewritten = kept if found is None else kept.map(lambda text: _rewritten(text, found))
        return series if found is None or not common_sign(rewritten) else _replaced(series, rewritten.set_axis(kept))
    return series if len(kept) == len(texts) else _replaced(series, pd.Series(kept.to_numpy(), index=kept))


def common_sign(series: pd.Series) -> str:
    """Return the one sign ($, %) or unit (kg) that all texts of a column have beside a number, or ""."""
    different = series.dropna().drop_duplicates()
    if infer_dtype(different, skipna=True) not in ("string", "categorical"):
        return ""
    signs: set[str] = set()
    for text in different:
        found = _SIGNED.fullmatch(str(text))
        signs.add("" if found is None else (found["front"] or "") + (found["back"] or ""))
        if len(signs) > 1 or (found and found["front"] and found["back"]):
            return ""
    return signs.pop() if signs else ""


def without_sign(value: object, sign: str) -> object:
    """Return a text without this sign and without commas between thousands; anything else as it is."""
    found = _SIGNED.fullmatch(value) if isinstance(value, str) else None
    if found is None or (found["front"] or "") + (found["back"] or "") != sign:
        return value
    return f"{found[1]}{found[3]}{found[4].replace(',', '')}{found[5]}"


def _may_be_number(text: str) -> bool:
    """Return whether a text begins or ends like a number, perhaps with a sign or unit."""
    return re.match(r" *[-+]?[^\W\d]{0,3}[-+$€£¥ ]*\.?\d", text) is not None


def _format_of(texts: pd.Series, decimal: str | None, thousands: str | None) -> Format | None:
    """Return how all texts write numbers if some have thousands set apart and no other reading is possible."""
    decimals, separators = [decimal] if decimal else [".", ","], [thousands] if thousands else _THOUSANDS
    for sign, apart in product(decimals, separators):
        if sign == apart or not texts.str.contains(apart, regex=False).any():
            continue
        number = rf" *[-+]?(?:\d{{1,3}}(?:{re.escape(apart)}\d{{3}})+|\d+)(?:{re.escape(sign)}\d*)? *"
        if not texts.str.fullmatch(number).all():
            continue
        both = texts.str.contains(sign, regex=False) & texts.str.contains(apart, regex=False)
        if decimal or thousands or apart not in ",." or both.any() or (texts.str.count(re.escape(apart)) > 1).any():
            return Format(sign, apart)
    return None


def _with_point(text: str, written: Format) -> str:
    return text.replace(written.thousands, "").replace(written.decimal, ".").strip()


def _without_letters(text: str) -> str:
    """Return the digits and signs between the first and the last digit."""
    found = re.search(r"\d(?:[^A-Za-z$€£¥%]*\d)?", text)
    return found[0] if found else text


def _rewritten(text: str, written: Format) -> str:
    """Return a number with a sign or unit, written with a decimal point and without thousands."""
    number = _without_letters(text)
    return text.replace(number, _with_point(number, written), 1)


def _replaced(series: pd.Series, new: pd.Series) -> pd.Series:
    """Return the column with each text replaced by its new value, and with gaps for texts that have none."""
    return series.map(new)
