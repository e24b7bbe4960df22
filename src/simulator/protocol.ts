import type { JsonObject } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import type { Quirk } from "./quirks.ts";

/** What the simulator needs of the outside. */
export type Deps = Pick<World, "unix" | "uuid" | "after">;

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** A request, whatever protocol it came in. */
export interface SimRequest {
  /** The name that says what to do. */
  readonly model: string;
  /** The model as it was asked for, which is how the answer names it. */
  readonly modelAsSent: string;
  readonly stream: boolean;
  /** Text of the last user message. */
  readonly prompt: string;
  /** What the tools events, when that is the last turn. */
  readonly toolResults: readonly string[];
  /** The tools that may be called now; those a tool choice rules out are left out. */
  readonly tools: readonly Tool[];
  /** At most one call. */
  readonly oneToolCall: boolean;
  /** The JSON Schema that the answer has to match. */
  readonly jsonSchema: JsonObject | null;
  /** The model may think. */
  readonly mayThink: boolean;
  /** Most tokens of output, thinking included. */
  readonly maxOutputTokens: number | null;
  /** Tokens of input: the words of all messages. */
  readonly inputTokens: number;
  readonly choiceCount: number;
  /** Only loads the model: nothing is to be events. */
  readonly loadOnly: boolean;
  /** A stream has to tell its usage. */
  readonly includeUsage: boolean;
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

/** What the model says, before a protocol puts it into a protocol. */
export interface ModelOutput {
  /** Words. */
  readonly thinking: readonly string[];
  /** Words; those of the refusal when `finish` is that. */
  readonly text: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter" | "refusal";
  /** Tokens of output, thinking included. */
  readonly outputTokens: number;
  /** Milliseconds before each word. */
  readonly pauseMs: number;
  readonly defect: Defect | null;
  readonly quirk: Quirk | null;
}

/** Why a request is refused. A protocol shows of it what its protocol has room for. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** One record of a stream as it goes over the wire. */
export interface StreamChunk {
  readonly text: string;
  /** It carries a word; pauses stand before these and breakage is counted in them. */
  readonly isWord: boolean;
}

/** A protocol that the simulator speaks. */
export interface Protocol {
  /** Media type of a stream. */
  readonly streamType: string;
  /** Reads a request as strictly as the real upstream would. */
  parseRequest(body: JsonObject, headers: Headers): ParsedRequest;
  encodeWhole(output: ModelOutput, request: SimRequest, deps: Deps): JsonObject;
  encodeStream(output: ModelOutput, request: SimRequest, deps: Deps): Iterable<StreamChunk>;
  /** Body of an error. */
  encodeError(error: ApiError, deps: Deps): JsonObject;
  /** The error about a model that is not there. */
  unknownModelError(model: string): ApiError;
  /** A record with this data, `event` being the name where the protocol has names. */
  encodeRecord(event: string, data: string): string;
}

/** A request that was understood, or the reason why not. */
export type ParsedRequest = { readonly request: SimRequest } | { readonly error: ApiError };

/** A plain error: status 400, no path, no code. */
export function newApiError(message: string, details: Partial<ApiError> = {}): ApiError {
  return { status: 400, message, param: null, code: null, ...details };
}
