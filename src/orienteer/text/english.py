"""The few English words that questions are built with. Nothing here belongs to any one graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orienteer.text.tokenizer import Tokenizer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _words(
    """a about above after again all also am among an and any anything are as at be because been before being between
    both but by can could did do does doing done during each either else ever every for from further get give gives
    given had has have having he her here hers him his how i if in into is it its itself just kind kinds let like many
    may me might more most much must my no nor not of off on once one ones only or other others our out over own per
    please same shall she should show so some something such than that the their them then there these they thing things
    this those through to too under until up upon us use used using very via was we were what when where whether which
    while who whom whose why will with within without would you your s t d ll re ve"""
)
"""Words that name nothing by themselves."""

ASKING = _words(
    """what which list name find identify tell show give who whom whose recommend suggest describe provide look looking
    search searching seek seeking want"""
)
"""Words after which a question says the kind of answer: `which films ...`."""

COUNTING = (("how", "many"), ("number", "of"), ("count", "of"), ("count", "how"), ("count", "the"))
"""Openings of a question about how many there are."""

SUPERLATIVE = _words("most majority greatest highest largest maximum commonest biggest")
"""Words that ask for the node with the most of something."""

DENYING = _words("is are was were does do did has have can could will would")
"""A question that opens with one of these, and asks for no kind of thing, wants yes or no."""

ENDING = _words(
    """is are was were be been has have had can could may might will would shall should must do does did that who whom
    whose which with for in on at by from to into through under within without when where and or but as it they than
    not also both if while during about via"""
)
"""Words that end the phrase with the kind of answer."""

FILLING = STOP | _words("information details examples list lists")
"""Words that may come between a request and the kind of answer."""

PRONOUNS = _words("one ones it they these those them")
"""Words that stand for a kind of thing named elsewhere in the question."""

INTRODUCING = _words("what who is are was were s tell me us about show describe find give please the a an")
"""Words before a name that ask only for the node of that name: `tell me about ...`."""

DETERMINERS = _words("a an the this that these those its their any some each every all")

JOINING = _words("and or both either as well nor plus the a an")
"""Words that may come between two names in a row: `X and the Y`."""

CLAUSE = _words("and or but that which who whom whose while where when also")
"""Words that end the words next to an anchor (a node that the question names)."""

NO_NAMES = _words("true false yes no i please answer question")
"""Words that are written with a capital and name nothing."""

IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "feet": "foot"}
"""Plurals that no stemmer knows."""

_VERBS = """begin began begun/
bite bit bitten/ blow blew blown/ break broke broken/ bring brought/ build built/ buy bought/
catch caught/ choose chose chosen/ come came/ deal dealt/ draw drew drawn/ drink drank drunk/ drive drove driven/
eat ate eaten/ fall fell fallen/ feel felt/ fight fought/ find found/ fly flew flown/ forget forgot forgotten/
freeze froze frozen/ get got gotten/ give gave given/ go went gone/ grow grew grown/ hide hid hidden/ hold held/
keep kept/ know knew known/ lay laid/ lead led/ leave left/ lend lent/ lie lay lain/ lose lost/ make made/ mean meant/
meet met/ pay paid/ ride rode ridden/ ring rang rung/ rise rose risen/ run ran/ say said/ see saw seen/ sell sold/
send sent/ shake shook shaken/ shine shone/ shoot shot/ show showed shown/ sing sang sung/ sink sank sunk/ sit sat/
sleep slept/ speak spoke spoken/ spend spent/ stand stood/ steal stole stolen/ stick stuck/ strike struck/
swear swore sworn/ sweep swept/ swim swam swum/ take took taken/ teach taught/ tear tore torn/ tell told/
think thought/ throw threw thrown/ understand understood/ wake woke woken/ wear wore worn/ win won/
withdraw withdrew withdrawn/ write wrote written"""
_MEASURES = "deep depth/ high tall height/ long length/ strong strength/ wide width/ broad breadth"
FORMS = {word: group for group in map(_words, f"{_VERBS}/{_MEASURES}".split("/")) for word in group}
"""Forms that no stemmer knows: *wrote* and *written* are one word, as are *deep* and *depth*."""

REQUESTS = _words(
    """explain summarise summarize describe tell show list find know need want looking search question
    answer say says said mean means meaning define defines definition happen happens let please anyone
    somebody someone anybody anything something possible able"""
)
"""Words of English that ask or speak of asking. They count as content only if nothing else does."""

# Stop words are closed classes, a hundred or so words a language.
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
LANGUAGES: Mapping[str, frozenset[str]] = {"en": STOP} | {
    language: _words(text.casefold()) for language, text in _TEXTS.items()
}
"""The stop words of each language, folded as by `Tokenizer.words`, whose first word beyond ASCII takes 10 ms."""


def telling_words(text: str) -> list[str]:
    """Return the content words of a question, in order, with repeats; all its words if they are all stop words.

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
    """Return the stop words of a question's language: the one with the most stop words in it. Empty without any."""
    counts = [len(functions.intersection(words)) for functions in LANGUAGES.values()]
    # English comes first and wins ties. Another language needs two words: *war dates* is not German for its *war*.
    counts[1:] = [count if count > 1 else 0 for count in counts[1:]]
    best = counts.index(max(counts))
    return list(LANGUAGES.values())[best] if counts[best] else frozenset()
