"use strict";
// Everything that is shown here is text of graphs, models and people: it is set as text, never as markup.
const PAGE = 50;
const $ = (id) => document.getElementById(id);

function make(name, text, classes) {
  const element = document.createElement(name);
  if (text !== undefined && text !== null && text !== "") element.textContent = text;
  if (classes) element.className = classes;
  return element;
}

async function unpacked(element) {
  const data = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// ---- tables that sort, and the switch of measures

for (const button of document.querySelectorAll(".sortable thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = head.cellIndex, down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => {
      const cell = row.cells[column];
      return column === 0 ? cell.textContent : cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    };
    const rows = [...body.rows];
    rows.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "string" ? y.localeCompare(x) : x - y;
      return down ? -order : order;
    });
    body.append(...rows);
  });
}

for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll("[data-show]")) other.setAttribute("aria-pressed", other === button);
    for (const panel of document.querySelectorAll("[data-measure]"))
      panel.classList.toggle("off", panel.dataset.measure !== button.dataset.show);
  });
}

// ---- the questions

const OUTCOMES = {
  "first": ["gold first", (result) => result.rank === 1],
  "top": ["gold in the first 5", (result) => result.rank >= 1 && result.rank <= 5],
  "found": ["gold found", (result) => result.rank >= 1],
  "late": ["gold found, not first", (result) => result.rank > 1],
  "miss": ["gold not found", (result) => result.rank === 0 && result.error === undefined],
  "failed": ["failed", (result) => result.error !== undefined],
  "unranked": ["no gold nodes", (result) => result.rank === undefined],
  "read": ["read exactly", (result) => result.reading !== undefined],
  "refused": ["refused an exact answer", (result) => result.refusal !== undefined],
};
const SEVERAL = {
  "whole": ["all gold in the first 5", (result) => result.last >= 1 && result.last <= 5],
  "part": ["gold found, not all in the first 5", (result) => result.rank >= 1 && (result.last === 0 || result.last > 5)],
};
const ANSWERS = {
  "right": ["answer right (EM)", (result) => result.exact === 1],
  "wrong": ["answer wrong (EM)", (result) => result.exact < 1],
};
let all = null, chosen = [], shown = 0;
const outcomes = { ...OUTCOMES };

function option(select, value, text) {
  const choice = make("option", text);
  choice.value = value;
  select.append(choice);
}

function controls() {
  const box = $("controls");
  const search = make("input");
  search.type = "search";
  search.id = "search";
  search.placeholder = "Search questions, gold, hits, answers";
  search.setAttribute("aria-label", search.placeholder);
  box.append(search);
  for (const place of [1, 2]) {
    const both = make("span", "", "both"), method = make("select"), outcome = make("select");
    method.id = `method${place}`;
    outcome.id = `outcome${place}`;
    method.setAttribute("aria-label", `method ${place}`);
    outcome.setAttribute("aria-label", `outcome ${place}`);
    option(method, "any", "any method");
    option(method, "every", "every method");
    all.methods.forEach((name, number) => option(method, String(number), name));
    option(outcome, "", place === 1 ? "any outcome" : "and any outcome");
    for (const [key, [text]] of Object.entries(outcomes)) option(outcome, key, text);
    both.append(method, outcome);
    box.append(both);
  }
  if (Object.keys(all.fields).length) {
    const field = make("select");
    field.id = "field";
    field.setAttribute("aria-label", "kind of question");
    option(field, "", "every kind of question");
    for (const [name, values] of Object.entries(all.fields)) {
      const group = make("optgroup");
      group.label = name.replaceAll("_", " ");
      for (const value of values) option(group, JSON.stringify([name, value]), value);
      field.append(group);
    }
    box.append(field);
  }
  const sort = make("select");
  sort.id = "sort";
  sort.setAttribute("aria-label", "order");
  option(sort, "", "in order");
  option(sort, "apart", "methods furthest apart first");
  option(sort, "hard", "hardest first");
  box.append(sort);
  box.addEventListener("input", choose);
}

function haystack(question) {
  if (question.hay === undefined) {
    const hits = question.results.flatMap((result) => result ? [...(result.hits || []).flat(), result.answer, result.error] : []);
    const parts = [question.id, question.text, ...question.answers, ...question.gold.flat(), ...question.facts.flat(), ...hits];
    question.hay = parts.filter((part) => typeof part === "string").join("\n").toLowerCase();
  }
  return question.hay;
}

function fits(question, place) {
  const key = $(`outcome${place}`).value, method = $(`method${place}`).value;
  if (!key) return true;
  const test = outcomes[key][1], there = question.results.filter((result) => result);
  if (method === "any") return there.some(test);
  if (method === "every") return there.length > 0 && there.every(test);
  const result = question.results[Number(method)];
  return Boolean(result && test(result));
}

