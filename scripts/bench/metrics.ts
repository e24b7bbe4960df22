/** Reads a metric of a gateway, by its name and labels in the exposition text. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  if (line === undefined) throw new Error(`The gateway's metrics do not contain ${name}.`);
  return Number(line.slice(name.length));
}
