"""Words that carry a question and not its matter: articles, pronouns, prepositions, auxiliaries, words that ask.

They are closed classes, a hundred or so words a language. A question goes by the language of which it has the most;
where that is none, every word of it tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orienteer.text.english import STOP
from orienteer.text.tokenizer import Tokenizer

_REQUESTS = """explain summarise summarize describe tell show list find know need want looking search question
answer say says said mean means meaning define defines definition happen happens let please anyone
somebody someone anybody anything something possible able"""
REQUESTS = frozenset(Tokenizer.words(_REQUESTS))
"""Words of English that ask or speak of asking. They tell something only where nothing else does."""

_TEXTS = {
    "de": """aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dessen
    die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es
    euer für gab gibt hab habe haben hat hatte hatten ich ihm ihn ihr ihre ihrem ihren im in ist ja jede
    jedem jeden jeder jedes kann kein keine können man mein meine mich mir mit muss müssen nach nicht noch
    nur ob oder ohne sein seine seinem seinen seit sich sie sind so soll sollen über um und uns unser unter
    vom von vor wann war waren warum was welche welchem welchen welcher welches wem wen wenn wer werden
    weshalb wessen wie wieso wieviel wieviele wir wird wo wodurch wofür woher wohin womit worden wurde
    wurden zu zum zur zwischen""",
    "fr": """à afin ai ainsi alors après as au aucun aucune auquel aussi autre aux avant avec avez avoir avons c ce ceci
    cela celle celles celui ces cet cette ceux chaque chez comme comment combien d dans de depuis des donc
    dont du elle elles en entre es est et étaient était été être eu eux faire fait faut il ils j je l la
    laquelle le lequel les lesquelles lesquels leur leurs lors lorsque lui m ma mais me mes moi mon n ne ni
    nos notre nous on ont ou où par pas pendant peut peuvent plus pour pourquoi pouvez qu quand que quel
    quelle quelles quels qui quoi s sa sans se selon ses si sont sous sur t ta te tes toi ton tous tout
    toute toutes tu un une vers vos votre vous y""",
    "es": """a al algo alguna algunas alguno algunos ante antes aquel aquella bajo cada como cómo con contra cual cuál
    cuales cuáles cualquier cuando cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos cuántos cuyo
    de del desde donde dónde dos durante e el él ella ellas ellos en entre era eran eres es esa esas ese eso
    esos esta está estaba están estas este esto estos fue fueron ha haber había han hasta hay hace hacer la
    las le les lo los más me mi mis mí muy nada ni no nos nosotros nuestra nuestro o otra otras otro otros
    para pero por porque puede pueden puedo qué que quien quién quienes quiénes se sea según ser si sí sin
    sobre son soy su sus también tan te tengo tiene tienen tu tus un una unas uno unos y ya yo""",
    "it": """a abbia agli ai al alla alle allo anche ancora avere c che chi ci ciò co coi col come con contro cosa cui
    da dagli dai dal dalla dalle dallo degli dei del della delle dello di dopo dov dove due e è ed era erano
    essere fa fra fu furono gli ha hanno hai ho i il in io l la le lei li lo loro lui ma me mi mia mie miei
    mio ne nei nel nella nelle nello no noi non nostra nostro o ogni per perché più può possono prima qual
    quale quali quando quanta quante quanti quanto quel quella quelle quelli quello questa queste questi
    questo qui quindi s sarà se sei senza si sia sono sta su sua sue sugli sui sul sulla sulle sullo suo
    suoi te ti tra tu tua tuo tutti tutto un una uno vi voi""",
    "pt": """a à ao aos aquela aquele as às até com como da das de dela dele delas deles depois do dos durante e é ela
    elas ele eles em entre era eram essa essas esse esses esta está estão estas este estes eu foi foram há
    isso isto já lhe mais mas me meu meus minha muito na nas não nem no nos nós nossa nosso num numa o onde
    os ou para pela pelas pelo pelos pode podem por porque porquê posso qual quais quando quanta quantas
    quanto quantos que quê quem são se seja sem ser seu seus só sob sobre sua suas também te tem têm tenho
    ter teu tu tua um uma umas uns você vocês""",
    "nl": """aan al alle als ben bij daar dan dat de der deze die dit doe doen door dus een en er geen geweest had
    hadden hebben heb heeft hem het hier hij hoe hoeveel hun ik in is je jij jou jouw kan kon kunnen kunt maar me
    met mij mijn moet moeten na naar niet nog nu of om omdat onder ons onze ook op over per te tegen toen
    tot tussen uit uw van veel voor waar waarom waarvoor wanneer waren was wat we welk welke werd werden wie
    wij wordt worden zal ze zich zij zijn zo zonder zou""",
    "sv": """alla allt att av blev blir bli dem den denna dess dessa det detta dig din du då där efter eller en ett från
    för före ha hade han har hans hennes hon honom hos hur här i icke inte jag kan kunde man med mellan men
    mig min mot mycket många när någon något några och om oss på samma sedan sig sin ska skulle som så till
    under upp ut utan vad var varför varit vart vem vems vi vid vilka vilken vilket är än även över""",
    "pl": """a aby albo ale bez być był była było były co czego czemu czy dla do dlaczego gdy gdzie go i ich ile im ja
    jak jaka jakie jaki jakiego jako je jego jej jest jeśli już każdy kiedy kim komu kto która które którego
    której który których którym ma mają mam mi między może można mu my na nad nie nich niej niego o od on
    ona oni ono oraz po pod przed przez przy się są ta tak także tam te tego tej ten to tu tych tym tylko u
    w we wy z za ze że""",
}
_ENGLISH = "en"
_LEAST_FOREIGN = 2
"""Function words of a language other than English that make a question one of it."""


LANGUAGES: Mapping[str, frozenset[str]] = {
    _ENGLISH: STOP,
    **{language: frozenset(text.casefold().split()) for language, text in _TEXTS.items()},
}
"""The words of each language, folded as by `Tokenizer.words`, whose first word beyond ASCII takes 10 ms."""


def telling_words(text: str) -> list[str]:
    """Return the words of a question that tell what it is about, in order, repeats kept; all where none tells.

    >>> telling_words("How do I stop the child process, please?")
    ['stop', 'child', 'process']
    >>> telling_words("Wie lange ist die Werft geschlossen?")
    ['lange', 'werft', 'geschlossen']
    >>> telling_words("who is it")
    ['who', 'is', 'it']
    """
    words = Tokenizer.words(text)
    functions = language_words(words)
    rest = [word for word in words if word not in functions]
    if functions is STOP or not functions:
        rest = [word for word in rest if word not in REQUESTS] or rest
    return rest or words


def language_words(words: Sequence[str]) -> frozenset[str]:
    """Return the function words of the language of which a question has the most; none where it has none.

    Among equals the first language counts, which is English. Another one needs two of its words: *war dates* is not
    German for having a *war*.
    """
    counts = {
        language: count if language == _ENGLISH or count >= _LEAST_FOREIGN else 0
        for language, functions in LANGUAGES.items()
        if (count := len(functions.intersection(words))) >= 0
    }
    language = max(counts, key=lambda name: counts[name])
    return LANGUAGES[language] if counts[language] else frozenset()
