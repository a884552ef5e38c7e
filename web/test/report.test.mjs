// The report in a real browser, with results of the program itself.

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { ARTIFACTS, launch, open } from "./browser.mjs";
import { longhaul } from "./program.mjs";

/** A grid of two axes with three arms, and the rows that the program printed beside the page. */
const GRID = ["ab", "wan", "--arms", "server-2016,server-2022,longhaul", "--set", "path.rtt=25ms,50ms", "--set", "flow.bytes=200kB,2MB", "--iterations", "7"];
/** Flows beside others, for shares and waits. */
const COMPANY = ["ab", "late-comer", "--arms", "linux,longhaul", "--set", "path.rtt=100ms", "--set", "flow.window=6s..12s", "--set", "flow.company=arm start=0s..2s + linux start=0s..2s,arm start=0s..2s + longhaul start=0s..2s", "--iterations", "3"];

const made = (name, words) => {
  const file = `${ARTIFACTS}${name}.html`;
  const lines = longhaul(...words, "--format", "jsonl", "--report", file);
  return { file, rows: lines.trim().split("\n").map((line) => JSON.parse(line)) };
};

/** As the terminal shows a ratio. */
const ratio = (value) => value.toFixed(value >= 100 ? 1 : value >= 10 ? 2 : 3);

