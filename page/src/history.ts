/** The conversation: questions with what they gave, kept in this browser and nowhere else. */

import type { Filters } from "./facets";
import type { Hit, Result } from "./records";

const KEPT = "orienteer.turns",
  MOST = 30;

/** What is asked: everything that a link to a question holds. */
export type Asked = Filters & { graph: string; question: string; method: string; reading: string | null };
export type Turn = { at: number; asked: Asked; result: Result; hits: Hit[] };

export function turns(): Turn[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(kept)
      ? (kept as Turn[]).filter((turn) => turn?.asked?.question && turn.result && Array.isArray(turn.hits))
      : [];
  } catch {
    return []; // written by something else, or storage is off
  }
}

/** Put a turn first; an earlier one of the same question goes, and so does the oldest where the browser has no room. */
export function keep(turn: Turn): void {
  const same = JSON.stringify(turn.asked);
  const all = [turn, ...turns().filter((other) => JSON.stringify(other.asked) !== same)].slice(0, MOST);
  for (; all.length; all.pop()) {
    try {
      localStorage.setItem(KEPT, JSON.stringify(all));
      return;
    } catch {
      continue; // no room: with one fewer
    }
  }
}

const TOLD = 3; // questions before a question: what the server reads of them
const LONGEST_ANSWER = 1500; // characters, as above
const NAMED = 5; // hits that stand for an answer where there is none

/** Say in short what each of the last turns asked and gave, the earliest first. */
export const told = (conversation: readonly Turn[]): { question: string; answer: string }[] =>
  conversation.slice(-TOLD).map(({ asked, result, hits }) => {
    const names = hits.slice(0, NAMED).map((hit) => hit.name);
    const characters = [...(result.answer ?? names.join("; "))]; // an emoji cut in two is no JSON to a server
    return { question: asked.question, answer: characters.slice(0, LONGEST_ANSWER).join("") };
  });

export const forget = (): void => localStorage.removeItem(KEPT);

// ------------------------------------------------------------------------------------------- questions with a name

const SAVED = "orienteer.saved",
  MOST_SAVED = 100;

export type Saved = { name: string; asked: Asked };

export function saved(): Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(SAVED) ?? "[]");
    return Array.isArray(kept) ? (kept as Saved[]).filter((one) => one?.name && one.asked?.question) : [];
  } catch {
    return []; // as above
  }
}

export const unsave = (name: string): void =>
  localStorage.setItem(SAVED, JSON.stringify(saved().filter((one) => one.name !== name)));

/** Keep a question under a name, in place of another of that name. */
export function saveAs(name: string, asked: Asked): void {
  const others = saved().filter((one) => one.name !== name);
  localStorage.setItem(SAVED, JSON.stringify([{ name, asked }, ...others].slice(0, MOST_SAVED)));
}

// ------------------------------------------------------------------------------------------------------------ links

/** Return the part of an address behind `#`, which browsers send to nobody: graph, question and options, never a key. */
export function fragment({ graph, question, method, node_types, where, reading }: Asked): string {
  const values = new URLSearchParams({ graph, q: question });
  if (method) values.set("method", method);
  for (const type of node_types) values.append("type", type);
  for (const condition of where) values.append("where", condition);
  if (reading !== null) values.set("reading", reading);
  return `#${values}`;
}

/** Return the name of the graph that a link is about; empty where it names none. */
export const graphIn = (hash: string): string => new URLSearchParams(hash.replace(/^#/, "")).get("graph") ?? "";

/** Return what a link asks; null where it asks nothing. */
export function askedBy(hash: string): Asked | null {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const question = values.get("q")?.trim();
  if (!question) return null;
  return {
    graph: values.get("graph") ?? "",
    question,
    method: values.get("method") ?? "",
    node_types: values.getAll("type"),
    where: values.getAll("where"),
    reading: values.get("reading"),
  };
}
