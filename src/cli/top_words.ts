/** Returns a duration with its unit, such as `120 ms`, `1.5 s` or `2h 3m`; `-` for none. */
export function durationText(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${Math.floor(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** Returns a rate or an amount with at most three digits that count. */
export function figure(value: number): string {
  if (value === 0) return "0";
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
