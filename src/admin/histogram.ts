/** Number of buckets; the last one begins at 30 minutes. */
const MAX_BUCKETS = 80;

/** Ratio of the bounds of a bucket: a quantile is wrong by at most a tenth. */
const BUCKET_RATIO = 1.2;

const LOG_RATIO = Math.log(BUCKET_RATIO);

/** Numbers of times by bucket: the first has those up to 1 ms. */
export type Histogram = Uint32Array;

/** Returns a histogram without times. */
export function newHistogram(): Histogram {
  return new Uint32Array(MAX_BUCKETS);
}

/** Adds a time in milliseconds. */
export function addTime(histogram: Histogram, ms: number): void {
  const bucket = ms <= 1 ? 0 : Math.min(MAX_BUCKETS - 1, Math.ceil(Math.log(ms) / LOG_RATIO));
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

/** Returns the time in milliseconds below which this share of the times lies. */
export function quantile(histograms: Iterable<Histogram>, share: number): number | null {
  const sums = newHistogram();
  let total = 0;
  for (const histogram of histograms) {
    for (let bucket = 0; bucket < MAX_BUCKETS; bucket++) {
      const times = histogram[bucket] ?? 0;
      sums[bucket] = (sums[bucket] ?? 0) + times;
      total += times;
    }
  }
  if (total === 0) return null;
  let below = 0;
  for (let bucket = 0; bucket < MAX_BUCKETS; bucket++) {
    below += sums[bucket] ?? 0;
    if (below >= total * share) return middleOf(bucket);
  }
  return middleOf(MAX_BUCKETS - 1);
}

/** Returns the geometric middle of a bucket in milliseconds, to a tenth. */
function middleOf(bucket: number): number {
  return Math.round(BUCKET_RATIO ** (bucket - 0.5) * 10) / 10;
}
