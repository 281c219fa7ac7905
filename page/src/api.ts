/** Requests to the server that the page came from, and to no other. */

import type { Happening, Problem } from "./records";

const KEY = "orienteer.key";

/** The server said no: its sentence, and after how many seconds it may be asked again. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly seconds: number | null,
    /** The word of the request that is wrong, and names near it. */
    readonly value: unknown = null,
    readonly near: readonly string[] = [],
  ) {
    super(message);
  }

  static of({ message, status, value, near }: Problem, seconds: number | null = null): Refused {
    return new Refused(status ?? 0, message, seconds, value, near);
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}

/** Keep the key for this tab alone: never in the address, never on the disk. */
export const keepKey = (key: string): void => sessionStorage.setItem(KEY, key);

async function sent(path: string, options: RequestInit = {}): Promise<Response> {
  const key = sessionStorage.getItem(KEY);
  const headers = {
    ...(options.headers as Record<string, string>),
    ...(key ? { authorization: `Bearer ${key}` } : {}),
  };
  let reply: Response;
  try {
    reply = await fetch(path, { ...options, headers });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable();
  }
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => null);
  const after = Number(reply.headers.get("retry-after"));
  const problem: Problem = { message: `${reply.status} ${reply.statusText}`, ...told?.error, status: reply.status };
  throw Refused.of(problem, after > 0 ? after : null);
}

const posted = (path: string, body: unknown, signal: AbortSignal | undefined, accept: string): Promise<Response> =>
  sent(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", accept },
    ...(signal ? { signal } : {}),
  });

/** Return the JSON that a request gives. Raises `Refused`, `Unreachable`. */
export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await posted(path, body, signal, "application/json")).json() as Promise<T>;
}

/** Return the file that a request gives. Raises `Refused`, `Unreachable`. */
export const fileOf = async (path: string, body: unknown): Promise<Blob> =>
  (await posted(path, body, undefined, "*/*")).blob();

/** Return the reply at an address. Raises `Refused`, `Unreachable`. */
export const fetched = (path: string, query: Record<string, string> = {}): Promise<Response> =>
  sent(Object.keys(query).length ? `${path}?${new URLSearchParams(query)}` : path);

/** Return the JSON at an address. Raises `Refused`, `Unreachable`. */
export const get = async <T>(path: string, query: Record<string, string> = {}): Promise<T> =>
  (await fetched(path, query)).json() as Promise<T>;

/** Yield what happens to a question. An `EventSource` cannot post, and a question has no business in an address. */
export async function* ask(body: unknown, signal: AbortSignal): AsyncGenerator<Happening> {
  const reply = await posted("api/ask", body, signal, "text/event-stream");
  if (!reply.body) throw new Unreachable();
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      if (signal.aborted) throw error;
      throw new Unreachable();
    });
    if (done) return;
    rest = (rest + value).replaceAll("\r\n", "\n");
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const happening = read(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (happening) yield happening;
    }
  }
}

/** Return one event of a stream; null for a comment. */
function read(block: string): Happening | null {
  const lines = block.split("\n");
  const values = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  const text = values("data").join("\n");
  return text ? ({ kind: values("event")[0], ...JSON.parse(text) } as Happening) : null;
}
