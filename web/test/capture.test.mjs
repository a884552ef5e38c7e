// A capture on the page: what its analysis found, and the throughput by ACKs alone.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ARTIFACTS, launch, open } from "./browser.mjs";
import { longhaul } from "./program.mjs";

describe("a capture of a path that reorders", () => {
  const file = `${ARTIFACTS}capture.html`;
  let browser;
  let visit;
  let report;
  before(async () => {
    const trace = `${ARTIFACTS}captured`;
    longhaul("run", "dsack", "--arm", "windows-11-21h2", "--set", "flow.bytes=1MB", "--trace", trace);
    longhaul("analyze", `${trace}/trace.pcapng`, "--view", file);
    report = JSON.parse(longhaul("analyze", `${trace}/trace.pcapng`, "--format", "jsonl"));
    browser = await launch();
    visit = await open(browser, file);
  });
  after(() => browser.close());

  test("the analysis leads, and its findings stand on the card with what they cost", async () => {
    const [first] = report.verdict;
    const said = await visit.page.textContent("#story");
    assert.equal(said, `${first.says[0].toUpperCase()}${first.says.slice(1)}.`);
    assert.match(said, /D-SACKs prove \d+ of \d+ retransmissions spurious/);
    const shown = await visit.page.locator(".findings li").evaluateAll((all) => all.map((item) => [...item.children].map((part) => part.textContent)));
    const expected = [...report.verdict, ...report.notes].map(({ says, cost_pct }) => [cost_pct > 0 ? `${cost_pct.toFixed(1)} %` : "", says]);
    assert.deepEqual(shown, expected);
  });

  test("throughput comes from its ACKs: every byte acknowledged is in a bin", async () => {
    const bits = await visit.page.evaluate(() => {
      const run = window.longhaul.runs[0];
      const { t, rows, columns } = run.tables.get("acked");
      const rate = columns.get("v").values;
      let sum = 0;
      for (let row = 0; row < rows; row++) sum += (rate[row] * ((t[row + 1] ?? run.end) - t[row])) / 1e6;
      return sum;
    });
    const delivered = report.directions ? report.directions.map(({ delivered_bytes }) => delivered_bytes) : [];
    const most = Math.max(1e6, ...delivered);
    assert.ok(Math.abs(bits / 8 / most - 1) < 0.01, `${bits / 8} of ${most} bytes`);
    assert.equal(await visit.page.locator('[data-lane="rate"].empty').count(), 0);
    const rows = await visit.page.locator(".legend.rows li .name").allTextContents();
    assert.ok(rows.every((row) => !/Tcp[A-Z]/.test(row)), "a capture is of no known system");
    await visit.page.screenshot({ path: `${ARTIFACTS}capture.png`, fullPage: true });
    assert.deepEqual(visit.noise, []);
  });
});
