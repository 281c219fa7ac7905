/** What the page says, in every language it speaks. A further language is a further table with the same names. */

const ENGLISH = {
  language: "Language",
  skip: "Skip to the question",
  graph: "Graph",
  theme: "Switch between light and dark",
  size: "{nodes} nodes, {edges} edges",
  model: "model: {name}",
  noModel: "no model: answers are ranked evidence",
  noModelHow:
    "No model is set, so the answer is read off the graph. Start the server with --model to have one write answers.",
  evidence: "Evidence",
  askingSection: "Question and evidence",
  question: "Question",
  placeholder: "Ask this graph a question",
  method: "Method",
  type: "Type",
  any: "any",
  ask: "Ask",
  stop: "Stop",
  stopped: "Stopped.",
  holds: "This graph holds",
  andMore: "and {n} more type|and {n} more types",
  tryThese: "Try one of these",
  saidAbout: "What is said about {name}?",
  stale: "Its sources have changed since it was made.",
  notRead: "{n} file of the sources was not read|{n} files of the sources were not read",
  askedAs: "asked as",
  readAs: "read as",
  editReading: "Edit",
  readingLabel: "How the question is to be read",
  askReading: "Ask this",
  cancel: "Cancel",
  noExact: "No exact answer: {text}",
  unknownWords: "Not in this graph: {words}",
  didYouMean: "Did you mean",
  answer: "Answer",
  reasoning: "How it follows",
  meeting: "{n} node meets all of it|{n} nodes meet all of it",
  allListed: "all are listed",
  firstListed: "the first {n} are listed",
  nothingMeets: "Nothing meets all of it.",
  nearby: "Nearby: these meet some of it",
  nothing: "Nothing was found. Try other words, or another type.",
  steps: "Steps ({n})",
  agent: "agent {n}",
  hits: "Hits",
  found: "{n} hit|{n} hits",
  votes: "{n} vote|{n} votes",
  alike: "{n} more says nearly the same|{n} more say nearly the same",
  open: "Open at its place",
  more: "{n} more",
  page: "page",
  rows: "data row",
  narrow: "Narrow down",
  types: "Types",
  otherValues: "{n} other value|{n} other values",
  without: "{n} without",
  removeFilter: "Remove the filter {text}",
  filters: "Filters",
  share: "Copy link",
  shared: "Link copied",
  shareHere: "Copy this link",
  saveHits: "Hits as CSV",
  good: "This was a good answer",
  bad: "This was a bad answer",
  thanks: "Noted, thank you.",
  spentCalls: "{n} call|{n} calls",
  spentTokens: "{n} token|{n} tokens",
  endedBy: "ended by {what}",
  earlier: "Earlier questions ({n})",
  forget: "Forget them",
  again: "Ask again",
  kept: "Kept from {when}; the graph may have changed since.",
  fit: "Fit",
  clear: "Clear",
  labels: "Edge names",
  savePicture: "Save picture",
  drawn: "{nodes} nodes, {edges} edges",
  noMore: "no more are drawn",
  leftOut: "some edges are left out",
  emptyPicture: "The evidence is drawn here: what was found, and the way that leads to it.",
  noWebgl: "This browser has no WebGL: the evidence is listed, not drawn.",
  canvas: "The evidence as a graph; the same nodes are listed below it",
  nodeList: "Nodes of the picture",
  legend: "Node types",
  nodePanel: "Node",
  close: "Close",
  loading: "Loading",
  copyId: "Copy the id",
  copied: "Copied",
  aliases: "Also called",
  source: "Source",
  neighbours: "{n} neighbour|{n} neighbours",
  shownOf: "{n} of {all}",
  askAbout: "Ask about it",
  key: "This server asks for a key",
  keyHint: "It is kept for this tab alone.",
  enter: "Enter",
  wrongKey: "This key does not fit.",
  unreachable: "The server cannot be reached. Is it still running?",
  cutOff: "The server broke off before the end.",
  retry: "Try again in {n} s.",
  noGraphs: "This server has no graph.",
  making: "This graph is still being made",
  doneOf: "{n} of {all}",
  secondsLeft: "about {n} s left",
};

export type TextName = keyof typeof ENGLISH;

