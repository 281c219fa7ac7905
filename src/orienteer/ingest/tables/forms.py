"""The forms of a column's values: numbers with their decimal sign and unit, dates with their order.

All values decide, by their shapes: `12.50 kg` and `99.90 kg` are one, digits made alike. A column has one form or none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from orienteer.ingest.tables.values import LONGEST_NUMBER
from orienteer.text.units import UNITS, measured

_CODES = "CHF EUR USD GBP JPY INR BRL SEK NOK DKK PLN CZK HUF CNY AUD CAD"
CURRENCIES: Mapping[str, str] = {
    **{"円": "jpy", "元": "cny", "원": "krw", "kr": "kr", "Fr": "chf", "Ft": "huf", "lei": "ron"},
    **{"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "₹": "inr", "R$": "brl", "US$": "usd", "zł": "pln", "Kč": "czk"},
    **{code: code.casefold() for code in _CODES.split()},
}
"""Signs of money, which may stand before a number, and the unit that each is."""
MONTHS: Mapping[str, int] = {
    short: number
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    )
    for number, name in enumerate(names.split(), 1)
    for short in (name, name[:3], name[:4])
}
MOST_SHAPES = 3_000
"""Shapes of a column from which on its values are texts."""
LONGEST_SHAPED = 100
"""Characters of values, on average, up to which several are looked at as one text."""
GROUP_SIGNS = " \u00a0\u2009\u202f'’"
"""What may part groups of three digits, besides dot and comma."""
MOST_INFLECTED = 4
"""Words of a column that may be one unit: `den`, `dny`, `dní`."""
MOST_STRANGE, FEWEST_FORMED = 0.1, 3
"""Share of a column's different values that may have another form than the others, and how many those are at least."""
FEWEST_COMPACT = 3
"""Different values of eight digits that are dates if all of them can be."""

_DIGITS = str.maketrans("12345678", "9" * 8)
_GROUPING = {".": str.maketrans("", "", GROUP_SIGNS + ","), ",": str.maketrans("", "", GROUP_SIGNS + ".")}
"""Tables for `str.translate` that remove the signs between groups of digits, by decimal sign."""
_NUMBER = re.compile(
    rf"(?P<open>\()?\s?(?P<sign>[-+−])?\s?(?P<before>[^\W\d_]{{1,3}}\.?|[A-Z]{{0,2}}\$|[^\w\s.,()'’+−-])?\s?(?P<inner>[-+−])?"
    rf"(?P<body>\d[\d.,{GROUP_SIGNS}]*\d|\d|[.,]\d+)(?:[.,][-–—])?(?P<power>[eE][-+]?\d+)?"
    rf"(?P<gap>\s*)(?P<unit>/?[^\W\d_][^\W\d_.]{{0,9}}(?:/[^\W\d_]{{1,5}})?[²³]?\.?|°?[CF]|% ?[^\W\d_]{{1,5}}\.?"
    rf"|[^\w\s.,()'’+−-]{{1,2}})?\s?(?P<behind>-)?(?P<close>\))?"
)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?")
_CLOCK = r"(?:,? (?P<time>\d{1,2}:\d\d(?::\d\d)?)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
_PARTED = re.compile(  # 2.2.2 is a section
    r"(?!\d{1,3}[./-] ?\d{1,2}[./-] ?\d\.?(?:\D|$))(\d{1,4})([./-]) ?(\d{1,2})(?:\2 ?|-(?=\d{4}))(\d{1,4})\.?" + _CLOCK
)
_EASTERN = re.compile(r"(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")
_WORDED = re.compile(
    r"(?:[^\W\d]+, )?"
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th|\.|er|º)?(?: de)?[ -](?P<month>[^\W\d]{3,12})\.?,?(?: de)?[ -]"
    r"(?P<year>\d{4}|\d\d)"
    r"|(?P<month2>[^\W\d]{3,12})\.? (?P<day2>\d{1,2})(?:st|nd|rd|th)?,? (?P<year2>\d{4}))" + _CLOCK
)
THIS_YEAR = 30
"""A year of two digits behind month and day is hardly a later one, but a day: 24/01/31."""
_THIS_CENTURY = 40
"""Years of two digits up to this one are of this century."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """How a column writes numbers."""

    decimal: str = "."
    unit: str = ""
    """As it is written: `kg`, `€`."""
    is_proved: bool = False
    """Some value can be read in no other way."""
    is_open: bool = False
    """Some value, `1,234`, may be thousands or decimals."""

    def read(self, text: str) -> int | float | None:
        """Return the number that a value of the column is, None for a text of another form."""
        found = _NUMBER.fullmatch(text.strip())
        if found is None or not (found["body"].isdigit() or self.decimal in _decimal_signs(found["body"])):
            return None
        before, unit = (found["before"] or "").strip(), found["unit"] or ""
        if (before and not _is_money(before, unit)) or not self._is_own(before + unit):
            return None  # `ca. 5` is no 5, and 5 t are not 5 kg
        digits = found["body"].translate(_GROUPING[self.decimal]).replace(",", ".")
        try:
            number = float(digits + (found["power"] or "")) if found["power"] or "." in digits else int(digits)
        except ValueError:
            return None
        if len(digits) > LONGEST_NUMBER or not math.isfinite(number):
            return None
        is_negative = found["open"] or found["behind"] or {found["sign"], found["inner"]} & {"-", "−"}
        return -number if is_negative else number

    def _is_own(self, unit: str) -> bool:
        """Return whether a value in this unit fits the column; a column without a unit takes any."""
        own, other = self.unit_word, Numbers(unit=unit).unit_word
        return unit == self.unit or own == other or not own or not other or len(_as_one(Counter((own, other)))) == 1

    @property
    def unit_word(self) -> str:
        """Return the unit as a word for a property's name: `eur` of `€`, `eur_per_h` of `€/h`; empty without a unit."""
        unit = self.unit.rstrip(".")
        money, _, each = unit.partition("/")
        if money in CURRENCIES:
            return f"{CURRENCIES[money]}_per_{each.casefold()}" if each else CURRENCIES[money]
        known = measured(f"1 {unit}") if unit else None
        return known[1] if known is not None else unit.casefold() if unit.replace("_", "").isalpha() else ""


