/** One figure of a gateway's metrics, by its name and labels as they stand there. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  if (line === undefined) throw new Error(`The gateway does not tell ${name}.`);
  return Number(line.slice(name.length));
}
