"""Numbers in texts: as digits, and spelled out in the languages whose stop words are known."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby

from orienteer.text.english import LANGUAGES, language_words
from orienteer.text.tokenizer import Tokenizer

# By language the words for 0 to 20, for 30, 40, ... 90, for 100 and 1,000; other forms of one follow a slash.
_WORDS = {
    "en": """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand""",
    "de": """null eins/ein/eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
    sechzehn siebzehn achtzehn neunzehn zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig hundert
    tausend""",
    "fr": """zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept
    dix-huit dix-neuf vingt/vingts trente quarante cinquante soixante septante huitante/octante nonante cent/cents
    mille""",
    "es": """cero uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
    diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien/ciento
    mil""",
    "it": """zero uno/una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici
    sedici diciassette diciotto diciannove venti trenta quaranta cinquanta sessanta
    settanta ottanta novanta cento mille/mila""",
    "pt": """zero um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze
    dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove vinte trinta quarenta cinquenta sessenta setenta
    oitenta noventa cem/cento mil""",
    "nl": """nul één/een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien
    zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig tachtig negentig honderd duizend""",
    "sv": """noll ett/en två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton
    nitton tjugo trettio fyrtio femtio sextio sjuttio åttio nittio hundra tusen""",
    "pl": """zero jeden/jedna/jedno dwa/dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście
    trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście dwadzieścia trzydzieści
    czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt sto tysiąc/tysiące""",
}
_VALUES = (*range(21), *range(30, 100, 10), 100, 1000)
_DIGITS = re.compile(r"(?<!\w)\d+(?:[.,:'’]\d+)*")
_SPACED = re.compile(r"(?<!\w)\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # 12 400
_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")


def numbers_in(text: str, *, spaced: bool = False) -> set[str]:
    """Return the numbers that a text has in digits, each in one form: without thousands' marks and leading zeros.

    >>> sorted(numbers_in("12,400 crowns on 2021-05-03 at 09:30, M1 and version 3.40.1"))
    ['12400', '2021', '3', '3.40.1', '5', '9:30']

    With `spaced` a space may part the thousands.
    """
    text = unicodedata.normalize("NFKC", _SPACED.sub(lambda run: "".join(run[0].split()), text) if spaced else text)
    plain = (_THOUSANDS.sub("", match[0]).replace(",", ".") for match in _DIGITS.finditer(text))
    return {re.sub(r"^0+(?=\d)", "", number) for number in plain}


def spelled_numbers(text: str, *others: str) -> set[str]:
    """Return the numbers from 2 that a text spells out, in its language or those of other texts.

    A word is given in digits, several in a row as they are written.

    >>> sorted(spelled_numbers("It takes two hours and twenty-five minutes"))
    ['2', 'twenty five']
    >>> spelled_numbers("Le quai a dix bornes")
    {'10'}
    """
    words, found = Tokenizer.words(text), set[str]()
    for functions in {language_words(Tokenizer.words(part)) for part in (text, *others)}:
        language = next((name for name, own in LANGUAGES.items() if own is functions), "en")
        values = _values(language)
        for is_number, run in groupby(words, values.__contains__):
            if is_number:
                number = list(run)
                found.add(str(values[number[0]]) if len(number) == 1 else " ".join(number))
    return found - {"0", "1"}


@cache
def _values(language: str) -> dict[str, int]:
    forms = zip(_WORDS[language].split(), _VALUES, strict=True)
    return {form: value for own, value in forms for form in own.split("/") if "-" not in form}  # dix-sept is two
