import type { JsonObject } from "../core/json.ts";
import type { World } from "../core/world.ts";
import type { Quirk } from "./quirks.ts";

/** What the simulator needs of the outside. */
export type Stage = Pick<World, "unix" | "uuid" | "after">;

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** A request, whatever protocol it came in. */
export interface Ask {
  /** The name that says what to do. */
  readonly model: string;
  /** The model as it was asked for, which is how the answer names it. */
  readonly shownModel: string;
  readonly stream: boolean;
  /** Text of the last user message. */
  readonly prompt: string;
  /** What the tools said, when that is the last turn. */
  readonly results: readonly string[];
  /** The tools that may be called now; those a tool choice rules out are left out. */
  readonly tools: readonly Tool[];
  /** At most one call. */
  readonly single: boolean;
  /** The JSON Schema that the answer has to match. */
  readonly schema: JsonObject | null;
  /** The model may think. */
  readonly think: boolean;
  /** Most tokens of output, thinking included. */
  readonly limit: number | null;
  /** Tokens of input: the words of all messages. */
  readonly input: number;
  readonly choices: number;
  /** Only loads the model: nothing is to be said. */
  readonly loadOnly: boolean;
  /** A stream has to tell its usage. */
  readonly usageWanted: boolean;
}

/** A call of a tool, its arguments as JSON. */
export interface ToolCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** How a broken answer breaks. */
export type Defect =
  | "stream"
  | "reset"
  | "json"
  | "error"
  | "first"
  | "empty"
  | "half"
  | "huge"
  | "silent";

/** What the model says, before a voice puts it into a protocol. */
export interface Script {
  /** Words. */
  readonly thinking: readonly string[];
  /** Words; those of the refusal when `finish` is that. */
  readonly text: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter" | "refusal";
  /** Tokens of output, thinking included. */
  readonly output: number;
  /** Milliseconds before each word. */
  readonly pause: number;
  readonly defect: Defect | null;
  readonly quirk: Quirk | null;
}

/** Why a request is refused. A voice shows of it what its protocol has room for. */
export interface Complaint {
  readonly status: number;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** One record of a stream as it goes over the wire. */
export interface Chunk {
  readonly text: string;
  /** It carries a word; pauses stand before these and breakage is counted in them. */
  readonly word: boolean;
}

/** A protocol that the simulator speaks. */
export interface Voice {
  /** Media type of a stream. */
  readonly streamType: string;
  /** Reads a request as strictly as the real upstream would. */
  read(body: JsonObject, headers: Headers): Reading;
  answer(script: Script, ask: Ask, stage: Stage): JsonObject;
  records(script: Script, ask: Ask, stage: Stage): Iterable<Chunk>;
  /** Body of an error. */
  error(complaint: Complaint, stage: Stage): JsonObject;
  /** The complaint about a model that is not there. */
  unknownModel(model: string): Complaint;
  /** A record with this data, `event` being the name where the protocol has names. */
  record(event: string, data: string): string;
}

/** A request that was understood, or the reason why not. */
export type Reading = { readonly ask: Ask } | { readonly complaint: Complaint };

/** A plain complaint: status 400, no path, no code. */
export function complain(message: string, details: Partial<Complaint> = {}): Complaint {
  return { status: 400, message, param: null, code: null, ...details };
}
