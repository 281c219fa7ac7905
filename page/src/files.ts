/** What a person takes along: a file of the server, the picture as SVG or PNG. */

import { el, plain, shape, SVG } from "./dom";
import type { Shapes } from "./drawing";

const PNG_SCALE = 2;

/** Have the browser save bytes under a name. */
export function save(name: string, bytes: Blob): void {
  const address = URL.createObjectURL(bytes);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Return a name of a file that says what it is about. */
export const fileName = (question: string, ending: string): string =>
  `${
    question
      .normalize("NFKD")
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "orienteer"
  }.${ending}`;

/** Return rows as CSV. A text that a spreadsheet would run as a formula has an apostrophe before it, as in the server's. */
export function csv(columns: readonly string[], rows: readonly unknown[][]): Blob {
  const cell = (value: unknown) => {
    const text = typeof value === "string" ? plain(value).replace(/^(?=[=+\-@\t\r])/, "'") : JSON.stringify(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`);
  return new Blob(["\ufeff", ...lines], { type: "text/csv" });
}

/** Return a picture as an SVG file, which holds no script and loads nothing. */
export function svg(shapes: Shapes): Blob {
  const { width, height } = shapes,
    halo = { stroke: shapes.back, "stroke-width": 3, "paint-order": "stroke" };
  const root = shape("svg", {
    xmlns: SVG,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    "font-family": "system-ui, sans-serif",
  });
  root.append(shape("rect", { width, height, fill: shapes.back }));
  for (const { from, to, color, width: thickness, label, margin } of shapes.lines) {
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1,
      step = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
    const tip = { x: to.x - step.x * margin, y: to.y - step.y * margin },
      base = { x: tip.x - step.x * 8, y: tip.y - step.y * 8 };
    root.append(
      shape("line", { x1: from.x, y1: from.y, x2: base.x, y2: base.y, stroke: color, "stroke-width": thickness }),
    );
    root.append(
      shape("polygon", {
        points: [
          [tip.x, tip.y],
          [base.x - step.y * 3.5, base.y + step.x * 3.5],
          [base.x + step.y * 3.5, base.y - step.x * 3.5],
        ]
          .map((at) => at.map((value) => value!.toFixed(1)).join(","))
          .join(" "),
        fill: color,
      }),
    );
    if (label)
      root.append(
        shape(
          "text",
          {
            x: (from.x + to.x) / 2,
            y: (from.y + to.y) / 2 - 3,
            "font-size": 11,
            "text-anchor": "middle",
            fill: shapes.dim,
            ...halo,
          },
          label,
        ),
      );
  }
  for (const { at, radius, color } of shapes.circles)
    root.append(shape("circle", { cx: at.x, cy: at.y, r: radius, fill: color }));
  for (const { at, radius, label } of shapes.circles)
    if (label)
      root.append(
        shape("text", { x: at.x + radius + 3, y: at.y + 4.5, "font-size": 13, fill: shapes.front, ...halo }, label),
      );
  return new Blob([new XMLSerializer().serializeToString(root)], { type: "image/svg+xml" });
}

/** Return a picture as a PNG file, twice as fine as on a plain screen. */
export async function png(drawn: Blob, width: number, height: number): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(await drawn.text())}`;
  await image.decode();
  const canvas = el("canvas", { width: width * PNG_SCALE, height: height * PNG_SCALE });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) =>
    canvas.toBlob(
      (made) => (made ? resolve(made) : reject(new Error("the picture is too large for a PNG"))),
      "image/png",
    ),
  );
}
