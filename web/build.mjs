// Builds each page into one file without a single request: crates/report/assets/viewer.html and report.html.
//
// The same sources give the same bytes, so CI can compare. The policy in a page names the hash of its one script and
// its one style sheet, and allows nothing else.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "../crates/report/assets");

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Builds a page; `notice` says whose code it contains, by what the bundle took. */
async function page({ template, entry, target, notice }) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    metafile: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    outdir: "out",
    absWorkingDir: here,
  });
  const output = (end) => outputFiles.find(({ path }) => path.endsWith(end)).text.trim();
  const script = output(".js").replaceAll("</script", "<\\/script");
  const style = output(".css");
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
  const text = readFileSync(join(here, template), "utf8")
    .replace(/@@([A-Z]+)@@/g, (_, name) => parts[name])
    .replace("<html", () => `<!--\n${notice(taken(metafile))}\n-->\n<html`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, target), text);
  console.log(`${join(folder, target)}: ${(text.length / 1000).toFixed(1)} kB`);
}

/** The packages of which something is in the bundle. */
function taken({ outputs }) {
  const inputs = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  const names = used.flatMap((path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []);
  return [...new Set(names)].sort();
}

function licence(name) {
  const of = join(here, "node_modules", name);
  const file = readdirSync(of).find((file) => /^licen[cs]e/i.test(file));
  if (file) return readFileSync(join(of, file), "utf8").trim();
  const { license, author } = JSON.parse(readFileSync(join(of, "package.json"), "utf8"));
  if (!license) throw new Error(`${name} has no licence`);
  return `${license}, ${typeof author === "string" ? author : author?.name}`;
}

/** Texts of licences, each once, under the names of all packages that have it. */
function licences(names) {
  const by = new Map();
  for (const name of names) by.set(licence(name), [...(by.get(licence(name)) ?? []), name]);
  // Nothing may end the comment.
  return [...by].map(([text, names]) => `${names.join(", ")}:\n\n${text.replaceAll("--", "- -")}`).join("\n\n");
}

await page({
  template: "index.html",
  entry: "src/main.ts",
  target: "viewer.html",
  notice: () => `longhaul's trace viewer, built from web/ (MIT OR Apache-2.0). It contains uPlot:\n\n${licence("uplot")}`,
});
await page({
  template: "report.html",
  entry: "src/report/main.ts",
  target: "report.html",
  notice: (names) => `longhaul's report, built from web/ (MIT OR Apache-2.0). It contains\n\n${licences(names)}`,
});
