"""Words of English that say the same of things in any graph: of relations, of kinds of things, of properties.

A person asks `who makes X` where an edge type is called `brewed_by`, and for `ports` where a node type is called
`harbour`. The groups below join such words. They are general English: no word was put in for a graph.
They are few, and no ontology. A word that stands in several groups may mean each of them, and a reading that rests
on a group costs more than one that rests on the schema's own words. What is missing here is refused, never guessed;
where it is to be understood, the graph's schema can say so (`also_called`).
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _groups(text: str) -> tuple[frozenset[str], ...]:
    return tuple(_words(group) for group in text.split(","))


RELATIONS = _groups(
    """
    make made makes making produce brew manufacture create build built develop design invent construct craft maker
    producer creator builder architect designer developer inventor author,
    write wrote written author pen compose writer composer composition,
    locate located situated lie lies sit sits based stand stands location where headquartered home house housed belong
    find found,
    supervise advise mentor direct lead led head oversee manage boss advisor supervisor director leader chief
    manager run runs,
    teach taught teacher instruct train trainer tutor lecturer lecture professor give gave,
    study studied student attend pupil learn alumnus alumni graduate alma go went gone,
    found founded founder establish established start started,
    own owned owner owns possess proprietor operate operated operator run runs belong fleet,
    employ employer employee work works worked staff job hire,
    assign assignment job,
    direct director direction helm shoot shot make made,
    act actor actress appear appearance star cast role,
    write wrote written script screenplay screenwriter,
    enrol enroll enrolment enrollment sign signed register take taking attend study student,
    screen screening show shown run,
    film filmed shoot shot make made,
    set setting take,
    live home hail come,
    paint painter paintings artist,
    depict show portray picture feature,
    display exhibit show hang hold house see,
    lend lent loan lender,
    drive driver driven wheel,
    deliver carry carrier haul transport ship,
    member belong join play serve sing enrol compete crew employ,
    hold held host stage house place venue occur happen,
    premiere debut first,
    born birth birthplace native hail,
    die died death,
    score call need require use include write written ask demand,
    conduct conductor direct director maestro baton,
    dedicate dedicatee honour honor,
    garage keep kept store stored park parked house housed station,
    order purchase buy place,
    treat cure remedy therapy medicine against for,
    associate associated implicate implicated link linked relate related connect connected tie tied involve involved
    for,
    cause lead trigger induce provoke effect,
    bind target attach,
    regulate control,
    interact interaction,
    resemble similar like alike,
    maintain maintainer keep care,
    contain include hold comprise consist member part belong,
    depend need require dependency requirement rely,
    recommend advise suggest,
    win won award prize receive get winner laureate recipient earn,
    influence inspire shape,
    use used employ apply utilize with,
    border adjoin neighbour neighbor adjacent next,
    marry married spouse wife husband,
    child children son daughter offspring kid,
    parent father mother,
    visit call stop dock berth moor,
    sail ply serve service,
    carry transport ship haul load,
    observe watch record monitor measure detect discover spot find found see seen discovery,
    publish publisher issue release released,
    collaborate cooperate partner team collaboration,
    supply provide deliver furnish supplier provider,
    look care support serve represent manage responsible handle account manager rep representative agent assistant,
    depend use import require include,
    inherit extend derive,
    express expression,
    present presentation symptom show sign,
    play perform star act actor performer cast,
    sell sold vendor seller,
    buy bought buyer acquire purchase order,
    fund finance sponsor pay donor backer,
    live reside dwell resident inhabitant home,
    follow succeed successor next after,
    precede predecessor before previous,
    opposite antonym contrary reverse,
    synonym equivalent,
    kind type sort form variety hyponym subtype subclass child children descendant narrower subcategory,
    hypernym superclass supertype broader parent category ancestor,
    implement implementation,
    support feature offer,
    instrument equip fit mount install carry,
    repair fix service maintain,
    register flag registered
    """
)
"""Words of one group may stand for one another where an edge type's label holds one of them."""

CONVERSES = tuple(
    (_words(one), _words(other))
    for one, other in (
        (
            "study studied student learn pupil apprentice disciple alumnus attend train under",
            "teach taught teacher instruct instructor tutor trainer coach educate mentor lesson professor",
        ),
        (
            "report answer subordinate underling",
            "manage manager supervise supervisor boss lead leader head oversee direct chief",
        ),
        ("mentee protege trainee intern", "mentor trainer coach"),
        ("child children son daughter offspring kid", "parent father mother"),
        ("follow succeed successor after", "precede predecessor before"),
        ("sell sold vendor seller", "buy bought buyer acquire purchase"),
        ("give gave given bestow confer present honour honor", "win won receive get recipient laureate"),
        (
            "kind type sort form variety hyponym subtype subclass child children descendant narrower subcategory",
            "hypernym superclass supertype broader parent category ancestor",
        ),
    )
)
"""Words of the one group say from the other end what those of the other say: who teaches others is whom they study
under."""

DEEDS = _groups(
    """
    buy purchase order sell acquire sale invoice transaction receipt,
    pay spend payment invoice bill receipt,
    book reserve booking reservation,
    rent hire rental lease,
    borrow lend loan,
    attend enrol enroll register enrolment enrollment registration attendance,
    play sing perform record track song recording performance album concert,
    play compete match game fixture,
    score goal,
    deliver ship send delivery shipment consignment,
    treat heal treatment therapy,
    diagnose diagnosis,
    examine test examination test,
    fly travel flight trip journey,
    teach study course class lesson,
    screen show screening showing,
    donate give gave donation gift,
    repair maintain fix service repair maintenance,
    plant grow planting,
    vote elect vote election
    """
)
"""Verbs with nouns for what stands for their deeds: who bought something has an invoice of it."""

