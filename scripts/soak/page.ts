import { readMachine } from "../bench/peers/write.ts";

const PAGE = new URL("../../docs/operate/soak.md", import.meta.url);
const BEGIN = "<!-- soak figures";
const END = "<!-- end of soak figures -->";

/** Returns the page of the soak with these figures between its two comments. */
export function withFigures(page: string, figures: readonly string[], about: string): string {
  const begin = page.indexOf("\n", page.indexOf(BEGIN)) + 1;
  const end = page.indexOf(END);
  const block = ["```text", ...figures, "```"].join("\n");
  return `${page.slice(0, begin)}\n${block}\n\n${about}\n\n${page.slice(end)}`;
}

/** Writes the figures of a soak into the documentation. */
export async function writeFigures(figures: readonly string[]): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  const day = new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
  const about = `Measured on ${day}: ${await readMachine()}, Deno ${Deno.version.deno}.`;
  await Deno.writeTextFile(PAGE, withFigures(page, figures, about));
}