@dataclass(frozen=True, slots=True)
class Dates:
    """How a column writes dates: `iso`, `y/m/d`, `d/m/y`, `m/d/y`, `yyyymmdd`, or `in words`."""

    order: str = "iso"
    is_proved: bool = False
    """Some value can be read in no other way."""
    is_open: bool = False
    """No value tells day from month."""

    def read(self, text: str) -> str | None:
        """Return a value of the column as ISO 8601 has it, None for a text of another form."""
        text = _western(text.strip())
        try:
            if iso := _ISO.fullmatch(text):
                return text if date(*map(int, iso.groups())) else None
            if self.order == "yyyymmdd":
                return date(int(text[:4]), int(text[4:6]), int(text[6:])).isoformat()
            is_worded = self.order == "in words"
            found = (_WORDED if is_worded else _PARTED).fullmatch(text)
            if found is None:
                return None
            if is_worded:
                year, month, day = (found[name] or found[f"{name}2"] for name in ("year", "month", "day"))
                month = str(MONTHS[month.casefold()])
            else:
                parts = dict(zip(self.order.split("/"), (found[1], found[3], found[4]), strict=True))
                year, month, day = parts["y"], parts["m"], parts["d"]
            written = date(_whole_year(year), int(month), int(day)).isoformat()
            return f"{written}T{_clock(found['time'], found['half'])}" if found["time"] else written
        except (ValueError, KeyError):
            return None


Form: TypeAlias = Numbers | Dates


def shape(value: str) -> str:
    """Return a value with its digits made alike, but for noughts at its head: `99.99 kg` of `12.50 kg`."""
    alike = value.translate(_DIGITS).replace("0", "9")
    return f"0{alike[1:]}" if value[:1] == "0" else alike


def shapes_of(values: Sequence[str]) -> Sequence[str]:
    """Return the shape of each value, of all at once unless one is long or has lines."""
    if sum(map(len, values)) > LONGEST_SHAPED * len(values):
        return list(map(shape, values))
    text = "".join(f"\n{value}" for value in values)
    if text.count("\n") > len(values) or "\0" in text:
        return list(map(shape, values))
    alike = text.translate(_DIGITS).replace("\n0", "\n\0").replace("0", "9").replace("\0", "0")
    return alike.split("\n")[1:]


def form_of(
    shapes: Mapping[str, int], values: Collection[str], *, decimal: str = "", order: str = ""
) -> tuple[Form | None, frozenset[str]]:
    """Return the form of all or most values, and the values of another form; None and an empty set for texts.

    `decimal` and `order` are those of the table's other columns, where these values prove none.
    """
    form: Form | None = dates_of(shapes, values, order) or numbers_of(shapes, decimal)
    own = values if form is not None else _majority(shapes, values)
    if not own:
        return None, frozenset()
    if form is None:
        shapes = Counter(map(shape, own))
        form = dates_of(shapes, own, order) or numbers_of(shapes, decimal) or _of_most(shapes)
    if isinstance(form, Numbers):
        unread = {one for one in shapes if form.read(one) is None}  # too long for a number
        own = [value for value in own if shape(value) not in unread] if unread else own
    elif form is not None:
        own = [value for value in own if form.read(value) is not None]
    others = frozenset(values).difference(own) if len(own) < len(values) else frozenset()
    is_most = len(others) <= 1 + MOST_STRANGE * len(values) and (not others or len(own) >= FEWEST_FORMED)
    return (form, others) if is_most else (None, frozenset())


