// Small helpers that read one column.

/** Smallest and largest of all values; null if the column is empty. */
export function spread(values: Float64Array): [low: number, high: number] | null {
  if (values.length === 0) return null;
  let low = values[0];
  let high = values[0];
  for (let i = 1; i < values.length; i++) {
    const value = values[i];
    if (value < low) low = value;
    else if (value > high) high = value;
  }
  return [low, high];
}
