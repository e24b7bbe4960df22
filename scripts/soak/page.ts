import { readMachine } from "../bench/peers/write.ts";
import type { StoreName } from "./store.ts";

const PAGE = new URL("../../docs/operate/soak.md", import.meta.url);

/** Returns the page of the soak with the figures of this store between its two comments. */
export function withFigures(
  page: string,
  store: StoreName,
  figures: readonly string[],
  about: string,
): string {
  const begin = page.indexOf("\n", page.indexOf(`<!-- soak figures over ${store}:`)) + 1;
  const end = page.indexOf(`<!-- end of soak figures over ${store} -->`);
  const block = ["```text", ...figures, "```"].join("\n");
  return `${page.slice(0, begin)}\n${block}\n\n${about}\n\n${page.slice(end)}`;
}

/** Writes the figures of a soak over this store into the documentation. */
export async function writeFigures(store: StoreName, figures: readonly string[]): Promise<void> {
  const day = new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
  const about = `Measured on ${day}: ${await readMachine()}, Deno ${Deno.version.deno}.`;
  // Soaks over several stores may end at the same time.
  using file = await Deno.open(PAGE, { read: true });
  await file.lock(true);
  const page = await Deno.readTextFile(PAGE);
  await Deno.writeTextFile(PAGE, withFigures(page, store, figures, about));
}
