// Two flows of one run, in a trace of the program itself: what each got over time, and the queue that both fill.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ARTIFACTS, launch, open } from "./browser.mjs";
import { longhaul } from "./program.mjs";

const COMPANY = ["company=arm + linux start=2s", "window=0s..20s", "orders=given"].flatMap((set) => ["--set", `flow.${set}`]);
const PATH = ["rate=10Mbit", "rtt=25ms"].flatMap((set) => ["--set", `path.${set}`]);

describe("two flows of one run", () => {
  const file = `${ARTIFACTS}flows.html`;
  let browser;
  let visit;
  before(async () => {
    const trace = `${ARTIFACTS}flows`;
    longhaul("run", "fairness", "--arm", "longhaul", ...COMPANY, ...PATH, "--trace", trace);
    longhaul("view", trace, "-o", file);
    browser = await launch();
    visit = await open(browser, file);
  });
  after(() => browser.close());

  const settled = () => visit.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
  const legend = (lane) => visit.page.locator(`[data-lane="${lane}"] .legend .swatch`).count();

  test("each has its card and its switch, and every lane has ink", async () => {
    const cards = await visit.page.locator(".card h2").allTextContents();
    assert.deepEqual(cards, ["longhaul (arm)", "linux"]);
    assert.equal(await visit.page.getByRole("group", { name: "Traces" }).getByRole("button").count(), 2);
    assert.equal(await visit.page.locator(".lane.empty").count(), 0);
    const painted = await visit.page.locator("canvas").evaluateAll((all) =>
      all.map((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)),
    );
    assert.deepEqual(painted, Array(8).fill(true));
  });

  test("the shares of each second add up to what the path carries, and the later flow begins later", async () => {
    const rates = await visit.page.evaluate(() =>
      window.longhaul.runs.map(({ tables }) => {
        const { t, rows, columns } = tables.get("share");
        return Array.from({ length: rows }, (_, row) => [t[row] / 1e6, columns.get("v").values[row]]);
      }),
    );
    assert.deepEqual(rates.map(([[second]]) => second), [0, 2]);
    const at = (flow, second) => rates[flow].findLast(([from]) => from <= second)[1];
    for (let second = 3; second < 20; second++) {
      const both = at(0, second) + at(1, second);
      assert.ok(both > 8.5e6 && both < 10.5e6, `second ${second}: ${both} bit/s`);
    }
  });

  test("the queue is one line for both, and stays when either is switched off", async () => {
    const same = await visit.page.evaluate(() => window.longhaul.runs[0].tables.get("queue") === window.longhaul.runs[1].tables.get("queue"));
    assert.ok(same);
    assert.deepEqual([await legend("queue"), await legend("share")], [1, 2]);
    await visit.page.screenshot({ path: `${ARTIFACTS}flows.png`, fullPage: true });
    for (const name of ["A longhaul (arm)", "B linux"]) {
      await visit.page.getByRole("button", { name }).click();
      await settled();
      assert.deepEqual([await legend("queue"), await legend("share")], [1, 1], `without ${name}`);
      assert.equal(await visit.page.locator(".lane.empty").count(), 0);
      await visit.page.getByRole("button", { name }).click();
    }
    assert.deepEqual(visit.noise, [], "requests, errors or warnings");
  });
});