IS_A = frozenset(
    ["is a", "isa", "is an", "a kind of", "type of", "kind of", "subclass of", "sub class of", "subtype of"]
)
"""Labels of edges from a kind to the wider one that it is of; words for kinds are said of them."""

LIGHT_VERBS = _words(
    """
    belong involve feature run go come get handle keep put place hold include appear assign concern cover contain find
    take host work serve ask
    """
)
"""Verbs that say no more than that there is a relation, where there is only one."""

ROLES = _words("head lead boss chief chair captain coach parent mother father spouse wife husband king queen host")
"""Words for the part that somebody plays that have no ending of such."""
NO_ROLES = _words(
    "member number paper order water river cover layer center centre parameter chapter letter character other"
    " color colour factor sector error mirror floor door indoor border component content event patent"
    " restaurant elephant giant accident incident ingredient component continent tower chamber flower weather winter"
    " computer printer container server folder poster cancer beer timber"
    " constant variant quadrant plant under over after per ever"
)
"""Words with such an ending that are none."""

MAKERS = _words(
    "artist author writer creator maker designer composer director painter architect builder founder inventor developer"
    " publisher editor translator photographer sculptor producer discoverer"
)
"""Parts that somebody plays who made a thing, and need not have it."""

TYPES = _groups(
    """
    drug medicine medication compound chemical substance pharmaceutical,
    disease illness disorder condition ailment sickness,
    person people man woman human individual somebody someone anybody anyone,
    company firm organization organisation business corporation enterprise institution,
    city town place location settlement municipality,
    country nation state,
    ship vessel boat,
    harbour harbor port,
    anatomy tissue organ,
    book volume title publication,
    film movie picture flick,
    author writer,
    paper article publication,
    airport airfield,
    shop store,
    car automobile vehicle,
    adj adjective,
    adv adverb,
    worker employee staff,
    programme program software application,
    award prize,
    college university school,
    hall venue auditorium theatre theater cinema,
    course class module,
    student pupil,
    lecturer teacher professor instructor,
    artwork painting picture work piece,
    artist painter,
    exhibition show exhibit,
    customer client,
    carrier courier shipper haulier,
    studio company,
    work piece composition opus,
    orchestra ensemble band group,
    item good product article,
    site building premises property,
    vehicle van truck lorry,
    worker labourer colleague
    """
)
"""Words of one group may stand for one another where a node type is called by one of them."""

PROPERTIES = _groups(
    """
    born birth birthday birthdate,
    price cost,
    salary wage pay earnings income,
    founded foundation founding established establishment,
    opened opening,
    launched launch launching,
    height elevation tallness,
    mass weight heaviness,
    depth deepness draught,
    length longness,
    colour color painted coloured,
    speed velocity,
    employees staff workforce headcount,
    country nation,
    population inhabitants,
    built construction completed,
    released release,
    died death,
    seats seat seating capacity,
    duration runtime running,
    bought buy purchase purchased acquired,
    started start began begin,
    ended end finished finish,
    delivered delivery arrived,
    area size,
    gross earnings takings revenue,
    rating score rated scored,
    language speak spoken,
    gpa grade,
    medium material,
    listed protected
    """
)
"""Words of one group may stand for one another where a property is called by one of them."""

PEOPLE = _words(
    """
    person people human employee worker staff author writer actor actress director astronomer captain scientist player
    student teacher doctor patient user customer member researcher engineer artist musician singer politician designer
    founder individual athlete driver pilot lecturer professor composer conductor
    nurse lawyer journalist character man woman
    """
)
"""What node types of people are called: whom `who` asks for."""

ORGANISATIONS = _words(
    """
    company firm organization organisation business corporation enterprise institution studio university college school
    team club band orchestra ensemble bank agency government ministry museum hospital brewery airline publisher label
    society association union party foundation laboratory lab institute council committee shop store factory workshop
    country state city town department
    """
)
"""What node types of those are called who do things as people do: a company owns ships."""

PLACES = _words(
    """
    place location site area region country state county province district parish city town village capital continent
    island port harbour harbor coast bay sea lake river mountain range building room hall venue stadium theatre theater
    station airport street road address ward floor house castle church library gallery observatory campus zone shelf
    locality tissue anatomy body organ cell component compartment
    """
)
"""What node types of places are called."""

SYMMETRIC = _words(
    """
    resemble similar interact covary sibling marry spouse adjacent neighbour neighbor border collaborate connect
    relate opposite antonym synonym equivalent partner coauthor twin
    """
)
"""Verbs and nouns that say the same both ways."""

_FORMS = """
bind bound, build built, write wrote written, make made, find found, lead led, hold held, teach taught, sell sold,
keep kept, grow grew grown, give gave given, take took taken, win won, wear wore worn, drive drove driven, fly
flew flown, sing sang sung, draw drew drawn, know knew known, show showed shown, see saw seen, begin began begun,
speak spoke spoken, choose chose chosen, fight fought, catch caught, bring brought, buy bought, meet met, run ran,
sit sat, stand stood, bear bore born, break broke broken, send sent, spend spent, lose lost, think thought, feed
fed, breed bred, lay laid, lie lay lain, swim swam swum, steal stole stolen, shoot shot, strike struck, throw
threw thrown, become became, come came, get got gotten, eat ate eaten, go went gone, lend lent,
drink drank drunk, say said, tell told, pay
paid, rise rose risen, fall fell fallen
"""
IRREGULAR_VERBS: Mapping[str, str] = {
    form: verb for verb, *forms in (group.split() for group in _FORMS.split(",")) for form in forms
}
"""By form, the verb that it is of."""
