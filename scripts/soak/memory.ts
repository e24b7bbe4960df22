/** Memory of the gateway at one moment. */
export interface MemorySample {
  readonly hours: number;
  readonly bytes: number;
}

/** A straight line through samples by least squares. */
export interface Slope {
  readonly bytesPerHour: number;
  /** Standard error of the slope, in bytes per hour. */
  readonly error: number;
}

/**
 * Returns the slope of memory over the last half of the run, of the lowest sample in each minute:
 * what ends behind a call may still be held at a moment. Null with fewer than 3 such samples.
 */
export function fitLastHalf(all: readonly MemorySample[]): Slope | null {
  const samples = [...Map.groupBy(all, ({ hours }) => Math.floor(hours * 60)).values()]
    .flatMap((minute) => minute.toSorted((one, other) => one.bytes - other.bytes).slice(0, 1));
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const middle = (first.hours + last.hours) / 2;
  const half = samples.filter(({ hours }) => hours >= middle);
  const count = half.length;
  if (count < 3) return null;
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / count;
  const [meanHours, meanBytes] = [
    mean(half.map(({ hours }) => hours)),
    mean(half.map(({ bytes }) => bytes)),
  ];
  const spread = half.reduce((sum, { hours }) => sum + (hours - meanHours) ** 2, 0);
  const slope = half.reduce(
    (sum, { hours, bytes }) => sum + (hours - meanHours) * (bytes - meanBytes),
    0,
  ) / spread;
  const residue = half.reduce(
    (sum, { hours, bytes }) => sum + (bytes - meanBytes - slope * (hours - meanHours)) ** 2,
    0,
  );
  return { bytesPerHour: slope, error: Math.sqrt(residue / (count - 2) / spread) };
}
