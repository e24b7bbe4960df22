import { configReference } from "../src/config/reference.ts";

const BEGIN = "<!-- config reference";
const END = "<!-- end of config reference -->";

/** The README with the table of all configuration keys as the schema now describes them. */
export function withReference(readme: string): string {
  const begin = readme.indexOf("\n", readme.indexOf(BEGIN)) + 1;
  const end = readme.indexOf(END);
  return `${readme.slice(0, begin)}\n${configReference().trim()}\n\n${readme.slice(end)}`;
}

if (import.meta.main) {
  const path = new URL("../README.md", import.meta.url);
  await Deno.writeTextFile(path, withReference(await Deno.readTextFile(path)));
}