def _majority(shapes: Mapping[str, int], values: Collection[str]) -> Collection[str]:
    """Return the values that are numbers of one unit, or dates, if most values are; nothing otherwise."""
    kinds, counts = dict[str, str](), Counter[str]()
    for one, count in shapes.items():
        western, numbers = _western(one.strip()), numbers_of({one: 1})
        if any(form.fullmatch(western) is not None for form in (_ISO, _PARTED, _WORDED)):
            kinds[one] = "date"
        elif numbers is None:
            kinds[one] = ""
        else:
            kinds[one] = f"number {'' if numbers.unit in CURRENCIES else numbers.unit_word}"
        counts[kinds[one]] += count
    del counts[""]
    best, count = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    if len(values) - count > 1 + MOST_STRANGE * len(values):
        return ()
    return [value for value in values if kinds[shape(value)] == best]


def numbers_of(shapes: Mapping[str, int], decimal: str = "") -> Numbers | None:
    """Return how values of these shapes are numbers, or None if some are not.

    `decimal` is the sign of the table's other columns, for a column that proves none.
    """
    units = Counter[str]()
    proofs: set[str] = set()
    unsure: set[str] = set()
    longest = 0
    is_doubtful = False
    for one in shapes:
        found = _NUMBER.fullmatch(one)
        if found is None or bool(found["open"]) != bool(found["close"]):
            return None
        before, unit = (found["before"] or "").strip(), found["unit"] or ""
        if not _is_money(before, unit) if before else not _is_unit(unit, is_glued=not found["gap"]):
            if before or not found["gap"] or len(unit) < len("DM"):
                return None
            is_doubtful = True  # the end of a code, unless some number has decimals
        signs = _decimal_signs(found["body"])
        if not signs:
            return None
        if len(signs) == 1:
            proofs |= signs
        elif found["body"].isdigit():
            longest = max(longest, len(found["body"]))
        else:
            unsure |= signs & set(found["body"])
        units[before + unit] += 1
    named = _as_one(units)
    is_mixed = len(named) > 1 or (bool(named) and "" in units and not named <= CURRENCIES.keys())
    if len(proofs) > 1 or is_mixed or (is_doubtful and not proofs):
        return None
    is_open = bool(unsure) and not proofs and not decimal
    sign = next(iter(proofs), "") or decimal or "."
    if is_open and len(unsure) == 1 and longest:
        # Beside 843, 1.247 has a thousand; where 1247 is written plainly it has decimals.
        grouping = unsure.pop()
        sign = grouping if longest > len("999") else "," if grouping == "." else "."
    return Numbers(sign, next(iter(named), ""), bool(proofs), is_open)


def _of_most(shapes: Mapping[str, int]) -> Numbers | None:
    """Return how most numbers are written where some have the other decimal sign: `1,60` among `0.40` and `3.00`."""
    signs = {one: found.decimal for one in shapes if (found := numbers_of({one: 1})) is not None and found.is_proved}
    counts = Counter[str]()
    for one, sign in signs.items():
        counts[sign] += shapes[one]
    best = max(counts, key=lambda sign: (counts[sign], sign), default="")
    return numbers_of({one: count for one, count in shapes.items() if signs.get(one, best) == best}) if best else None


def are_unlike(values: Iterable[str]) -> bool:
    """Return whether all values are numbers, but with two decimal signs or in two currencies."""
    found = [numbers_of({one: 1}) for one in set(map(shape, values))]
    signs = {one.decimal for one in found if one is not None and one.is_proved}
    units = {one.unit_word for one in found if one is not None and one.unit in CURRENCIES}
    return None not in found and max(len(signs), len(units)) > 1


def _as_one(units: Counter[str]) -> set[str]:
    """Return the different units among some; `1 day` and `3 days`, `1 den` and `3 dny` have one."""
    named = sorted(filter(None, units), key=lambda unit: (-units[unit], unit))
    words = [unit for unit in named if unit.isalpha() and unit.islower()]
    if len(words) < len(named) or not 1 < len(named) <= MOST_INFLECTED:
        return set(named)
    sizes = {UNITS.get(word, UNITS.get(word.removesuffix("s"))) for word in words}
    is_one = len(sizes) == 1 and (None not in sizes or len({word[0] for word in words}) == 1)
    return {named[0]} if is_one else set(named)


def dates_of(shapes: Mapping[str, int], values: Collection[str], order: str = "") -> Dates | None:
    """Return how values are dates, or None if some are not, but for a few days that no month has.

    `order` is that of the table's other dates, for a column in which no day is over 12.
    """
    if any(_western(one) != one for one in shapes):
        shapes, values = {_western(one): count for one, count in shapes.items()}, list(map(_western, values))
    form = _dates_of(shapes, values, order)
    is_read = form is not None and sum(form.read(value) is None for value in values) <= 1 + MOST_STRANGE * len(values)
    return form if is_read else None


