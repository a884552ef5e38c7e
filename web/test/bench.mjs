// How long a million points take, in a browser without a GPU: `node test/bench.mjs [POINTS]`. Prints, and judges nothing.

import { writeFileSync } from "node:fs";
import { ARTIFACTS, launch, open } from "./browser.mjs";
import { madeUpRun, page as build, rowsOf } from "./payload.mjs";

const points = Number(process.argv[2] ?? 1_000_000);
const run = madeUpRun({ name: "bench", segments: Math.ceil(points / 4.52) });
const html = build([run]);
writeFileSync(`${ARTIFACTS}bench.html`, html);
console.log(`${rowsOf(run)} points, ${(html.length / 1e6).toFixed(2)} MB`);

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1].toFixed(0);
const browser = await launch();
const first = [];
const zoom = { draw: [], screen: [] };
for (let i = 0; i < 5; i++) {
  const { page, close } = await open(browser, `${ARTIFACTS}bench.html`);
  first.push(await page.evaluate(() => performance.getEntriesByName("longhaul-drawn")[0].startTime));
  for (const [from, until] of [[0.2, 0.7], [0.3, 0.6], [0.4, 0.45], [0, 1]]) {
    const [draw, screen] = await page.evaluate(async ([a, b]) => {
      const state = window.longhaul;
      const start = performance.now();
      state.show(a * state.end, b * state.end);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return [state.stats.ms, performance.now() - start];
    }, [from, until]);
    zoom.draw.push(draw);
    zoom.screen.push(screen);
  }
  await close();
}
await browser.close();
console.log(`first picture ${median(first)} ms after navigation; zoom: ${median(zoom.draw)} ms of drawing, ${median(zoom.screen)} ms until the next frame (medians)`);
