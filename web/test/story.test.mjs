// The story for which the viewer exists, shown with traces of the program itself: a sender that recognises D-SACKs and one
// that does not, on a path that reorders.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ARTIFACTS, launch, open } from "./browser.mjs";
import { longhaul } from "./program.mjs";

describe("a path that reorders, without and with D-SACKs recognised", () => {
  const page = `${ARTIFACTS}dsack.html`;
  let browser;
  let visit;
  /** Numbers of both traces: without, with. */
  let both;
  before(async () => {
    const traces = ["windows-11-21h2", "windows-11-22h2"].map((arm) => {
      const trace = `${ARTIFACTS}${arm}`;
      longhaul("run", "dsack", "--arm", arm, "--trace", trace);
      return trace;
    });
    longhaul("view", ...traces, "-o", page);
    browser = await launch();
    visit = await open(browser, page);
    both = (read) => visit.page.evaluate(`window.longhaul.runs.map(${read})`);
  });
  after(() => browser.close());

  /** What the legend says of a row of events. */
  const counts = async (row) => {
    const text = await visit.page.locator(".legend.rows li", { hasText: row }).locator(".count").textContent();
    return text.split(" · ").map((number) => Number(number.replace(/\s/g, "")));
  };

  test("the page says in a sentence which is faster, by how much and why, from the traces' own numbers", async () => {
    const rates = await both("(run) => run.numbers.goodput_bps");
    const [{ dsacks_sent: sent }] = await both("(run) => run.numbers");
    const said = (await visit.page.textContent("#story")).replaceAll(/\s/g, " ");
    assert.equal(said, `B is ${(rates[1] / rates[0]).toFixed(2)} × as fast as A: A ignored ${sent} D-SACKs.`);
    assert.ok(sent > 100 && rates[1] > 1.4 * rates[0]);
  });

  test("without, the D-SACK row is empty while the receiver reported hundreds", async () => {
    assert.equal((await counts("D-SACK"))[0], 0);
    const facts = await visit.page.locator(".card").first().textContent();
    const [, sent] = facts.match(/(\d+) sent, 0 recognised/);
    assert.ok(Number(sent) > 100, facts);
    assert.match(await visit.page.locator(".legend.rows li", { hasText: "D-SACK" }).getAttribute("title"), new RegExp(`reported ${sent} duplicates`));
  });

  test("with, the rows of D-SACKs and of the reordering window fill and the multiplier rises", async () => {
    assert.ok((await counts("D-SACK"))[1] >= 5);
    assert.ok((await counts("Reordering window"))[1] >= 5);
    const multipliers = await both(`(run) => [...run.tables.get("row/reo_wnd").columns.get("multiplier").values]`);
    assert.equal(Math.max(...multipliers[0]), 1, "without");
    const [first] = multipliers[1];
    assert.ok(first === 1 && Math.max(...multipliers[1]) >= 5, `${first} to ${Math.max(...multipliers[1])}`);
  });

  test("without, the rows of retransmissions and of losses are many times as dense", async () => {
    for (const row of ["Fast retransmit", "SACK retransmit", "Given up for lost"]) {
      const [without, with_] = await counts(row);
      assert.ok(without > 10 * with_, `${row}: ${without} and ${with_}`);
    }
  });

  test("without, the congestion window is lower and the transfer takes longer", async () => {
    const mean = await both(`(run) => {
      const cwnd = run.tables.get("cwnd");
      const values = cwnd.columns.get("v").values;
      let area = 0;
      for (let i = 0; i < cwnd.rows; i++) area += values[i] * ((i + 1 < cwnd.rows ? cwnd.t[i + 1] : run.end) - cwnd.t[i]);
      return area / (run.end - cwnd.t[0]);
    }`);
    assert.ok(mean[0] * 3 < mean[1], `${mean} bytes`);
    const [slow, fast] = await both("(run) => run.end");
    assert.ok(slow > 1.4 * fast, `${slow} and ${fast} µs`);
  });

  test("all of it is seen: every lane has ink, and nothing was asked for", async () => {
    assert.equal(await visit.page.locator(".lane.empty").count(), 0);
    await visit.page.screenshot({ path: `${ARTIFACTS}dsack.png`, fullPage: true });
    await visit.page.keyboard.press("n");
    assert.match(await visit.page.textContent("#said"), /^[AB], loss 1 of /);
    await visit.page.screenshot({ path: `${ARTIFACTS}dsack-loss.png`, fullPage: true });
    await visit.page.keyboard.press("0");
    await visit.page.setViewportSize({ width: 390, height: 844 });
    await visit.page.waitForFunction(() => document.querySelector(".lane canvas").clientWidth < 390);
    assert.equal(await visit.page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth)), 0, "a phone holds it");
    await visit.page.screenshot({ path: `${ARTIFACTS}dsack-phone.png`, fullPage: true });
    assert.deepEqual(visit.noise, []);
  });
});