def _dates_of(shapes: Mapping[str, int], values: Collection[str], order: str) -> Dates | None:
    rest = {one: count for one, count in shapes.items() if not _ISO.fullmatch(one)}
    if not rest:
        return Dates("iso")
    if len(rest) < len(shapes):  # a spreadsheet's own dates next to typed ones
        typed = [value for value in values if not _ISO.fullmatch(value.strip())]
        form, own = dates_of(rest, typed, order), len(values) - len(typed)
        is_lone = own >= FEWEST_FORMED and len(typed) <= 1 + MOST_STRANGE * len(values)
        return Dates("iso", is_open=True) if form is not None and form.is_open and is_lone else form
    if len(values) >= FEWEST_COMPACT and set(shapes) == {"99999999"}:
        return Dates("yyyymmdd", is_proved=True) if all("1850" < value[:4] < "2100" for value in values) else None
    if all(map(_WORDED.fullmatch, shapes)):
        return Dates("in words", is_proved=True)
    if not all(map(_PARTED.fullmatch, shapes)):
        return None
    parts = [found for value in values if (found := _PARTED.fullmatch(value.strip())) is not None]
    if all(len(found[1]) == len("2001") for found in parts):
        return Dates("y/m/d", is_proved=True)
    if any(len(found[1]) > len("31") for found in parts):
        return None
    first, second = (max(int(found[place]) for found in parts) for place in (1, 3))
    is_dotted = all(found[2] == "." for found in parts)  # nobody writes the month first with dots
    latest = max((int(found[4]) for found in parts if len(found[4]) == len("26")), default=0)
    if second <= 12 and THIS_YEAR < latest <= 31:
        return Dates("y/m/d", is_proved=True)
    if first > 12 or second > 12 or is_dotted:
        return Dates("m/d/y" if second > 12 else "d/m/y", is_proved=True)
    return Dates(order or "m/d/y", is_open=not order)


def _is_money(sign: str, unit: str) -> bool:
    """Return whether a sign before a number is one of money: `$28.50`, `$28.50/h`."""
    return sign in CURRENCIES and (not unit or unit.startswith("/"))


def _is_unit(unit: str, *, is_glued: bool) -> bool:
    """Return whether the text after a number is its unit, and not the end of a code or an address."""
    if not unit or unit in CURRENCIES or measured(f"1{'' if is_glued else ' '}{unit}") is not None:
        return True
    has_cases = unit.lower() != unit.upper()  # Japanese has none, and no blank before a unit
    return not unit[:1].isalpha() or not has_cases or (not is_glued and unit == unit.casefold())


def _decimal_signs(body: str) -> set[str]:
    """Return the possible decimal signs of a number: both if it has no decimals, none if it is not a number."""
    grouped = re.split(f"[{GROUP_SIGNS}]", body)
    if len(grouped) > 1:
        last, sign, _ = grouped[-1].partition("." if "." in grouped[-1] else ",")
        return ({sign} if sign else {".", ","}) if _are_groups([*grouped[:-1], last]) else set()
    dots, commas = body.count("."), body.count(",")
    if not dots and not commas:
        return {".", ","}
    if dots and commas:
        decimal, other = (".", ",") if body.rfind(".") > body.rfind(",") else (",", ".")
        return {decimal} if body.count(decimal) == 1 and _are_groups(body.split(decimal)[0].split(other)) else set()
    sign, other = (".", ",") if dots else (",", ".")
    groups = body.split(sign)
    if len(groups) > 2:
        return {other} if _are_groups(groups) else set()
    return {".", ","} if _are_groups(groups) and groups[0][0] != "0" else {sign}


def _are_groups(groups: list[str]) -> bool:
    first, *rest = groups
    return first.isdigit() and len(first) <= 3 and all(len(group) == 3 and group.isdigit() for group in rest)


def _western(text: str) -> str:
    """Return `2024-3-5` for `2024年3月5日`, and other texts as they are."""
    return _EASTERN.sub(r"\1-\2-\3", text) if "月" in text or "월" in text else text


def _whole_year(year: str) -> int:
    if len(year) > 2:
        return int(year)
    return int(year) + (2000 if int(year) <= _THIS_CENTURY else 1900)


def _clock(time: str, half: str | None) -> str:
    """Return a time of day as ISO 8601 has it; `half` is the letter of am or pm."""
    hour, _, rest = time.partition(":")
    whole = int(hour) % 12 + (12 if half.casefold() == "p" else 0) if half else int(hour)
    if whole > 23:
        raise ValueError(time)
    return f"{whole:02}:{rest}"
