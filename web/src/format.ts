// Numbers as people read them. Decimal units throughout: kB is a thousand octets.

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

/** A moment, to the microsecond. */
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

/** Labels for an axis of evenly spaced values; as many digits as tell neighbours apart. */
export function axis(unit: Unit, splits: number[]): string[] {
  const greatest = Math.max(...splits.map(Math.abs));
  const gap = splits.length > 1 ? Math.abs(splits[1] - splits[0]) : greatest || 1;
  const digits = Math.min(9, Math.max(2, 1 + Math.ceil(Math.log10(Math.max(1, greatest / gap)))));
  return splits.map((split) => {
    if (split === 0) return "0";
    return unit === "seq" ? bytes(split, digits) : value2(unit, split, digits);
  });
}

function value2(unit: Unit, number: number, digits: number): string {
  if (unit === "bytes") return bytes(number, digits);
  if (unit === "bps") return rate(number, digits);
  if (unit === "us") return span(number, digits);
  return value(unit, number);
}

/** Labels for the time axis: seconds with the decimals that the spacing needs. */
export function times(splits: number[]): string[] {
  const gap = splits.length > 1 ? splits[1] - splits[0] : 1e6;
  const decimals = Math.max(0, Math.min(6, Math.ceil(-Math.log10(gap / 1e6) - 1e-9)));
  return splits.map((split) => `${(split / 1e6).toFixed(decimals)}${NBSP}s`);
}
