/** Name of a chunk as the bundler writes it: the name of its source, and a hash. */
const HASHED = /^(.+)-[A-Z0-9]{8}\.js$/;

/**
 * Returns names for the chunks of a bundle that do not depend on the folder in which it was made:
 * the bundler hashes the paths of its sources. `codes` has the code of each file by name, without
 * places of this machine. Other files, such as `main.js`, keep their names.
 */
export function chunkNames(codes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const chunks = [...codes].flatMap(([name, code]) => {
    const [, source] = HASHED.exec(name) ?? [];
    return source === undefined ? [] : [{ name, source, code: withoutNames(code, codes.keys()) }];
  });
  const names = new Map<string, string>();
  for (const [source, group] of Map.groupBy(chunks, (chunk) => chunk.source)) {
    const sorted = group.toSorted((one, other) => compare(one.code, other.code));
    sorted.forEach(({ name }, at) => names.set(name, `${source}-${at + 1}.js`));
  }
  return names;
}

/** Returns code that imports the chunks by their new names. */
export function withChunkNames(code: string, names: ReadonlyMap<string, string>): string {
  let renamed = code;
  for (const [name, other] of names) renamed = renamed.replaceAll(`"./${name}"`, `"./${other}"`);
  return renamed;
}

/** An import of names from a chunk, as the bundler writes it. */
const STATIC_IMPORT = /^import (\{[^{}]*\}) from ("\.\/[^"]+");$/gm;

/**
 * Returns code whose imports from chunks are dynamic. For a static import the runtime looks up its
 * line in the source map at every start, and so parses the map of the whole program: measured, 10
 * MB. Lines keep their numbers.
 */
export function withDynamicImports(code: string): string {
  return code.replaceAll(
    STATIC_IMPORT,
    (_, names: string, file: string) =>
      `const ${names.replaceAll(/ as /g, ": ")} = await import(${file});`,
  );
}

function withoutNames(code: string, names: Iterable<string>): string {
  let rest = code;
  for (const name of names) rest = rest.replaceAll(`"./${name}"`, '""');
  return rest;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
