const SAMPLE = /^([a-z_]+(?:\{.*\})?) (\S+)$/;

/** The samples of a Prometheus text, by name and labels as they are written. */
export function samplesOf(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, value] = SAMPLE.exec(line) ?? [];
    if (name !== undefined) samples.set(name, Number(value));
  }
  return samples;
}

/** The samples of one metric: labels as they are written, and the value. */
export function samplesNamed(text: string, name: string): Readonly<Record<string, number>> {
  const found = [...samplesOf(text)].filter(([key]) => key.replace(/\{.*/, "") === name);
  return Object.fromEntries(found.map(([key, value]) => [key.slice(name.length), value]));
}

/** The names of the metrics that a Prometheus text declares. */
export function declaredIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
}
