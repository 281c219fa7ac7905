// Builds the page and the notebook's picture into a package's folder, by default ours: node build.mjs [FOLDER]
// The same sources give the same bytes, and a name holds the hash of what it names, so that browsers may keep it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? join(here, "../src/orienteer"), "serve/page");
const notebook = join(folder, "../../page/widget");
const assets = join(folder, "assets");

/** Leave out what no visitor gets to see: comments of shaders, names of colours, sentences of a library's own errors. */
const shorter = {
  name: "shorter",
  setup: ({ onLoad }) => {
    const shortened = (filter, change) =>
      onLoad({ filter }, ({ path }) => ({ contents: change(readFileSync(path, "utf8")), loader: "js" }));
    const shader = (text) => text.replace(/ *\/\/.*?(?=\\n)/g, "").replace(/(\\n *)+/g, "\\n");
    shortened(/sigma\/dist\/.*\.js$/, (code) =>
      code.replace(/\/\*glsl\*\/"(?:[^"\\]|\\.)*"/g, shader).replace(/(HTML_COLORS = ){[^}]*}/, "$1{}"),
    );
    shortened(/graphology\.mjs$/, (code) => code.replace(/(new \w+GraphError)\(\s*(?:`[^`]*`|'[^'\n]*'|"[^"\n]*")\s*\)/g, "$1()"));
  },
};

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  write: false,
  plugins: [shorter],
  outdir: "/",
  legalComments: "none",
};
const bundled = async (entry, more = {}) =>
  (await build({ ...common, ...more, entryPoints: [join("src", entry)] })).outputFiles[0].contents;

function written(stem, suffix, contents) {
  const name = `${stem}-${createHash("sha256").update(contents).digest("hex").slice(0, 10)}.${suffix}`;
  writeFileSync(join(assets, name), contents);
  return name;
}

function licences() {
  const names = Object.keys(JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8")).packages);
  const bundledOnes = names
    .filter((name) =>
      /node_modules\/(sigma|graphology|graphology-utils|graphology-layout-forceatlas2|events)$/.test(name),
    )
    .sort();
  const texts = bundledOnes.map((name) => {
    const { version } = JSON.parse(readFileSync(join(here, name, "package.json"), "utf8"));
    const file = ["LICENSE.txt", "LICENSE"].find((one) => {
      try {
        readFileSync(join(here, name, one));
        return true;
      } catch {
        return false;
      }
    });
    if (!file) throw new Error(`${name} holds no licence: say in build.mjs where it stands`);
    return `${name.replace("node_modules/", "")} ${version}\n\n${readFileSync(join(here, name, file), "utf8").trim()}\n`;
  });
  return "This holds parts of these libraries.\n\n" + texts.join("\n----\n\n");
}

for (const [old, made] of [
  [folder, assets],
  [notebook, notebook],
]) {
  rmSync(old, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
}
const worker = written("layout", "js", await bundled("layout.worker.ts"));
const free = written("free", "js", await bundled("drawing.ts"));
const define = { LAYOUT_WORKER: JSON.stringify(worker), FREE_DRAWING: JSON.stringify(free) };
const script = written("page", "js", await bundled("main.ts", { define }));
const style = written("page", "css", await bundled("style.css"));
writeFileSync(join(assets, "LICENSES.txt"), licences());
const html = readFileSync(join(here, "src/index.html"), "utf8").replace("page.js", script).replace("page.css", style);
writeFileSync(join(folder, "index.html"), html);
writeFileSync(join(notebook, "widget.js"), await bundled("widget.ts"));
writeFileSync(join(notebook, "widget.css"), await bundled("widget.css"));
writeFileSync(join(notebook, "LICENSES.txt"), licences());