const GERMAN: Record<TextName, string> = {
  language: "Sprache",
  skip: "Zur Frage springen",
  graph: "Graph",
  theme: "Zwischen hell und dunkel wechseln",
  size: "{nodes} Knoten, {edges} Kanten",
  model: "Modell: {name}",
  noModel: "kein Modell: Antworten sind geordnete Belege",
  noModelHow:
    "Es ist kein Modell eingestellt, also wird die Antwort aus dem Graphen gelesen. Mit --model gestartet, schreibt der Server Antworten.",
  evidence: "Belege",
  askingSection: "Frage und Belege",
  question: "Frage",
  placeholder: "Den Graphen etwas fragen",
  method: "Verfahren",
  type: "Art",
  any: "alle",
  ask: "Fragen",
  stop: "Anhalten",
  stopped: "Angehalten.",
  holds: "Dieser Graph enthält",
  andMore: "und {n} weitere Art|und {n} weitere Arten",
  tryThese: "Zum Ausprobieren",
  saidAbout: "Was steht über {name} darin?",
  stale: "Seine Quellen haben sich seither geändert.",
  notRead: "{n} Datei der Quellen wurde nicht gelesen|{n} Dateien der Quellen wurden nicht gelesen",
  askedAs: "gefragt als",
  readAs: "gelesen als",
  editReading: "Ändern",
  readingLabel: "Wie die Frage zu lesen ist",
  askReading: "So fragen",
  cancel: "Abbrechen",
  noExact: "Keine genaue Antwort: {text}",
  unknownWords: "Nicht in diesem Graphen: {words}",
  didYouMean: "Gemeint war vielleicht",
  answer: "Antwort",
  reasoning: "Wie sie folgt",
  meeting: "{n} Knoten erfüllt alles|{n} Knoten erfüllen alles",
  allListed: "alle sind aufgeführt",
  firstListed: "die ersten {n} sind aufgeführt",
  nothingMeets: "Nichts erfüllt alles.",
  nearby: "In der Nähe: erfüllt einen Teil",
  nothing: "Nichts gefunden. Andere Wörter versuchen oder eine andere Art.",
  steps: "Schritte ({n})",
  agent: "Agent {n}",
  hits: "Treffer",
  found: "{n} Treffer|{n} Treffer",
  votes: "{n} Stimme|{n} Stimmen",
  alike: "{n} weitere Stelle sagt fast dasselbe|{n} weitere Stellen sagen fast dasselbe",
  open: "An der Stelle öffnen",
  more: "{n} weitere",
  page: "Seite",
  rows: "Datenzeile",
  narrow: "Eingrenzen",
  types: "Arten",
  otherValues: "{n} anderer Wert|{n} andere Werte",
  without: "{n} ohne",
  removeFilter: "Den Filter {text} entfernen",
  filters: "Filter",
  share: "Link kopieren",
  shared: "Link kopiert",
  shareHere: "Diesen Link kopieren",
  saveHits: "Treffer als CSV",
  good: "Das war eine gute Antwort",
  bad: "Das war eine schlechte Antwort",
  thanks: "Vermerkt, danke.",
  spentCalls: "{n} Aufruf|{n} Aufrufe",
  spentTokens: "{n} Token|{n} Token",
  endedBy: "beendet durch {what}",
  earlier: "Frühere Fragen ({n})",
  forget: "Vergessen",
  again: "Noch einmal fragen",
  kept: "Aufgehoben von {when}; der Graph kann sich seither geändert haben.",
  fit: "Einpassen",
  clear: "Leeren",
  labels: "Kantennamen",
  savePicture: "Bild sichern",
  drawn: "{nodes} Knoten, {edges} Kanten",
  noMore: "mehr werden nicht gezeichnet",
  leftOut: "einige Kanten fehlen",
  emptyPicture: "Hier werden die Belege gezeichnet: was gefunden wurde und der Weg dorthin.",
  noWebgl: "Dieser Browser hat kein WebGL: die Belege sind aufgeführt, nicht gezeichnet.",
  canvas: "Die Belege als Graph; darunter stehen dieselben Knoten als Liste",
  nodeList: "Knoten des Bildes",
  legend: "Arten von Knoten",
  nodePanel: "Knoten",
  close: "Schließen",
  loading: "Lädt",
  copyId: "Kennung kopieren",
  copied: "Kopiert",
  aliases: "Auch genannt",
  source: "Quelle",
  neighbours: "{n} Nachbar|{n} Nachbarn",
  shownOf: "{n} von {all}",
  askAbout: "Danach fragen",
  key: "Dieser Server verlangt einen Schlüssel",
  keyHint: "Er wird nur für diesen Tab aufgehoben.",
  enter: "Eintreten",
  wrongKey: "Dieser Schlüssel passt nicht.",
  unreachable: "Der Server ist nicht zu erreichen. Läuft er noch?",
  cutOff: "Der Server hat vor dem Ende abgebrochen.",
  retry: "In {n} s noch einmal versuchen.",
  noGraphs: "Dieser Server hat keinen Graphen.",
  making: "Dieser Graph wird noch gebaut",
  doneOf: "{n} von {all}",
  secondsLeft: "noch etwa {n} s",
};

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
type Language = keyof typeof LANGUAGES;
const TABLES: Record<Language, Record<TextName, string>> = { en: ENGLISH, de: GERMAN };
const KEPT = "orienteer.language";

/** The language in use: the one that was chosen, else the browser's, else English. */
export const language: Language =
  [localStorage.getItem(KEPT), ...navigator.languages.map((tag) => tag.slice(0, 2))].find(
    (tag): tag is Language => tag !== null && Object.hasOwn(TABLES, tag),
  ) ?? "en";

export function chooseLanguage(tag: string): void {
  localStorage.setItem(KEPT, tag);
  location.reload();
}

const numbers = new Intl.NumberFormat(language);

/** Return a number as the language writes it. */
export const number = (value: number): string => numbers.format(value);

/** Return a text with its values put in; `n` chooses between singular and plural. */
export function say(name: TextName, values: Record<string, string | number> = {}): string {
  const forms = TABLES[language][name].split("|");
  const form = (values.n === 1 ? forms[0] : forms[forms.length - 1]) ?? "";
  return form.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key];
    return typeof value === "number" ? number(value) : (value ?? "");
  });
}

/** Put the texts into the elements of the page that name them: `data-say`, `data-say-label`, `data-say-hint`, `data-say-title`. */
export function sayAll(): void {
  document.documentElement.lang = language;
  const each = (attribute: string, put: (element: Element, text: string) => void) =>
    document
      .querySelectorAll(`[${attribute}]`)
      .forEach((element) => put(element, say(element.getAttribute(attribute) as TextName)));
  each("data-say", (element, text) => {
    element.textContent = text;
  });
  each("data-say-label", (element, text) => element.setAttribute("aria-label", text));
  each("data-say-hint", (element, text) => element.setAttribute("placeholder", text));
  each("data-say-title", (element, text) => element.setAttribute("title", text));
}
