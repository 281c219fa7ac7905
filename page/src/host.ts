/** The picture within a host of agents (MCP Apps): it greets the host, takes what a tool replied, and tells its height. */

import { el } from "./dom";

const PROTOCOL = "2026-01-26",
  CONTENT = "orienteer/picture",
  HELLO = 1;

/** What the host sends, as far as it is used: replies, notifications and requests of JSON-RPC. */
type Message = {
  id?: number | string;
  method?: string;
  params?: Context & { _meta?: Record<string, unknown>; content?: { text?: unknown }[] };
  result?: { hostContext?: Context };
};
type Context = { theme?: unknown };

/** Show each reply in `place`: its picture by `show`, which returns how to end it, else its text. */
export function hearHost<Content>(place: HTMLElement, show: (content: Content) => () => void): void {
  let end = () => {};
  const send = (message: object) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  function style(context: Context | undefined): void {
    if (context?.theme === "dark" || context?.theme === "light")
      document.documentElement.style.colorScheme = context.theme;
  }

  function take({ _meta, content }: NonNullable<Message["params"]>): void {
    end();
    place.replaceChildren();
    const picture = _meta?.[CONTENT];
    const text = (content ?? []).map((part) => (typeof part.text === "string" ? part.text : "")).join("\n");
    if (picture) end = show(picture as Content);
    else place.append(el("p", { class: "told" }, text));
  }

  window.addEventListener("message", ({ source, data }: MessageEvent<Message | null>) => {
    if (source !== window.parent || !data) return;
    const { id, method, params, result } = data;
    if (id === HELLO && !method) {
      style(result?.hostContext);
      send({ method: "ui/notifications/initialized", params: {} });
      new ResizeObserver(() => {
        const { scrollWidth: width, offsetHeight: height } = document.documentElement;
        send({ method: "ui/notifications/size-changed", params: { width, height } });
      }).observe(document.documentElement);
    } else if (method === "ui/notifications/tool-result" && params) take(params);
    else if (method === "ui/notifications/host-context-changed") style(params);
    else if (method && id !== undefined) send({ id, result: {} }); // a ping, or that it is about to end
  });
  const params = { protocolVersion: PROTOCOL, appInfo: { name: "orienteer", version: "1" }, appCapabilities: {} };
  send({ id: HELLO, method: "ui/initialize", params });
}
