/** Provider types of the matrix, in the order of its columns; each is also the ID of a provider. */
export const PROVIDER_TYPES = ["compat", "messages", "local", "native"] as const;

/** One of the provider types; `native` is an upstream that has the Responses API itself. */
export type ProviderType = typeof PROVIDER_TYPES[number];

/**
 * Sets of provider capabilities: every one declared, and those that the starter files of
 * `switchyard init` declare.
 */
export const CAPABILITY_SETS = ["declared", "starter"] as const;

/** One of the sets of provider capabilities. */
export type CapabilitySet = typeof CAPABILITY_SETS[number];

/** Uses of each client, in the order of the rows, with the words of the reference page. */
export const SHOTS = {
  question: "plain question",
  stream: "stream",
  tools: "two-step tool loop, parallel calls",
  structured: "structured output",
  json: "`json_object`",
  turns: "several turns",
  image: "image",
  thinking: "thinking, with a tool loop",
  required: "call that `tool_choice` requires",
  embeddings: "embeddings",
  files: "files added, changed, moved and deleted",
  edit: "a file written from the text of the model",
  gemini: "two-step tool loop, calls signed by Gemini",
  openrouter: "two-step tool loop, signed by OpenRouter",
  named: "named model, other target after a reload in a tool loop",
  silent: "provider silent for 9 s, `early_head`",
  failing: "first target fails after an early head",
  lost: "no target serves after an early head",
} as const;

/** The name of one use of a client. */
export type ShotName = keyof typeof SHOTS;

/** Uses that are one run of an agent, so that all calls are in its session if it names one. */
const AGENT_SHOTS: readonly ShotName[] = ["files", "gemini", "openrouter", "named"];

/** Uses in which the gateway sends a head with `X-Gateway-Early` before a provider responds. */
const EARLY_SHOTS: readonly ShotName[] = ["silent", "failing", "lost"];

const TRANSLATED = ["compat", "messages", "local"] as const;

/** The provider types of uses that are not for all: hosts and named models have their own. */
export const SHOT_TYPES: Readonly<Partial<Record<ShotName, readonly ProviderType[]>>> = {
  gemini: ["compat"],
  openrouter: ["compat"],
  named: ["compat"],
  // What a native provider streams may not begin with events of the gateway.
  silent: TRANSLATED,
};

/**
 * Result of one use of a client: `runs`, `runs verified` (a response had `X-Gateway-Verified`), or
 * `refused: ` and `fails: ` with the reason. The first two are followed by the fields in
 * `X-Gateway-Lossy`, if a response had it.
 */
export type Verdict = `runs${string}` | `refused: ${string}` | `fails: ${string}`;

/** The result on one provider type; one verdict if both sets of capabilities have the same. */
export type Cell = Verdict | Readonly<Record<CapabilitySet, Verdict>>;

/** The results of one use of a client, by provider type. */
export type Row = Readonly<Partial<Record<ProviderType, Cell>>>;

/** The results of one client. */
export interface ClientResult {
  /** Packages with their exact versions, such as `openai@7.57.0`. */
  readonly packages: readonly string[];
  readonly rows: Readonly<Partial<Record<ShotName, Row>>>;
}

/** The results of one part of the matrix, as its file has them. */
export interface Results {
  /** Day of the run, such as `2026-01-31`. */
  readonly date: string;
  /** The results by the title of the client. */
  readonly clients: Readonly<Record<string, ClientResult>>;
}

/** A cell that a client program has tried. */
export interface TriedCell {
  /** The API key that the client sent, which no other cell has. */
  readonly key: string;
  readonly shot: ShotName;
  readonly type: ProviderType;
  readonly set: CapabilitySet;
  /** Why the client failed; null if it received everything that was promised. */
  readonly error: string | null;
  /** True if all turns are on WebSockets; absent for HTTP. */
  readonly usesWebSocket?: boolean;
}

/** Report of the gateway on the calls of one cell. */
export interface CellReport {
  readonly verified: boolean;
  /** Paths of fields that an upstream received only in part. */
  readonly lossy: readonly string[];
  /** Message of the last refusal; null if the gateway refused no call. */
  readonly refusal: string | null;
  /** Kind and message of the last fault; null if there was none. */
  readonly fault: string | null;
  /** True if a response began before its provider responded, with `X-Gateway-Early`. */
  readonly isEarly: boolean;
  /** True if a call came as a request with a body, and not as a message of a WebSocket. */
  readonly isPosted: boolean;
  /** Names of the sessions of the calls, each once. */
  readonly sessions: readonly string[];
}

/** Returns the verdict on a cell from what the client found and what the gateway reported. */
export function verdictOf(
  { shot, error, usesWebSocket = false }: TriedCell,
  report: CellReport,
): Verdict {
  if (error !== null) {
    if (report.fault !== null) return `fails: ${report.fault} ${error}`;
    return report.refusal === null ? `fails: ${error}` : `refused: ${report.refusal}`;
  }
  // Some clients change to HTTP without a word if their connection fails.
  if (usesWebSocket && report.isPosted) return "fails: a call did not come over the WebSocket";
  if (EARLY_SHOTS.includes(shot) && !report.isEarly) return "fails: no response began early";
  if (AGENT_SHOTS.includes(shot) && report.sessions.length > 1) {
    return "fails: the calls of one run are in several sessions";
  }
  const lossy = report.lossy.length === 0 ? "" : `, lossy: ${report.lossy.join(", ")}`;
  return `runs${report.verified ? " verified" : ""}${lossy}`;
}

/** Returns a cell of the verdicts for both sets of capabilities. */
export function cellOf(declared: Verdict, starter: Verdict): Cell {
  return declared === starter ? declared : { declared, starter };
}

/** Returns the verdict of a cell for one set of capabilities. */
export function verdictIn(cell: Cell, set: CapabilitySet): Verdict {
  return typeof cell === "string" ? cell : cell[set];
}
