import { parseArgs } from "node:util";
import type { RunLength } from "./measure.ts";
import { parsePeers, type TextReader } from "./peers/options.ts";
import { findPeerTask, type Peer } from "./peers/peer.ts";
import { scenarios } from "./scenarios.ts";

/** Measurements that are not scenarios. */
const MEASUREMENTS = [
  "cancel",
  "state",
  "large",
  "start",
  "streams",
  "tail",
  "rates",
  "pieces",
  "mixed",
  "sockets",
  "workers",
  "uploads",
  "growth",
  "allocations",
] as const;

/** The names that `--only` takes. */
export const ROW_NAMES: readonly string[] = [
  ...scenarios.map(({ name }) => name),
  ...MEASUREMENTS,
];

export const USAGE =
  `deno task bench [--seconds 1] [--rounds 3] [--minutes 10] [--only NAME]... [--profile DIR] [--peer NAME]...
  --seconds  seconds that one round of one system takes
  --rounds   number of rounds of each scenario
  --minutes  minutes of load of the row mixed, which then waits 12 minutes without any
  --only     run only this scenario or measurement; can be repeated: ${ROW_NAMES.join(", ")}
  --profile  folder for the processor profiles of the gateways, which slow them down; the shares of
             their parts and their garbage collections are printed at the end
  --peer     measure another gateway too; can be repeated: litellm, portkey, nginx (installed by
             ./scripts/deno run -A scripts/bench/peers/install.ts; NAME=PROGRAM names another
             program), or NAME=COMMAND for any other; {port}, {upstream}, {folder} and {config}
             are replaced in COMMAND
  --peer-config NAME=FILE          configuration of that command, with the same placeholders
  --peer-path NAME=/PATH           path of its chat requests
  --peer-header NAME=HEADER:VALUE  header of its requests; can be repeated
  --peer-model NAME=PREFIX         text before the model of its requests
  --write    write the table of the peers into docs/operate/performance.md, and its figures next to
             the targets there`;

/** The options of the benchmark. */
export interface BenchOptions extends RunLength {
  /** The length of the row `mixed`. */
  readonly minutes: number;
  /** The names of the selected scenarios; empty selects all. */
  readonly only: readonly string[];
  /** Folder for the processor profiles of the gateways; null for none. */
  readonly profileFolder: string | null;
  readonly peers: readonly Peer[];
  /** True if the table of the peers is written into the documentation. */
  readonly write: boolean;
}

/** Parses the arguments of the benchmark. Returns the problem as a text. */
export function parseOptions(args: readonly string[], readText: TextReader): BenchOptions | string {
  const values = readValues(args);
  if (typeof values === "string") return values;
  const { only, write } = values;
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) return "--minutes must be a number above 0";
  if (!(seconds > 0)) return "--seconds must be a number above 0";
  if (!Number.isInteger(rounds) || rounds <= 0) return "--rounds must be a whole number above 0";
  const unknown = only.find((name) => !ROW_NAMES.includes(name));
  if (unknown !== undefined) return `--only ${unknown} is no scenario and no measurement`;
  const peers = parsePeers(values, readText);
  if (typeof peers === "string") return peers;
  if (write && peers.length === 0) return "--write needs at least one --peer";
  const rows = scenarios.filter(({ name }) => only.length === 0 || only.includes(name));
  if (write && rows.every((row) => findPeerTask(row) === null)) {
    return "--write needs a row that has peers, such as --only small";
  }
  return { seconds, rounds, minutes, only, profileFolder: values.profile ?? null, peers, write };
}

function readValues(args: readonly string[]) {
  const list = { type: "string", multiple: true, default: [] as string[] } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        seconds: { type: "string", default: "1" },
        minutes: { type: "string", default: "10" },
        rounds: { type: "string", default: "3" },
        only: list,
        profile: { type: "string" },
        peer: list,
        "peer-config": list,
        "peer-header": list,
        "peer-model": list,
        "peer-path": list,
        write: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
