/** What can be done with a result: say whether it is right, pass it on, take it along. */

import { post } from "./api";
import { byId, el, icon } from "./dom";
import { fragment, type Asked, type Turn } from "./history";
import { say } from "./texts";

const THUMB = "M7 11v9H4v-9zM7 11l4-8a2.5 2.5 0 0 1 2.5 2.5V9H19a2 2 0 0 1 2 2.4l-1.4 7A2 2 0 0 1 17.6 20H7";
const MOST_NODES = 200; // of a thumb: what the server takes
const TOLD_MILLISECONDS = 2000;

export class Acts {
  private readonly box = byId("acts");

  constructor(
    private readonly uses: {
      hasFeedback: () => boolean;
      asked: () => Asked | null;
      failed: (error: unknown) => void;
      files: (turn: Turn) => HTMLElement[];
    },
  ) {}

  clear(): void {
    this.box.hidden = true;
  }

  /** Show what can be done with a turn. */
  show(turn: Turn): void {
    const { asked, result, hits } = turn;
    const complete = hits.filter((hit) => hit.complete).map((hit) => hit.id);
    const gold = complete.length ? complete : [...new Set(result.citations.flatMap((citation) => citation.ids))];
    const button = (text: string, act: (button: HTMLElement) => void) =>
      el(
        "button",
        { class: "quiet", type: "button", onclick: (event) => act(event.currentTarget as HTMLElement) },
        text,
      );
    const parts = [
      this.thumbs(gold),
      button(say("share"), (pressed) => void share({ ...asked, question: result.question }, pressed)),
      ...this.uses.files(turn),
    ];
    this.box.replaceChildren(...parts.filter((part) => part !== null));
    this.box.hidden = false;
  }

  /** Return two thumbs for nodes that answer the question or do not; null where the server keeps none. */
  thumbs(nodes: string[]): HTMLElement | null {
    if (!this.uses.hasFeedback() || !nodes.length) return null;
    const send = async (is_good: boolean) => {
      const asked = this.uses.asked();
      if (!asked) return;
      const { graph, question } = asked;
      await post("api/feedback", { graph, question, nodes: nodes.slice(0, MOST_NODES), is_good });
      box.replaceChildren(el("span", { class: "dim", role: "status" }, say("thanks")));
    };
    const thumb = (isGood: boolean) => {
      const label = say(isGood ? "good" : "bad");
      const onclick = () => void send(isGood).catch((error) => this.uses.failed(error));
      return el(
        "button",
        { class: "quiet thumb", type: "button", "aria-label": label, title: label, onclick },
        icon(THUMB, !isGood),
      );
    };
    const box = el("span", { class: "thumbs" }, thumb(true), thumb(false));
    return box;
  }
}

async function share(asked: Asked, button: HTMLElement): Promise<void> {
  const link = new URL(fragment(asked), location.href).href;
  try {
    await navigator.clipboard.writeText(link);
    button.textContent = say("shared");
    setTimeout(() => (button.textContent = say("share")), TOLD_MILLISECONDS);
  } catch {
    // browsers give the clipboard to https and this machine alone
    const field = el("input", { readonly: true, value: link, "aria-label": say("shareHere") });
    button.replaceWith(field);
    field.select();
  }
}
