// From rows to what fits on a screen: sorted columns, found by binary search, become a bounded number of shapes per
// pixel column. Nothing here touches a canvas, so it is tested without one.

/** Where a lane's data is on the screen: device pixels, and the values at its edges. */
export interface Frame {
  width: number;
  height: number;
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  /** Slope subtracted in detrended mode, in values per microsecond. */
  slope: number;
}

/** First index at or after `at`. */
export function lowerBound(t: Float64Array, at: number): number {
  let low = 0;
  let high = t.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (t[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the last row at or before `at`; -1 if there is none. */
export function lastAt(t: Float64Array, at: number): number {
  let low = 0;
  let high = t.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (t[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Rows within a span of time, the second index exclusive. */
export function within(t: Float64Array, x0: number, x1: number): [number, number] {
  return [lowerBound(t, x0), lastAt(t, x1) + 1];
}

/** Smallest and largest value shown in a span, including the value in force at its start; null if there is none. */
export function extent(t: Float64Array, v: Float64Array, x0: number, x1: number, slope: number, held: boolean): [number, number] | null {
  let [from, to] = within(t, x0, x1);
  if (held && from > 0) from -= 1;
  if (from >= to) return null;
  let low = Infinity;
  let high = -Infinity;
  for (let i = from; i < to; i++) {
    const value = v[i] - slope * Math.max(t[i], x0);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/**
 * A line that holds each value until the next, and the last until `end`. Per pixel column at most five points: the first value, the least, the
 * greatest, the last. Returns the number of points.
 */
export function steps(t: Float64Array, v: Float64Array, end: number, frame: Frame, pen: Pen): number {
  const { x0, y1, slope } = frame;
  const x1 = Math.min(frame.x1, Math.max(end, x0));
  const kx = frame.width / (frame.x1 - x0);
  const ky = frame.height / (y1 - frame.y0);
  const y = (value: number, at: number) => (y1 - (value - slope * at)) * ky;
  const [from, to] = within(t, x0, x1);
  let points = 0;
  let i = from;
  let held: number;
  if (from > 0) {
    held = v[from - 1];
    pen.moveTo(0, y(held, x0));
  } else {
    if (from >= to) return 0;
    held = v[from];
    pen.moveTo((t[from] - x0) * kx, y(held, t[from]));
  }
  points += 1;
  while (i < to) {
    const column = Math.floor((t[i] - x0) * kx);
    const at = t[i];
    const x = (at - x0) * kx;
    let low = Infinity;
    let high = -Infinity;
    pen.lineTo(x, y(held, at));
    const next = x0 + (column + 1) / kx;
    let last = held;
    do {
      last = v[i];
      const shown = y(last, t[i]);
      if (shown < low) low = shown;
      if (shown > high) high = shown;
      i += 1;
    } while (i < to && t[i] < next);
    const settled = y(last, t[i - 1]);
    if (low < high) {
      pen.lineTo(x, low);
      pen.lineTo(x, high);
      points += 2;
    }
    pen.lineTo(x, settled);
    points += 2;
    held = last;
  }
  pen.lineTo((x1 - x0) * kx, y(held, x1));
  return points + 1;
}

/**
 * Vertical bars from `lo` to `hi`. Bars of one pixel column that touch become one, so a column costs at most half its
 * height. `least` is the shortest bar, in pixels. Returns the number of bars.
 */
export function bars(
  t: Float64Array,
  lo: Float64Array,
  hi: Float64Array,
  frame: Frame,
  least: number,
  emit: (column: number, top: number, height: number) => void,
): number {
  const { x0, y1, slope, height } = frame;
  const kx = frame.width / (frame.x1 - x0);
  const ky = height / (y1 - frame.y0);
  const [from, to] = within(t, x0, frame.x1);
  const edges = new Int32Array(height + 2);
  let column = -1;
  let first = height;
  let last = 0;
  let drawn = 0;
  const flush = () => {
    let depth = 0;
    let start = 0;
    for (let y = first; y <= last; y++) {
      const was = depth;
      depth += edges[y];
      edges[y] = 0;
      if (was === 0 && depth > 0) start = y;
      if (was > 0 && depth === 0) {
        emit(column, start, y - start);
        drawn += 1;
      }
    }
    first = height;
    last = 0;
  };
  for (let i = from; i < to; i++) {
    const here = Math.floor((t[i] - x0) * kx);
    if (here !== column) {
      if (first <= last) flush();
      column = here;
    }
    const trend = slope * t[i];
    let top = Math.round((y1 - hi[i] + trend) * ky);
    let bottom = Math.round((y1 - lo[i] + trend) * ky);
    if (bottom - top < least) {
      top = Math.round((top + bottom - least) / 2);
      bottom = top + least;
    }
    if (bottom <= 0 || top >= height) continue;
    if (top < 0) top = 0;
    if (bottom > height) bottom = height;
    edges[top] += 1;
    edges[bottom] -= 1;
    if (top < first) first = top;
    if (bottom > last) last = bottom;
  }
  if (first <= last) flush();
  return drawn;
}

/** How many rows fall into each pixel column that has any. Returns the number of such columns. */
export function density(t: Float64Array, frame: Frame, emit: (column: number, count: number) => void): number {
  const kx = frame.width / (frame.x1 - frame.x0);
  const [from, to] = within(t, frame.x0, frame.x1);
  let drawn = 0;
  let i = from;
  while (i < to) {
    const column = Math.floor((t[i] - frame.x0) * kx);
    const next = frame.x0 + (column + 1) / kx;
    const start = i;
    do i += 1;
    while (i < to && t[i] < next);
    emit(column, i - start);
    drawn += 1;
  }
  return drawn;
}

/**
 * Intervals with a cause, as stretches of equal colour: each pixel column shows the cause that filled most of it.
 * `emit` gets a column, a width and the cause. Returns the number of stretches.
 */
export function bands(
  from: Float64Array,
  until: Float64Array,
  cause: Float64Array,
  causes: number,
  frame: Frame,
  emit: (column: number, width: number, cause: number) => void,
): number {
  const columns = Math.max(1, Math.ceil(frame.width));
  const share = new Float32Array(columns * causes);
  const kx = frame.width / (frame.x1 - frame.x0);
  const first = Math.max(0, lastAt(from, frame.x0));
  for (let i = first; i < from.length && from[i] <= frame.x1; i++) {
    const a = Math.max(0, (from[i] - frame.x0) * kx);
    const b = Math.min(columns, (until[i] - frame.x0) * kx);
    for (let column = Math.floor(a); column < b; column++) {
      share[column * causes + cause[i]] += Math.min(b, column + 1) - Math.max(a, column);
    }
  }
  let drawn = 0;
  let start = 0;
  let current = -1;
  for (let column = 0; column <= columns; column++) {
    let most = -1;
    if (column < columns) {
      let best = 0;
      for (let c = 0; c < causes; c++) {
        if (share[column * causes + c] > best) {
          best = share[column * causes + c];
          most = c;
        }
      }
    }
    if (most === current && column < columns) continue;
    if (current >= 0) {
      emit(start, column - start, current);
      drawn += 1;
    }
    start = column;
    current = most;
  }
  return drawn;
}
