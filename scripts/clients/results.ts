import type { ClientResult, Results } from "./matrix.ts";

/** Parts of the matrix in the order of the reference page, each with its file in `results/`. */
export const PARTS = ["node", "python", "cli"] as const;

/** One of the parts of the matrix. */
export type Part = typeof PARTS[number];

/** Returns the file with the results of a part. */
export function resultsFile(part: Part): URL {
  return new URL(`results/${part}.json`, import.meta.url);
}

/** Returns the results of a part as its file has them. */
export async function readResults(part: Part): Promise<Results> {
  return JSON.parse(await Deno.readTextFile(resultsFile(part)));
}

/** Writes the results of a part; clients that were not run keep their earlier results. */
export async function writeResults(part: Part, results: Results): Promise<void> {
  await Deno.writeTextFile(resultsFile(part), `${JSON.stringify(results, null, 2)}\n`);
}

/** Returns a sentence about each cell of clients that is not what was expected, or was not run. */
export function differences(
  found: Results["clients"],
  expected: Results["clients"],
): readonly string[] {
  return Object.keys({ ...expected, ...found }).flatMap((title) => {
    const known = cellsOf(expected[title]);
    const cells = cellsOf(found[title]);
    return [...new Set([...known.keys(), ...cells.keys()])]
      .filter((place) => cells.get(place) !== known.get(place))
      .map((place) =>
        `${title}, ${place}: ${cells.get(place) ?? "not run"}; expected: ${
          known.get(place) ?? "nothing"
        }`
      );
  });
}

/** Returns the cells of a client as JSON, by their use and provider type. */
function cellsOf(result: ClientResult | undefined): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(result?.rows ?? {}).flatMap(([shot, row]) =>
      Object.entries(row).map(([type, cell]) => [`${shot} over ${type}`, JSON.stringify(cell)])
    ),
  );
}
