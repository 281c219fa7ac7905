/** What is around the question: theme, language, tabs on a phone, keys. */

import { byId, el } from "./dom";
import { chooseLanguage, language, LANGUAGES, sayAll } from "./texts";

const THEME = "orienteer.theme";

export function setUpTheme(changed: () => void): void {
  const root = document.documentElement,
    system = matchMedia("(prefers-color-scheme: dark)");
  root.dataset.theme = localStorage.getItem(THEME) ?? "";
  byId("theme").onclick = () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem(THEME, root.dataset.theme);
    changed();
  };
  system.addEventListener("change", changed);
}

export function setUpLanguage(): void {
  sayAll();
  const select = byId<HTMLSelectElement>("language");
  select.replaceChildren(
    ...Object.entries(LANGUAGES).map(([tag, name]) => el("option", { value: tag, selected: tag === language }, name)),
  );
  select.onchange = () => chooseLanguage(select.value);
}

/** On a phone one of the two sides is seen. Returns what shows one. */
export function setUpTabs(shown: () => void): (side: "asking" | "seeing") => void {
  const sides = ["asking", "seeing"] as const;
  const show = (side: "asking" | "seeing") => {
    for (const other of sides) {
      byId(`tab-${other}`).setAttribute("aria-selected", String(other === side));
      byId(`tab-${other}`).tabIndex = other === side ? 0 : -1;
      byId(other).classList.toggle("away", other !== side);
    }
    shown();
  };
  for (const side of sides) {
    const tab = byId(`tab-${side}`),
      other = side === "asking" ? "seeing" : "asking";
    tab.onclick = () => show(side);
    tab.onkeydown = (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        show(other);
        byId(`tab-${other}`).focus();
      }
    };
  }
  show("asking");
  return show;
}

/** Keys: `/` to the question, `f` fits the picture, Esc stops or closes. */
export function setUpKeys(keys: { fit: () => void; leave: () => void }): void {
  window.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.key === "Escape") keys.leave();
    if (
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLInputElement ||
      target instanceof HTMLSelectElement ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    if (event.key === "/") {
      event.preventDefault();
      byId("question").focus();
    }
    if (event.key === "f") keys.fit();
  });
}
