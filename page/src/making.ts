/** How far the making of a graph has come, and how long it will take at this pace. */

import { el } from "./dom";
import { say } from "./texts";

export class Making {
  private stage = "";
  private began = { at: 0, done: 0 };

  /** Return what a person sees of it now. */
  shown(stage: string, done: number | null, of: number | null): HTMLElement {
    if (stage !== this.stage) {
      this.stage = stage;
      this.began = { at: performance.now(), done: done ?? 0 };
    }
    const seconds = this.left(done, of);
    const about = [
      stage,
      done !== null && of !== null ? say("doneOf", { n: done, all: of }) : "",
      seconds === null ? "" : say("secondsLeft", { n: seconds }),
    ];
    return el(
      "section",
      { role: "status" },
      el("h2", {}, say("making")),
      el("p", {}, about.filter(Boolean).join(" · ")),
      done !== null && of ? el("progress", { max: of, value: done, "aria-label": say("making") }) : null,
    );
  }

  private left(done: number | null, of: number | null): number | null {
    const came = (done ?? 0) - this.began.done;
    if (done === null || of === null || came <= 0 || done >= of) return null;
    return Math.max(1, Math.round(((performance.now() - this.began.at) / 1000 / came) * (of - done)));
  }
}
