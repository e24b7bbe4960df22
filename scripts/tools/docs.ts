import { configReference } from "../../src/config/reference.ts";

const BEGIN = "<!-- config reference";
const END = "<!-- end of config reference -->";

/** The reference page of configuration keys with the table that the schema now gives. */
export function withReference(page: string): string {
  const begin = page.indexOf("\n", page.indexOf(BEGIN)) + 1;
  const end = page.indexOf(END);
  return `${page.slice(0, begin)}\n${configReference().trim()}\n\n${page.slice(end)}`;
}

if (import.meta.main) {
  const path = new URL("../../docs/reference/configuration.md", import.meta.url);
  await Deno.writeTextFile(path, withReference(await Deno.readTextFile(path)));
}
