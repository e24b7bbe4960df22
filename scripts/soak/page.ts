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

/** Returns when, where and on what a soak has run. */
export function aboutRun(date: Date): string {
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  const { availableParallelism, cpu } = machine();
  return `Measured on ${day}, ${availableParallelism} cores (${cpu}), ${Deno.build.os}, ` +
    `Deno ${Deno.version.deno}.`;
}

function machine(): { readonly availableParallelism: number; readonly cpu: string } {
  const availableParallelism = navigator.hardwareConcurrency;
  if (Deno.build.os !== "linux") return { availableParallelism, cpu: Deno.build.arch };
  const [, cpu = Deno.build.arch] = /^model name\s*: (.+)$/m
    .exec(Deno.readTextFileSync("/proc/cpuinfo")) ?? [];
  return { availableParallelism, cpu };
}

/** Writes the figures of a soak into the documentation. */
export async function writeFigures(figures: readonly string[]): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  await Deno.writeTextFile(PAGE, withFigures(page, figures, aboutRun(new Date())));
}