const gains = (question) => question.results.filter((result) => result && result.rank !== undefined)
  .map((result) => (result.rank ? 1 / result.rank : 0));
const ORDERS = {
  apart: (question) => { const values = gains(question); return values.length ? Math.min(...values) - Math.max(...values) : 1; },
  hard: (question) => { const values = gains(question); return values.length ? values.reduce((a, b) => a + b) / values.length : 2; },
};

function choose() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [field, value] = $("field") && $("field").value ? JSON.parse($("field").value) : [];
  chosen = all.questions.filter((question) =>
    (field === undefined || question.kinds[field].includes(value)) && fits(question, 1) && fits(question, 2)
    && words.every((word) => haystack(question).includes(word)));
  const order = ORDERS[$("sort").value];
  if (order) chosen = chosen.map((question) => [order(question), question]).sort((a, b) => a[0] - b[0]).map(([, question]) => question);
  $("list").replaceChildren();
  shown = 0;
  more();
}

function more() {
  const next = chosen.slice(shown, shown + PAGE);
  $("list").append(...next.map(entry));
  shown += next.length;
  const whole = all.questions.length.toLocaleString("en");
  $("count").textContent = chosen.length === all.questions.length ? `${whole} questions, ${shown} of them listed`
    : `${chosen.length.toLocaleString("en")} of ${whole} questions, ${shown} of them listed`;
  $("more").hidden = shown >= chosen.length;
}

function chip(name, result) {
  const state = result.error !== undefined ? "failed" : result.rank === 1 ? "first" : result.rank > 1 && result.rank <= 5 ? "top"
    : result.rank ? "found" : "miss";
  const text = result.error !== undefined ? "failed" : result.rank ? String(result.rank) : result.rank === 0 ? "–"
    : result.exact === undefined ? "·" : result.exact === 1 ? "right" : "wrong";
  const element = make("span", name, `chip ${state}`);
  element.append(make("b", text));
  return element;
}

function entry(question) {
  const box = make("details", "", "q"), summary = make("summary");
  box.id = `question-${question.place}`;
  summary.append(make("span", question.text, "isolate"));
  const chips = make("span", "", "chips");
  question.results.forEach((result, number) => { if (result) chips.append(chip(all.methods[number], result)); });
  summary.append(chips);
  box.append(summary);
  box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(body(question)); });
  return box;
}

function fact(list, name, ...parts) {
  if (!parts.length) return;
  const value = make("dd");
  parts.forEach((part, place) => { if (place) value.append(", "); value.append(make("span", part, "isolate")); });
  list.append(make("dt", name), value);
}

function body(question) {
  const box = make("div"), facts = make("dl", "", "facts");
  const left = question.golds - question.gold.length;
  fact(facts, "id", question.id);
  fact(facts, "gold", ...question.gold.map(([name, id, type]) => (name ? `${name} (${type}, ${id})` : id)),
    ...(left > 0 ? [`and ${left} more`] : []));
  fact(facts, "answers", ...question.answers);
  for (const [name, value] of question.facts) fact(facts, name.replaceAll("_", " "), value);
  const results = make("div", "", "results");
  question.results.forEach((result, number) => { if (result) results.append(resultBox(question, result, number)); });
  box.append(facts, results);
  return box;
}

function resultBox(question, result, number) {
  const box = make("div", "", "result"), head = make("h4", all.methods[number]);
  const spent = [`${result.ms >= 100 ? Math.round(result.ms).toLocaleString("en") : result.ms} ms`];
  if (result.calls) spent.push(`${result.calls} call${result.calls === 1 ? "" : "s"}`);
  head.append(make("small", spent.join(", ")));
  box.append(head);
  if (result.error !== undefined) box.append(make("p", result.error, "error"));
  if (result.reading !== undefined) box.append(make("p", `Read as: ${result.reading}`, "isolate"));
  if (result.refusal !== undefined) box.append(make("p", `No exact answer: ${result.refusal}`, "isolate"));
  box.append(...hitLists(result.hits || []));
  box.append(make("p", place(result), "quiet"));
  if (result.answer !== undefined) {
    const verdict = result.exact === undefined ? "" : result.exact === 1 ? "Answer (EM 1): " : `Answer (EM ${result.exact}): `;
    box.append(make("p", (verdict || "Answer: ") + result.answer));
  }
  if (result.stopped && result.error === undefined) box.append(make("p", `Ended by ${result.stopped}.`, "quiet"));
  for (const note of result.notes || []) box.append(make("p", note, "quiet"));
  const packed = $(`t${question.place}-${number}`);
  if (packed) box.append(walk(packed, result));
  return box;
}