describe("the report", () => {
  let browser;
  let grid;
  let company;
  before(async () => {
    browser = await launch();
    grid = made("report", GRID);
    company = made("report-company", COMPANY);
  });
  after(() => browser.close());

  const visit = (name, which, body, options) =>
    test(name, async () => {
      const { file, rows } = which();
      const { page, noise, close } = await open(browser, file, options);
      try {
        await body(page, rows);
        assert.deepEqual(noise, [], "requests, errors or warnings");
      } finally {
        await close();
      }
    });
  const sections = (page) => page.locator("main section").evaluateAll((all) => all.map(({ id }) => id));
  const texts = (page, selector) => page.locator(selector).allTextContents();

  visit("has what there is to show of a grid, and asks for nothing", () => grid, async (page) => {
    assert.deepEqual(await sections(page), ["verdict", "expect", "how", "forest", "heat", "cells", "sizes", "distributions", "leaves"]);
    const marks = await page.locator(".chart").evaluateAll((all) => all.map((chart) => chart.querySelectorAll("svg path, svg circle, svg rect").length));
    assert.ok(marks.length >= 9 && marks.every((count) => count > 3), `${marks}`);
    await page.screenshot({ path: `${ARTIFACTS}report.png`, fullPage: true });
  });

  visit("its rows are those that the program printed, to the last digit", () => grid, async (page, rows) => {
    assert.deepEqual(await page.evaluate(() => window.report.rows), rows);
  });

  visit("every number of the table is the row's, with the decimals of the terminal", () => grid, async (page, rows) => {
    const shown = await page.locator("#cells tbody tr").evaluateAll((all) =>
      all.map((line) => ({
        arm: line.querySelector("th").textContent,
        versus: line.querySelector(".versus").textContent,
        numbers: [...line.querySelectorAll("[data-name]")].map((cell) => [cell.dataset.name, cell.textContent, cell.title]),
      })),
    );
    const decimals = await page.evaluate(() => Object.fromEntries(window.report.columns.map(({ name, decimals }) => [name, decimals])));
    assert.equal(shown.length, rows.length);
    for (const [at, row] of rows.entries()) {
      const { arm, versus, numbers } = shown[at];
      assert.equal(arm, row.arm);
      const found = row.vs_reference;
      if (found) assert.match(versus, new RegExp(`^${ratio(found.median_ratio)} \\[${ratio(found.lo)}, ${ratio(found.hi)}\\] .$`));
      else assert.equal(versus, "");
      assert.ok(numbers.length >= 6);
      for (const [name, text, exact] of numbers) {
        const value = name === "goodput_mbps" ? row.goodput_mbps.median : row[name];
        assert.equal(text, value === null ? "–" : value.toFixed(decimals[name] ?? 2), name);
        if (value !== null) assert.equal(exact, `${name} ${value}`);
      }
    }
  });

  visit("what is drawn of differences and sizes are the rows' numbers", () => grid, async (page, rows) => {
    const compared = rows.filter((row) => row.vs_reference);
    const labels = await page.locator("#forest .chart").evaluateAll((all) => all.map((chart) => chart.ariaLabel).join("; "));
    const spoken = labels.slice(labels.indexOf(": ") + 2).split("; ").map((part) => part.split(": ").at(-1));
    assert.deepEqual(spoken, compared.map((row) => ratio(row.vs_reference.median_ratio)));
    assert.equal(await page.locator("#forest g[aria-label=dot] circle").count(), compared.length);
    const open = compared.filter(({ vs_reference: { lo, hi } }) => lo <= 1 && hi >= 1);
    const tiles = (await texts(page, "#heat g[aria-label=text] text")).filter(Boolean);
    const clear = compared.filter((row) => !open.includes(row)).map((row) => ratio(row.vs_reference.median_ratio));
    assert.deepEqual([...tiles].sort(), clear.sort(), "blank where the interval holds 1");
    assert.equal(await page.locator("#sizes g[aria-label=dot] circle").count(), rows.length);
    assert.equal(await page.locator("#distributions figure").first().locator("g[aria-label=dot] circle").count(), 3 * 7, "a run is a point");
  });

  visit("pointing at a mark says its numbers, and a click how to make the run again", () => grid, async (page, rows) => {
    const dot = page.locator("#forest g[aria-label=dot] circle").first();
    await dot.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await dot.boundingBox();
    await page.mouse.move(x + width / 2 + 1, y + height / 2);
    const said = await page.locator("#forest g[aria-label=tip]").textContent();
    assert.ok(said.includes(rows[1].arm) && said.includes(rows[1].goodput_mbps.median.toFixed(2)), said);
    await page.screenshot({ path: `${ARTIFACTS}report-hover.png` });
    await page.mouse.click(x + width / 2 + 1, y + height / 2);
    const command = await page.textContent("dialog code");
    const run = rows[1].median_run.iteration;
    assert.match(command, new RegExp(`^longhaul run wan .*--arm server-2022 --cell 1 --iteration ${run} --trace (\\S+) && longhaul view \\1 -o \\1.html$`));
    await page.keyboard.press("Escape");
    await page.locator("#cells tbody button").last().click();
    assert.match(await page.textContent("dialog code"), /--arm longhaul --cell 4 /);
  });

  test("the command that the page gives makes the run of the row", () => {
    const [row] = grid.rows.slice(-1);
    const trace = `${ARTIFACTS}report-run`;
    const words = ["run", "wan", "--set", "path.rtt=25ms,50ms", "--set", "flow.bytes=200kB,2MB", "--seed", "1", "--arm", "longhaul", "--cell", "4", "--iteration", String(row.median_run.iteration)];
    longhaul(...words, "--trace", trace);
    const { run } = JSON.parse(readFileSync(`${trace}/summary.json`, "utf8"));
    assert.equal(run.seed, row.median_run.seed);
  });

  describe("with pages of its runs", () => {
    const kept = `${ARTIFACTS}kept`;
    const file = `${ARTIFACTS}linked.html`;
    const open_ = async (body) => {
      const { page, noise, close } = await open(browser, file);
      try {
        await body(page);
        assert.deepEqual(noise, [], "requests, errors or warnings");
      } finally {
        await close();
      }
    };
    const pages = () => grid.rows.map((_, at) => `linked-runs/${Math.floor(at / 3) + 1}-${(at % 3) + 1}.html`);
    before(() => {
      rmSync(kept, { recursive: true, force: true });
      longhaul(...GRID, "--format", "jsonl", "--out", kept);
      longhaul("report", kept, "--traces", "--out", file);
    });

    test("every row links to the page of its run, and so does a tile of the map", () =>
      open_(async (page) => {
        const links = await page.locator("#cells tbody a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
        assert.deepEqual(links, pages());
        assert.ok(links.every((link) => existsSync(`${ARTIFACTS}${link}`)));
        const tile = page.locator("#heat g[aria-label=cell] rect").first();
        await tile.scrollIntoViewIfNeeded();
        const { x, y, width, height } = await tile.boundingBox();
        await page.mouse.move(x + width / 2, y + height / 2);
        await page.mouse.click(x + width / 2 + 1, y + height / 2);
        assert.ok(pages().includes(await page.locator("dialog .opens a").getAttribute("href")));
        await page.screenshot({ path: `${ARTIFACTS}report-dialog.png` });
      }));

    test("the page has the reference's run and the row's own, with the goodput of its seed", async () => {
      const [row] = grid.rows.slice(-1);
      const { page, noise, close } = await open(browser, `${ARTIFACTS}${pages().at(-1)}`);
      const runs = await page.evaluate(() => window.longhaul.runs.map(({ name, about }) => [name, about]));
      assert.deepEqual(runs.map(([name]) => name), ["server-2016", "longhaul"]);
      assert.ok(runs.every(([, about]) => about.endsWith(`iteration ${row.median_run.iteration}`)), `${runs}`);
      assert.match(await page.textContent("#story"), /^(A|B) is \d|^A and B are equally fast/);
      const mbps = await page.evaluate(() => window.longhaul.runs[1].numbers.goodput_bps / 1e6);
      assert.ok(Math.abs(mbps / row.goodput_mbps.median - 1) < 0.01, `${mbps} and ${row.goodput_mbps.median}`);
      assert.deepEqual(noise, []);
      await close();
    });
  });

  visit("flows beside others have delays with ellipses, shares by company, and shares over time", () => company, async (page, rows) => {
    assert.ok((await sections(page)).includes("delays"));
    const runs = await page.evaluate(() => window.report.runs);
    assert.equal(await page.locator("#delays g[aria-label=dot] circle").count(), runs.cell.length);
    const ofRow = (values, at) => values.filter((_, run) => runs.cell[run] * 2 + runs.arm[run] === at);
    const varies = (values, at) => new Set(ofRow(values, at)).size > 1;
    const wide = rows.filter((_, at) => varies(runs.wait_p95_ms, at) && varies(runs.goodput_mbps, at)).length;
    assert.ok(wide > 0, "some runs differ in both");
    assert.equal(await page.locator("#delays g[aria-label=line] path").count(), wide);
    const middle = (values) => [...values].sort((one, other) => one - other)[1];
    for (const [at, row] of rows.entries()) {
      assert.equal(middle(ofRow(runs.wait_p95_ms, at)), row.wait_p95_ms, "three runs, and the row has the one in the middle");
    }
    const shares = (await texts(page, "#fairness g[aria-label=text] text")).filter(Boolean);
    assert.deepEqual(shares, rows.map((row) => row.share_pct.toFixed(1)), "a share for each arm and company");
    assert.deepEqual(await page.evaluate(() => window.report.cells.map((cell) => cell.fair_pct)), [50, 50]);
    const courses = await page.evaluate(() => window.report.courses);
    assert.deepEqual(courses.map(({ iteration }) => iteration), rows.map((row) => row.median_run.iteration));
    assert.ok(courses.every(({ share_pct }) => share_pct.length >= 12 && share_pct.every((pct) => pct === null || (pct >= 0 && pct <= 100))));
    assert.equal(await page.locator("#courses g[aria-label=line] path").count(), rows.length);
    await page.screenshot({ path: `${ARTIFACTS}report-company.png`, fullPage: true });
  });

  visit("in the dark as well, and on paper light", () => grid, async (page) => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), "dark");
    await page.screenshot({ path: `${ARTIFACTS}report-dark.png`, fullPage: true });
    await page.emulateMedia({ media: "print" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    await page.emulateMedia({ media: "screen" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await page.locator("button.theme").click();
    assert.equal(await theme(), "light");
  }, { colorScheme: "dark" });

  visit("paper and a phone hold every chart", () => grid, async (page) => {
    const tooWide = () =>
      page.evaluate(() => {
        const wide = [...document.querySelectorAll(".chart svg")].filter((svg) => svg.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
        return [wide.length, document.documentElement.scrollWidth - document.documentElement.clientWidth];
      });
    const dots = await page.locator("#sizes .chart").evaluateAll((all) => all.map((chart) => chart.querySelectorAll('g[aria-label="y-axis tick label"] text').length));
    assert.ok(dots.every((labels) => labels >= 3), `labels of times: ${dots}`);
    for (const width of [360, 700]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
      assert.deepEqual(await tooWide(), [0, 0], `${width} pixels`);
      if (width === 360) await page.screenshot({ path: `${ARTIFACTS}report-phone.png`, fullPage: true });
    }
    assert.equal(await page.locator("#leaves details[open]").count(), 0, "more leaves than are shown at once");
    await page.emulateMedia({ media: "print" });
    await page.waitForFunction(() => document.querySelectorAll("#leaves details:not([open])").length === 0);
    await page.setViewportSize({ width: 700, height: 990 });
    await page.screenshot({ path: `${ARTIFACTS}report-paper.png`, fullPage: true });
    writeFileSync(`${ARTIFACTS}report.pdf`, await page.pdf({ format: "A4", printBackground: true }));
    await page.emulateMedia({ media: "screen" });
    await page.waitForFunction(() => document.querySelectorAll("#leaves details[open]").length === 0);
  });

  visit("who cannot see the charts hears what they show", () => grid, async (page) => {
    const labels = await page.locator(".chart").evaluateAll((all) => all.map((chart) => chart.ariaLabel));
    assert.ok(labels.every((label) => label.length > 20), `${labels}`);
    const nameless = await page.locator("button").evaluateAll((all) => all.filter((b) => !(b.getAttribute("aria-label") || b.title || b.textContent).trim()).length);
    assert.equal(nameless, 0);
  });

  test("the empty report says how to fill it", async () => {
    const { page, noise, close } = await open(browser, new URL("../../crates/report/assets/report.html", import.meta.url).pathname);
    assert.match(await page.textContent(".failed"), /longhaul ab EXPERIMENT --report FILE/);
    assert.deepEqual(noise, []);
    await close();
  });
});
