// Labels of an axis: each must say where its line is, and no two the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import { build } from "esbuild";

const load = async (name) => {
  const bundle = await build({ entryPoints: [new URL(`../src/${name}.ts`, import.meta.url).pathname], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`);
};
const { axis, times } = await load("format");
const { burstsOf } = await load("losses");
const { ticks } = await load("report/ticks");
const plain = (labels) => labels.map((label) => label.replaceAll("\u00a0", " "));

test("labels are neither rounded nor in different units", () => {
  assert.deepEqual(plain(axis("seq", [0, 250, 500, 750, 1000, 1250])), ["0", "0.25 kB", "0.50 kB", "0.75 kB", "1.00 kB", "1.25 kB"]);
  assert.deepEqual(plain(axis("bytes", [0, 5e6, 1e7])), ["0", "5 MB", "10 MB"]);
  assert.deepEqual(plain(axis("bps", [4e7, 4.25e7])), ["40.0 Mbit/s", "42.5 Mbit/s"]);
  assert.deepEqual(plain(axis("us", [999_500, 1_000_000])), ["0.9995 s", "1.0000 s"]);
  assert.deepEqual(plain(axis("seq", [-2e6, 0])), ["−2 MB", "0"]);
});

test("moments a few microseconds apart have labels of their own", () => {
  assert.deepEqual(plain(times([1_837_500, 1_840_000])), ["1.8375 s", "1.8400 s"]);
  assert.deepEqual(plain(times([20, 40])), ["0.00002 s", "0.00004 s"]);
  assert.deepEqual(plain(times([0, 500_000])), ["0.0 s", "0.5 s"]);
  assert.deepEqual(plain(times([0, 1e6])), ["0 s", "1 s"]);
});

test("without the sender's word on losses its repairs count, without those what the network knows", () => {
  const table = (...t) => ({ rows: t.length, t: Float64Array.from(t), columns: new Map() });
  const bursts = (tables) => burstsOf({ tables: new Map(Object.entries(tables)) }).map(({ from, segments, by }) => [from, segments, ...by]);
  assert.deepEqual(bursts({ drops: table(5), "sent/probe": table(100_000) }), [[100_000, 1, "tail loss probe"]]);
  assert.deepEqual(bursts({ drops: table(5, 10) }), [[5, 2, "the network"]]);
  assert.deepEqual(bursts({ drops: table(5), "row/lost": table(9) }), [[9, 1]]);
});

test("a scale of factors has three labels at least, however little it spans, and eight at most", () => {
  assert.deepEqual(ticks([200e3, 2e6, 20e6]), [200e3, 500e3, 1e6, 2e6, 5e6, 10e6, 20e6]);
  assert.deepEqual(ticks([1e3, 1e9]), [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
  assert.deepEqual(ticks([150, 260]), [150, 170, 190, 210, 230, 250, 270]);
  for (const values of [[1000, 1050], [7.7, 8.1], [320, 480], [99, 101], [0.02, 0.03], [5, 5]]) {
    const found = ticks(values);
    assert.ok(found.length >= 3 && found.length <= 8, `${values}: ${found}`);
    assert.ok(found.every((tick) => tick >= values[0] / 1.05 && tick <= values[1] * 1.05), `${values}: ${found}`);
    assert.equal(new Set(found).size, found.length);
  }
});
