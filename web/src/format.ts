// Numbers formatted for people. Decimal units throughout: 1 kB is a thousand bytes.

import type { Column, Unit } from "./payload";

const NBSP = "\u00a0";

function scaled(value: number, units: readonly string[], digits: number): string {
  let size = Math.abs(value);
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const shown = Number((value / 1000 ** unit).toPrecision(digits));
  return `${shown}${NBSP}${units[unit]}`;
}

export const bytes = (value: number, digits = 4) => scaled(value, ["B", "kB", "MB", "GB", "TB"], digits);
export const rate = (value: number, digits = 4) => scaled(value, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"], digits);
export const span = (us: number, digits = 4) =>
  Math.abs(us) >= 1e6 ? `${Number((us / 1e6).toPrecision(digits))}${NBSP}s` : scaled(us, ["µs", "ms"], digits);

/** A time, to the microsecond. */
export const moment = (us: number) => `${(us / 1e6).toFixed(6)}${NBSP}s`;

export const count = (value: number) => value.toLocaleString("en-US").replaceAll(",", "\u202f");
export const percent = (share: number) => `${Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))}${NBSP}%`;

export function value(unit: Unit, number: number, words?: string[]): string {
  switch (unit) {
    case "time":
      return moment(number);
    case "seq":
      return count(number);
    case "bytes":
      return bytes(number);
    case "us":
      return span(number);
    case "bps":
      return rate(number);
    case "count":
      return count(number);
    case "text":
      return words?.[number] ?? "";
  }
}

export const cell = (column: Column, row: number) => value(column.unit, column.values[row], column.words);

/** How many decimals distinguish multiples of `gap` and show them exactly. */
function decimalsOf(gap: number, most: number): number {
  for (let decimals = 0; decimals < most; decimals++) {
    const whole = gap * 10 ** decimals;
    if (Math.round(whole) >= 1 && Math.abs(whole - Math.round(whole)) < 1e-4) return decimals;
  }
  return most;
}

const AXIS_UNITS: Partial<Record<Unit, string[]>> = {
  seq: ["B", "kB", "MB", "GB", "TB"],
  bytes: ["B", "kB", "MB", "GB", "TB"],
  bps: ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"],
  us: ["µs", "ms", "s"],
};

const spacing = (splits: number[]) => (splits.length > 1 ? Math.abs(splits[1] - splits[0]) : Math.abs(splits[0] ?? 0) || 1);

/** Labels for an axis of evenly spaced values: all in one unit, and with as many decimals as needed. */
export function axis(unit: Unit, splits: number[]): string[] {
  const units = AXIS_UNITS[unit];
  if (!units) return splits.map((split) => value(unit, split));
  const greatest = Math.max(...splits.map(Math.abs));
  let size = 0;
  while (size < units.length - 1 && greatest >= 1000 ** (size + 1)) size += 1;
  const decimals = decimalsOf(spacing(splits) / 1000 ** size, 9);
  return splits.map((split) => (split === 0 ? "0" : `${split < 0 ? "−" : ""}${(Math.abs(split) / 1000 ** size).toFixed(decimals)}${NBSP}${units[size]}`));
}

/** Labels for the time axis: seconds with as many decimals as the spacing needs. */
export function times(splits: number[]): string[] {
  const decimals = decimalsOf(spacing(splits) / 1e6, 6);
  return splits.map((split) => `${(split / 1e6).toFixed(decimals)}${NBSP}s`);
}
