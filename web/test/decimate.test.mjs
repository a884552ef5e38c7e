// What is drawn is bounded by the screen, whatever the trace; and small traces are drawn whole.

import assert from "node:assert/strict";
import { test } from "node:test";
import { build } from "esbuild";

const bundle = await build({ entryPoints: [new URL("../src/decimate.ts", import.meta.url).pathname], bundle: true, format: "esm", write: false });
const { bars, bands, density, extent, lastAt, lowerBound, steps, within } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`
);

const frame = (overrides = {}) => ({ width: 100, height: 50, x0: 0, x1: 1000, y0: 0, y1: 10, slope: 0, ...overrides });
const recorder = () => {
  const points = [];
  return { points, moveTo: (x, y) => points.push(["M", x, y]), lineTo: (x, y) => points.push(["L", x, y]) };
};
const rising = (n, end) => Float64Array.from({ length: n }, (_, i) => (i / n) * end);

test("searches find the first row of a time and the last", () => {
  const t = Float64Array.of(1, 3, 3, 3, 7);
  assert.deepEqual([0, 1, 2, 3, 4, 8].map((at) => lowerBound(t, at)), [0, 0, 1, 1, 4, 5]);
  assert.deepEqual([0, 1, 2, 3, 4, 8].map((at) => lastAt(t, at)), [-1, 0, 0, 3, 3, 4]);
  assert.deepEqual(within(t, 2, 3), [1, 4]);
});

test("a line of few values goes through each of them and holds until its end", () => {
  const pen = recorder();
  steps(Float64Array.of(100, 500), Float64Array.of(2, 8), 900, frame(), pen);
  assert.deepEqual(pen.points, [
    ["M", 10, 40],
    ["L", 10, 40], ["L", 10, 40],
    ["L", 50, 40], ["L", 50, 10],
    ["L", 90, 10],
  ]);
});

test("a line begins with the value that holds at the left edge", () => {
  const pen = recorder();
  steps(Float64Array.of(100, 500), Float64Array.of(2, 8), 2000, frame({ x0: 300, x1: 400 }), pen);
  assert.deepEqual(pen.points, [["M", 0, 40], ["L", 100, 40]]);
});

test("a line of a million values needs five points a column, and shows the greatest and the least", () => {
  const n = 1_000_000;
  const values = Float64Array.from({ length: n }, (_, i) => (i === 777_777 ? 9 : i === 333_333 ? 1 : 5));
  const pen = recorder();
  const points = steps(rising(n, 1000), values, 1000, frame(), pen);
  assert.ok(points <= 5 * 100 + 2, `${points} points`);
  const heights = pen.points.map(([, , y]) => y);
  assert.deepEqual([Math.min(...heights), Math.max(...heights)], [5, 45]);
});

test("bars of a column that touch become one, and others stay apart", () => {
  const drawn = [];
  bars(Float64Array.of(5, 6, 7), Float64Array.of(1, 2, 6), Float64Array.of(2, 3, 7), frame(), 1, (...bar) => drawn.push(bar));
  assert.deepEqual(drawn, [[0, 15, 5], [0, 35, 10]]);
});

test("a million bars are at most half a bar for each pixel of the height, column by column", () => {
  const n = 1_000_000;
  const lo = Float64Array.from({ length: n }, (_, i) => (i * 7919) % 10);
  const hi = lo.map((value) => value + 0.01);
  const columns = new Map();
  const drawn = bars(rising(n, 1000), lo, hi, frame(), 1, (column) => columns.set(column, (columns.get(column) ?? 0) + 1));
  assert.equal([...columns.values()].reduce((sum, count) => sum + count, 0), drawn);
  assert.ok(Math.max(...columns.values()) <= 25);
  assert.equal(columns.size, 100);
});

test("bars outside the axis are left out, and those across its edge are cut", () => {
  const drawn = [];
  bars(Float64Array.of(5, 15, 25), Float64Array.of(-5, 9, 12), Float64Array.of(-1, 20, 15), frame(), 1, (...bar) => drawn.push(bar));
  assert.deepEqual(drawn, [[1, 0, 5]]);
});

test("detrending takes the slope away from bars, lines and their extent alike", () => {
  const t = Float64Array.of(0, 500, 1000);
  const v = Float64Array.of(3, 503, 1003);
  const flat = frame({ slope: 1 });
  assert.deepEqual(extent(t, v, 0, 1000, 1, true), [3, 3]);
  const tops = new Set();
  bars(t, v, v, flat, 2, (_, top) => tops.add(top));
  assert.equal(tops.size, 1);
});

test("events are counted column by column", () => {
  const seen = [];
  density(Float64Array.of(1, 2, 3, 500, 999), frame(), (...column) => seen.push(column));
  assert.deepEqual(seen, [[0, 3], [50, 1], [99, 1]]);
});

test("each column of the band shows what filled most of it", () => {
  const drawn = [];
  const from = Float64Array.of(0, 300, 308, 600);
  const until = Float64Array.of(300, 308, 600, 1000);
  bands(from, until, Float64Array.of(0, 1, 0, 2), 3, frame(), (...band) => drawn.push(band));
  assert.deepEqual(drawn, [[0, 30, 0], [30, 1, 1], [31, 29, 0], [60, 40, 2]]);
});
