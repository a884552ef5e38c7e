// Where a scale of factors has its labels.

/** Steps within a power of ten, the coarsest first. */
const STEPS = [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8], Array.from({ length: 90 }, (_, at) => 1 + at / 10), Array.from({ length: 900 }, (_, at) => 1 + at / 100)];
const FEWEST = 3;
const MOST = 8;

/** Places of labels on a scale of factors: the coarsest steps of which three lie in the data, and of those at most eight. */
export function ticks(values: number[]): number[] {
  const [low, high] = [Math.min(...values) / 1.05, Math.max(...values) * 1.05];
  const inside = (steps: number[]) => {
    const first = Math.floor(Math.log10(low));
    const powers = Array.from({ length: Math.floor(Math.log10(high)) - first + 1 }, (_, at) => 10 ** (first + at));
    return powers.flatMap((power) => steps.map((step) => Number((step * power).toPrecision(4)))).filter((tick) => tick >= low && tick <= high);
  };
  const found = STEPS.map(inside).find((some) => some.length >= FEWEST) ?? inside(STEPS[STEPS.length - 1]);
  const every = Math.ceil(found.length / MOST);
  return found.filter((_, at) => at % every === 0);
}