// What meets all of a question that was read exactly, a line, and what meets some of it.
function hitLists(hits) {
  const parts = [], lists = [make("ol"), make("ol", "", "nearby")];
  hits.forEach(([name, id, type, isGold, why, isNearby], number) => {
    const item = make("li", "", isGold ? "gold" : "");
    item.append(make("span", name || id, "isolate"), " ", make("small", type));
    item.title = why ? `${id}: ${why}` : id;
    item.value = number + 1;
    lists[isNearby ? 1 : 0].append(item);
  });
  if (lists[0].children.length) parts.push(lists[0]);
  if (lists[1].children.length) parts.push(make("p", "Nearby: these meet some of it", "quiet line"), lists[1]);
  return parts;
}

function place(result) {
  const meeting = result.meeting === undefined ? "" : `; ${result.meeting.toLocaleString("en")} in the graph meet all of it`;
  const outside = result.outside ? `, ${result.outside} more that cannot answer` : "";
  const all = `${result.count} hit${result.count === 1 ? "" : "s"}${outside}${meeting}`;
  if (result.rank === undefined) return `${all}; no gold nodes to measure them by`;
  if (!result.rank) return `${all}; no gold among them`;
  const last = result.last === undefined ? "" : result.last ? `, the last at ${result.last}` : ", not all of it found";
  return `${all}; first gold at ${result.rank}${last}`;
}

function walk(packed, result) {
  const box = make("details", "", "walk");
  box.append(make("summary", result.turns ? `Trajectory, ${result.turns} turn${result.turns === 1 ? "" : "s"} of a model` : "Trajectory"));
  box.addEventListener("toggle", async () => {
    if (!box.open || box.children.length > 1) return;
    const inside = make("div", "…");
    box.append(inside);
    try {
      const trajectories = await unpacked(packed);
      if (Array.isArray(trajectories)) inside.replaceChildren(...trajectories.flatMap((trajectory, agent) => steps(trajectory, agent, trajectories.length)));
      else inside.textContent = `${trajectories.left_out} steps, left out for room: they are in the run's trajectories.jsonl.`;
    } catch (error) {
      inside.textContent = `This browser cannot unpack it: ${error.message}`;
    }
  });
  return box;
}

function steps(trajectory, agent, agents) {
  const list = make("ol");
  for (const step of trajectory.steps) {
    const item = make("li");
    if (step.notice) item.append(make("p", `Told: ${step.notice}`, "quiet"));
    if (step.text) item.append(make("p", step.text, "isolate"));
    for (const call of step.calls) {
      const line = make("div");
      line.append(make("span", `${call.name} ${call.arguments}`, "call isolate"));
      if (call.error) line.append(make("span", call.error, "badge error"));
      else if (call.nodes) line.append(make("span", `${call.nodes} node${call.nodes === 1 ? "" : "s"}`, "badge"));
      if (call.gold) line.append(make("span", `${call.gold} gold ✓`, "badge good"));
      item.append(line);
      if (call.text) item.append(make("pre", call.text));
    }
    list.append(item);
  }
  const parts = [];
  const ended = trajectory.stopped === "finish" ? "" : `, ended by ${trajectory.stopped}`;
  if (agents > 1 || ended) parts.push(make("h5", (trajectory.method === "answer" ? "The answer" : `Agent ${agent + 1}`) + ended));
  if (trajectory.error) parts.push(make("p", trajectory.error, "error"));
  if (trajectory.reading) parts.push(make("p", `Read as: ${trajectory.reading}`, "isolate"));
  parts.push(list);
  for (const [label, ids] of [["Selected", trajectory.selected], ["Nearby", trajectory.nearby]]) {
    if (!ids.length) continue;
    const line = make("p", `${label}: `);
    ids.forEach(([id, isGold], number) => {
      if (number) line.append(", ");
      line.append(make(isGold ? "b" : "span", isGold ? `${id} ✓` : id, "isolate"));
    });
    parts.push(line);
  }
  return parts;
}

function visit() {
  const match = /^#question-(\d+)$/.exec(location.hash);
  if (!match || !all) return;
  const question = all.questions[Number(match[1])];
  if (!question) return;
  let box = $(`question-${question.place}`);
  if (!box) {
    box = entry(question);
    $("list").prepend(box);
  }
  box.open = true;
  box.scrollIntoView();
}

async function begin() {
  try {
    all = await unpacked($("data"));
  } catch (error) {
    $("count").textContent = `This browser cannot unpack the questions (${error.message}); one of 2023 or later can.`;
    $("more").hidden = true;
    return;
  }
  all.questions.forEach((question, place) => { question.place = place; });
  if (all.questions.some((question) => question.golds > 1)) Object.assign(outcomes, SEVERAL);
  if (all.answers) Object.assign(outcomes, ANSWERS);
  controls();
  choose();
  $("more").addEventListener("click", more);
  window.addEventListener("hashchange", visit);
  visit();
}
begin();
