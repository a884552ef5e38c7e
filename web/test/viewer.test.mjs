// The viewer in a real browser, on made-up traces. No test waits for the clock or measures it; `bench.mjs` does.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { ARTIFACTS, launch, open } from "./browser.mjs";
import { madeUpRun, page as build, rowsOf } from "./payload.mjs";

const file = (name, runs) => {
  const path = `${ARTIFACTS}${name}.html`;
  writeFileSync(path, build(runs, name));
  return path;
};
const span = (page) => page.evaluate(() => [window.longhaul.x0, window.longhaul.x1, window.longhaul.end]);
const said = (page) => page.textContent("#said");
const picture = (page, name) => page.screenshot({ path: `${ARTIFACTS}${name}.png`, fullPage: true });
/** Until the last change is on the screen. */
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

describe("the viewer", () => {
  let browser;
  let one;
  let two;
  before(async () => {
    browser = await launch();
    const wise = madeUpRun({ name: "wise", segments: 12_000, seed: 5 });
    const unwise = madeUpRun({ name: "unwise", segments: 12_000, seed: 5, wise: false });
    one = file("one", [wise]);
    two = file("two", [wise, unwise]);
  });
  after(() => browser.close());

  const visit = (name, which, body, options) =>
    test(name, async () => {
      const { page, noise, close } = await open(browser, which(), options);
      try {
        await body(page);
        assert.deepEqual(noise, [], "requests, errors or warnings");
      } finally {
        await close();
      }
    });

  visit("shows every lane of a trace, and asks for nothing", () => one, async (page) => {
    const lanes = await page.locator("section.lane").evaluateAll((all) => all.map((lane) => lane.dataset.lane));
    assert.deepEqual(lanes, ["sequence", "window", "rtt", "rate", "queue", "limits", "events"]);
    const painted = await page.locator("canvas").evaluateAll((all) =>
      all.map((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)),
    );
    assert.deepEqual(painted, Array(7).fill(true));
    assert.equal(await page.locator(".card").count(), 1);
    await picture(page, "one");
  });

  visit("the ten rows stand in their order with their counts", () => one, async (page) => {
    const rows = await page.locator(".legend.rows li .name").allTextContents();
    assert.deepEqual(rows, [
      "Packet reordered", "Early recovery TcpEarlyRetransmit", "Fast retransmit TcpLossRecoverySend", "SACK retransmit TcpLossRecoverySend",
      "Timeout retransmit TcpDataTransferRestransmit", "Retransmission timer TcpTcbExpireTimer", "D-SACK TcpReceiveSack DSackCount",
      "Given up for lost TcpSendTrackerDetectLoss", "Reordering seen TcpSendTrackerSackReorderingDetected", "Reordering window TcpSendTrackerUpdateReoWnd",
    ]);
    const counts = (await page.locator(".legend.rows li .count").allTextContents()).map(Number);
    const truth = await page.evaluate(() => ["reordered", "early", "fast", "sack", "timeout", "expire", "dsack", "lost", "sack_reordering", "reo_wnd"].map((row) => window.longhaul.runs[0].tables.get(`row/${row}`)?.rows ?? 0));
    assert.deepEqual(counts, truth);
    assert.ok(counts[6] > 0);
  });

  test("events have a system's names where the profile is of that system, and only there", async () => {
    const named = async (...systems) => {
      const runs = systems.map((system, at) => ({ ...madeUpRun({ name: `run ${at}`, segments: 500 }), system }));
      const { page, noise, close } = await open(browser, file("systems", runs));
      const rows = await page.locator(".legend.rows li .name").allTextContents();
      assert.deepEqual(noise, []);
      await close();
      return rows;
    };
    assert.equal((await named("linux"))[5], "Retransmission timer TCPTimeouts");
    assert.equal((await named("windows", "windows"))[5], "Retransmission timer TcpTcbExpireTimer");
    for (const rows of [await named(null), await named("linux", "windows"), await named(null, "windows")]) {
      assert.equal(rows[5], "Retransmission timer");
      assert.ok(rows.every((row) => !/Tcp[A-Z]|TCP[A-Z]|tcp:/.test(row)), `${rows}`);
    }
  });

  visit("a drag zooms all lanes, a double click shows everything again", () => one, async (page) => {
    const box = await page.locator('[data-lane="window"] .u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    const [x0, x1, end] = await span(page);
    assert.ok(Math.abs(x0 / end - 0.25) < 0.01 && Math.abs(x1 / end - 0.5) < 0.01, `${x0 / end} to ${x1 / end}`);
    await picture(page, "zoom");
    await page.mouse.dblclick(box.x + 100, box.y + 40);
    assert.deepEqual((await span(page)).slice(0, 2), [0, end]);
  });

  visit("keys zoom, pan, detrend, change colours and go back", () => one, async (page) => {
    const [, , end] = await span(page);
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    assert.deepEqual(await span(page), [end * 0.375, end * 0.625, end]);
    await page.keyboard.press("ArrowRight");
    assert.ok(Math.abs((await span(page))[0] - end * 0.425) < 1);
    assert.match(await said(page), /^Showing /);
    await page.keyboard.press("0");
    await page.keyboard.press("d");
    await page.keyboard.press("c");
    await settled(page);
    assert.equal(await page.getAttribute('[data-key="d"]', "aria-pressed"), "true");
    assert.equal(await page.textContent('[data-key="c"]'), "Wireshark");
    await picture(page, "detrended");
    await page.keyboard.press("?");
    assert.ok(await page.locator("dialog.help").isVisible());
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("dialog.help").isHidden());
  });

  visit("n and p go from loss to loss, and say which", () => one, async (page) => {
    const first = await page.evaluate(() => window.longhaul.runs[0].tables.get("row/lost").t[0]);
    await page.keyboard.press("n");
    const [x0, x1] = await span(page);
    assert.ok(x0 <= first && first <= x1);
    assert.match(await said(page), /^loss 1 of \d+: \d+ segments? by .* at /);
    await page.keyboard.press("n");
    assert.match(await said(page), /^loss 2 of /);
    await page.keyboard.press("p");
    assert.match(await said(page), /^loss 1 of /);
  });

  visit("hovering a mark names the event, its fields and where it is specified", () => one, async (page) => {
    const at = await page.evaluate(() => window.longhaul.runs[0].tables.get("row/dsack").t[1]);
    await page.evaluate((t) => window.longhaul.show(t - 50_000, t + 50_000), at);
    await settled(page);
    const rows = page.locator('[data-lane="events"] .u-over');
    await rows.scrollIntoViewIfNeeded();
    const box = await rows.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + (box.height * 6.5) / 10);
    const text = await page.textContent(".tooltip");
    assert.match(text, /D-SACK/);
    assert.match(text, /lo.*hi/);
    assert.match(text, /RFC 2883/);
    await picture(page, "hover");
  });

  visit("a line and a limit answer the pointer where they hold, not only where they change", () => one, async (page) => {
    const [at, value] = await page.evaluate(() => {
      const { t, rows, columns } = window.longhaul.runs[0].tables.get("min_rtt");
      return [t[rows - 1], columns.get("v").values[rows - 1]];
    });
    await page.evaluate((t) => window.longhaul.show(t + 200_000, t + 300_000), at);
    await settled(page);
    const rtt = page.locator('[data-lane="rtt"] .u-over');
    await rtt.scrollIntoViewIfNeeded();
    const box = await rtt.boundingBox();
    const [low, high] = await page.evaluate((v) => [window.longhaul.x0, v], value);
    assert.ok(low > at && high === 100_000, "nothing changes in view");
    let text = "";
    for (let y = 2; y < box.height && !/RACK.min_RTT/.test(text); y += 3) {
      await page.mouse.move(box.x + box.width / 2 + (y % 2), box.y + y);
      text = (await page.locator(".tooltip").isVisible()) ? await page.textContent(".tooltip") : "";
    }
    assert.match(text, /RACK.min_RTT.*Minimum.*100\sms.*RFC 8985/);
    assert.ok(await page.locator(".ring").isVisible());
    await page.keyboard.press("Escape");
    assert.ok(await page.locator(".tooltip").isHidden());
    const limits = page.locator('[data-lane="limits"] .u-over');
    await limits.scrollIntoViewIfNeeded();
    const band = await limits.boundingBox();
    await page.mouse.move(band.x + band.width / 2, band.y + band.height / 2);
    assert.match(await page.textContent(".tooltip"), /^Limited by .* for .*until.*(RFC \d+ §)/);
  });

  visit("a box drawn in the time–sequence lane chooses numbers, too, and goes along", () => one, async (page) => {
    const box = await page.locator('[data-lane="sequence"] .u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.3);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.65, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    const band = () => page.evaluate(() => window.longhaul.band);
    const [low, high] = await band();
    const [x0, x1, end] = await span(page);
    assert.ok(Math.abs((x1 - x0) / end - 0.2) < 0.01);
    const shown = await page.evaluate(() => {
      const { columns, rows } = window.longhaul.runs[0].tables.get("acks");
      return columns.get("ack").values[rows - 1];
    });
    assert.ok(high - low > shown * 0.3 && high - low < shown * 0.6, `${low} to ${high} of ${shown}`);
    await page.keyboard.press("ArrowRight");
    const moved = await band();
    assert.ok(moved[0] > low && Math.abs(moved[1] - moved[0] - (high - low)) < 1, "the band follows the data");
    await page.keyboard.press("0");
    assert.equal(await band(), null);
  });

  visit("f fits the time–sequence lane to the segments sent, then to the acknowledgements", () => one, async (page) => {
    await page.evaluate(() => window.longhaul.show(window.longhaul.end * 0.8, window.longhaul.end * 0.8 + 20_000));
    await settled(page);
    const labels = async () => {
      await settled(page);
      const { x, y, height } = await page.locator('[data-lane="sequence"] canvas').boundingBox();
      return (await page.screenshot({ clip: { x, y, width: 84, height } })).toString("base64");
    };
    const all = await labels();
    await page.keyboard.press("f");
    await settled(page);
    assert.equal(await page.getAttribute('[data-key="f"]', "aria-label"), "Time–sequence lane: Fit sent");
    assert.match(await page.textContent("#lane-sequence"), /segments sent alone/);
    const sent = await labels();
    await page.keyboard.press("f");
    const acks = await labels();
    assert.equal(new Set([all, sent, acks]).size, 3, "three axes");
    await page.keyboard.press("f");
    assert.equal(await labels(), all);
  });

  visit("a legend's entry hides its series and brings it back", () => one, async (page) => {
    const cwnd = page.locator('[data-lane="window"] [data-series="cwnd"]');
    await cwnd.focus();
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await cwnd.getAttribute("aria-pressed"), "false");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.series), "cwnd");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await cwnd.getAttribute("aria-pressed"), "true");
  });

  visit("two traces share the axes, each in its hue, and either can be switched off", () => two, async (page) => {
    assert.equal(await page.locator(".card").count(), 2);
    const dsacks = page.locator(".legend.rows li").nth(6).locator(".count");
    assert.match(await dsacks.textContent(), /^\d+ · –$/);
    await picture(page, "two");
    await page.getByRole("button", { name: "B unwise" }).click();
    await settled(page);
    assert.match(await dsacks.textContent(), /^\d+$/);
    assert.deepEqual(await page.evaluate(() => window.longhaul.visible), [0]);
    await page.getByRole("button", { name: "A wise" }).click();
    assert.deepEqual(await page.evaluate(() => window.longhaul.visible), [0], "one trace always stays");
  });

  test("a trace shows around the one that covers it", async () => {
    const same = [0, 1].map((at) => madeUpRun({ name: `same ${at}`, segments: 3_000, seed: 5 }));
    const { page, noise, close } = await open(browser, file("covered", same));
    const shares = await page.locator('[data-lane="window"] canvas').evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const of = ([red, green, blue]) => {
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && Math.abs(data[i] - red) + Math.abs(data[i + 1] - green) + Math.abs(data[i + 2] - blue) < 24) count += 1;
        return count;
      };
      return [of([0x25, 0x63, 0xeb]), of([0xc2, 0x41, 0x0c])];
    });
    assert.ok(Math.min(...shares) > 300, `pixels of A and B: ${shares}`);
    assert.deepEqual(noise, []);
    await close();
  });

  visit("the address says what is shown, and opens the same view", () => two, async (page) => {
    const address = () => page.evaluate(() => location.hash);
    assert.equal(await address(), "");
    await page.evaluate(() => window.longhaul.show(1_250_000, 2_500_000, [1_000_000, 4_000_000]));
    await page.keyboard.press("c");
    await page.locator('[data-lane="window"] [data-series="pipe"]').click();
    await page.getByRole("button", { name: "B unwise" }).click();
    await page.waitForFunction(() => location.hash.includes("traces="));
    const link = await address();
    assert.equal(link, "#t=1.25-2.5&y=1000000-4000000&colours=wireshark&traces=A&hide=pipe");
    const again = await open(browser, two, {}, link);
    const view = (of) => of.evaluate(() => {
      const { x0, x1, band, scheme, shown, hidden } = window.longhaul;
      return { x0, x1, band, scheme, shown, hidden: [...hidden] };
    });
    assert.deepEqual(await view(again.page), await view(page));
    await again.page.evaluate(() => (location.hash = "#t=1-x&fit=none&traces=Z"));
    await again.page.waitForFunction(() => window.longhaul.x0 === 0 && window.longhaul.visible.length === 2);
    assert.deepEqual(again.noise, [], "nonsense shows everything");
    await again.close();
    await page.keyboard.press("0");
    await page.waitForFunction(() => !location.hash.includes("t="));
  });

  visit("the lanes that are visible become one SVG file that needs nothing else", () => two, async (page) => {
    await page.locator('[data-lane="window"] [data-series="pipe"]').click();
    await settled(page);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as SVG" }).click()]);
    assert.equal(download.suggestedFilename(), "two.svg");
    const path = `${ARTIFACTS}two.svg`;
    await download.saveAs(path);
    const text = readFileSync(path, "utf8");
    const found = await page.evaluate((svg) => {
      const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
      const texts = [...parsed.querySelectorAll("text")].map((node) => node.textContent);
      const numbers = [...parsed.querySelectorAll("path")].map((node) => node.getAttribute("d"));
      return { root: parsed.documentElement.nodeName, errors: parsed.querySelectorAll("parsererror").length, texts, paths: numbers.length, bad: numbers.filter((d) => /NaN|Infinity|undefined/.test(d)).length, clips: parsed.querySelectorAll("clipPath").length };
    }, text);
    assert.deepEqual([found.root, found.errors, found.bad, found.clips], ["svg", 0, 0, 7]);
    assert.ok(found.paths > 20, `${found.paths} paths`);
    for (const title of ["Time–sequence", "Congestion window", "Round-trip time", "Throughput", "Bottleneck queue", "Limited by", "Events", "cwnd", "RTO rtx"]) assert.ok(found.texts.includes(title), title);
    assert.ok(!found.texts.includes("pipe"), "what is hidden is left out");
    assert.ok(found.texts.some((each) => / × as fast as /.test(each)), "the sentence is on it");
    const beyond = [...text.matchAll(/(?:href|src|url\()[^>\s]*/g)].map(([each]) => each).filter((each) => !each.startsWith("url(#plot-"));
    assert.deepEqual(beyond, [], "references beyond the file");
    const drawn = await browser.newPage({ viewport: { width: 1100, height: 1400 } });
    await drawn.setContent(text.slice(text.indexOf("<svg")));
    await picture(drawn, "svg");
    await drawn.close();
  });

  visit("paper is light, in colour, and as wide as paper", () => two, async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.setViewportSize({ width: 700, height: 990 });
    await page.emulateMedia({ media: "print" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light" && window.longhaul.paper);
    const widths = await page.locator("canvas").evaluateAll((all) => all.map((canvas) => canvas.getBoundingClientRect().width));
    assert.ok(widths.every((width) => width > 600 && width <= 700), `${widths}`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".shares span")).printColorAdjust), "exact");
    await picture(page, "paper");
    writeFileSync(`${ARTIFACTS}viewer.pdf`, await page.pdf({ format: "A4", printBackground: false }));
    await page.emulateMedia({ media: "screen" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark" && !window.longhaul.paper);
  }, { colorScheme: "dark" });

  visit("in the dark as well", () => two, async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await picture(page, "dark");
    await page.keyboard.press("t");
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  }, { colorScheme: "dark" });

  visit("who cannot see the picture gets names, words and a table", () => one, async (page) => {
    for (const lane of await page.locator("section.lane").all()) {
      const label = await lane.getAttribute("aria-labelledby");
      assert.ok((await page.textContent(`#${label}`)).length > 0, label);
      assert.ok((await lane.locator("canvas").getAttribute("aria-label")).length > 20, label);
    }
    const nameless = await page.locator("button").evaluateAll((all) => all.filter((b) => !(b.getAttribute("aria-label") ?? b.textContent).trim()).length);
    assert.equal(nameless, 0);
    await page.getByText("The same as a table").click();
    // The table is made when it is opened.
    await page.locator("table.summary tbody tr").nth(20).waitFor({ state: "attached" });
    await page.keyboard.press("]");
    assert.match(await said(page), /, at \d.*(RFC|emulator)/);
    assert.match(await page.textContent(".tooltip"), /RFC|emulator/, "those who see it see the same");
  });

  visit("a narrow window keeps everything within it", () => two, async (page) => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    await picture(page, "narrow");
  }, { viewport: { width: 720, height: 900 } });

  test("a lane without data says why, and the empty viewer says how to fill it", async () => {
    const bare = madeUpRun({ name: "bare", segments: 500 });
    bare.tables.delete("queue");
    bare.tables.delete("ssthresh");
    bare.tables.delete("row/lost");
    bare.why_empty = { queue: "No emulator stood between the ends.", ssthresh: "Not observed.", "row/lost": "Unknown cause." };
    const { page, noise, close } = await open(browser, file("bare", [bare]));
    assert.match(await page.textContent('[data-lane="queue"] .why'), /No emulator/);
    assert.equal(await page.textContent('[data-lane="window"] .why'), "ssthresh: Not observed.");
    assert.equal(await page.textContent('[data-lane="events"] .why'), "Row 8: Unknown cause.");
    const rows = page.locator('[data-lane="events"] .u-over');
    await rows.scrollIntoViewIfNeeded();
    const box = await rows.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + (box.height * 7.5) / 10);
    assert.match(await page.textContent(".tooltip"), /Given up for lost.*Unknown cause/);
    assert.deepEqual(noise, []);
    await close();
    const empty = await open(browser, new URL("../../crates/report/assets/viewer.html", import.meta.url).pathname);
    assert.match(await empty.page.textContent(".failed"), /longhaul view TRACE/);
    assert.deepEqual(empty.noise, []);
    await empty.close();
  });

  test("what a frame draws is bounded by the screen, not by the trace", async () => {
    const run = madeUpRun({ name: "long", segments: 220_000 });
    assert.ok(rowsOf(run) > 990_000, `${rowsOf(run)} rows`);
    const { page, noise, close } = await open(browser, file("long", [run]));
    for (const share of [1, 0.3, 0.01]) {
      const { shapes, columns } = await page.evaluate((part) => {
        const state = window.longhaul;
        state.show(state.end * 0.4, state.end * (0.4 + part));
        state.drawNow();
        return { ...state.stats };
      }, share);
      assert.ok(shapes <= 60 * columns, `${shapes} shapes on ${columns} columns for a share of ${share}`);
    }
    assert.deepEqual(noise, []);
    await picture(page, "long");
    await close();
  });
});
