import {
  CAPABILITY_SETS,
  type CapabilitySet,
  PROVIDER_TYPES,
  SHOT_TYPES,
  SHOTS,
  type TriedCell,
} from "./matrix.ts";
import type { Client, Shot } from "./client.ts";

// Runs the clients of a folder and prints a line of JSON for each client and each cell. Its
// arguments are the folder, the JSON of the gateways' base URLs, and the names of the files to run,
// if not all.

/** Time after which a cell has failed. */
const CELL_TIMEOUT_MS = 60_000;

const [folder = "", urlsJson = "", ...chosen] = Deno.args;
const urls: Readonly<Record<CapabilitySet, string>> = JSON.parse(urlsJson);
const files = [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();
for (const file of files) {
  const id = file.replace(/\.ts$/, "");
  if (chosen.length > 0 && !chosen.includes(id)) continue;
  const { client }: { client: Client } = await import(new URL(file, `file://${folder}`).href);
  const { title, packages, shots, usesWebSocket } = client;
  console.log(JSON.stringify({ client: title, packages }));
  for (const shot of Object.keys(SHOTS) as (keyof typeof SHOTS)[]) {
    const run = shots[shot];
    if (run === undefined) continue;
    for (const set of CAPABILITY_SETS) {
      for (const type of SHOT_TYPES[shot] ?? PROVIDER_TYPES) {
        const key = `sk-${id}-${shot}-${type}-${set}`;
        const root = urls[set];
        const model = (name: string) => `${type}/${name}`;
        const error = await errorOf(run, { root, baseURL: `${root}/v1`, apiKey: key, model });
        const cell: TriedCell = {
          key,
          shot,
          type,
          set,
          error,
          ...usesWebSocket === true && { usesWebSocket },
        };
        console.log(JSON.stringify(cell));
      }
    }
  }
}
// Some clients leave timers and connections behind.
Deno.exit(0);

async function errorOf(run: Shot, place: Parameters<Shot>[0]): Promise<string | null> {
  const timeout = Promise.withResolvers<string>();
  const timer = setTimeout(() => timeout.resolve("no answer"), CELL_TIMEOUT_MS);
  const ended = run(place).then(() => null, (error: unknown) => String(error));
  const error = await Promise.race([ended, timeout.promise]);
  clearTimeout(timer);
  return error;
}
