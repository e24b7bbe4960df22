import { assertEquals } from "../support/assert.ts";

const WIRES = new URL("../../src/wires/", import.meta.url);

/**
 * Files that refuse without a carrier: requests for embeddings are no prompts, and all targets of a
 * request share what is known of its strict schemas.
 */
const WITHOUT_CARRIER = [
  "compat/embeddings.ts",
  "local/embeddings.ts",
  "verified/schema_shape.ts",
  "verified/strict_schema.ts",
];

/** Functions that make a refusal. */
const MAKERS =
  /\b(refuse|brokenRule|contradiction|missing|unknownMember|unsupported|wrongType|wrongValue)\b/;

/** Returns the files of a folder, with their paths in it. */
function filesIn(folder: URL, path = ""): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesIn(new URL(`${name}/`, folder), `${path}${name}/`) : [`${path}${name}`]
  );
}

Deno.test("a wire refuses a prompt through its carrier only", () => {
  const makers = filesIn(WIRES).filter((file) => {
    const source = Deno.readTextFileSync(new URL(file, WIRES));
    const imports = source.match(/^import [^;]*\/(?:refusals|result)\.ts";/gm) ?? [];
    return imports.some((text) => MAKERS.test(text));
  });
  assertEquals(makers.toSorted(), WITHOUT_CARRIER);
});
