// Builds the viewer into one file without a single request: crates/report/assets/viewer.html.
//
// The same sources give the same bytes, so CI can compare. The policy in the page names the hash of its one script and
// its one style sheet, and allows nothing else.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../crates/report/assets/viewer.html");

const { outputFiles } = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  write: false,
  outdir: "out",
});
const output = (end) => outputFiles.find(({ path }) => path.endsWith(end)).text.trim();
const script = output(".js").replaceAll("</script", "<\\/script");
const style = output(".css");

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
const licence = readFileSync(join(here, "node_modules/uplot/LICENSE"), "utf8").trim();
const notice = `<!--\nlonghaul's trace viewer, built from web/ (MIT OR Apache-2.0). It contains uPlot:\n\n${licence}\n-->`;

const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "index.html"), "utf8")
  .replace(/@@([A-Z]+)@@/g, (_, name) => parts[name])
  .replace("<html", `${notice}\n<html`);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
console.log(`${target}: ${(page.length / 1000).toFixed(1)} kB`);
