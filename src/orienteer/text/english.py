"""The few English words that questions are built with. Nothing here belongs to any one graph."""

from __future__ import annotations


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
"""Words that may stand between a request and the kind of answer."""

PRONOUNS = _words("one ones it they these those them")
"""Words that stand for a kind of thing named elsewhere in the question."""

INTRODUCING = _words("what who is are was were s tell me us about show describe find give please the a an")
"""Words before a name that ask only for the node of that name: `tell me about ...`."""

DETERMINERS = _words("a an the this that these those its their any some each every all")

JOINING = _words("and or both either as well nor plus the a an")
"""Words that may stand between two names in a row: `X and the Y`."""

CLAUSE = _words("and or but that which who whom whose while where when also")
"""Words that end the words beside an anchor (a node that the question names)."""

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
FORMS = {word: group for group in map(_words, _VERBS.split("/")) for word in group}
"""The forms of verbs that no stemmer knows: *wrote* and *written* are one word."""
