import type { JsonObject } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import type { CacheBlock, CacheUse } from "./prompt_cache.ts";
import type { Quirk } from "./quirks.ts";

/** The clock, id source and timer that the simulator needs. */
export type Deps = Pick<World, "unix" | "uuid" | "after">;

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  /** The JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** True for a custom tool, which takes a text. */
  readonly isCustom?: boolean;
  /** The namespace that is the beginning of the name; absent for none. */
  readonly namespace?: string;
}

/** A model request, independent of its protocol. */
export interface SimRequest {
  /** The model name that selects the behaviour. */
  readonly model: string;
  /** The model name as the request spells it, which the response repeats. */
  readonly modelAsSent: string;
  readonly stream: boolean;
  /** The text of the last user message. */
  readonly prompt: string;
  /**
   * The tool results of the last turn, in the order of the calls that they answer; empty if the
   * last turn is a user message.
   */
  readonly toolResults: readonly string[];
  /** Returns the whole conversation in lines, as the model reads it. */
  transcript(): readonly string[];
  /** The tools that the request and its tool choice allow. */
  readonly tools: readonly Tool[];
  /** The model makes at most one tool call. */
  readonly oneToolCall: boolean;
  /** The JSON Schema of the output; null for free text. */
  readonly jsonSchema: JsonObject | null;
  /** The model may think before it answers. */
  readonly mayThink: boolean;
  /** The limit of output tokens, thinking included. */
  readonly maxOutputTokens: number | null;
  /** The number of input tokens: the words of all messages. */
  readonly inputTokens: number;
  /** Returns the parts of the input in their order, for the prompt cache; empty without one. */
  cacheBlocks(): readonly CacheBlock[];
  readonly choiceCount: number;
  /** The request only loads the model: the output is empty. */
  readonly loadOnly: boolean;
  /** A stream includes a usage record. */
  readonly includeUsage: boolean;
  /** Credential of the request, for hosts that sign what an account gets; absent elsewhere. */
  readonly credential?: string;
}

/** A tool call with its arguments as JSON. */
export interface ToolCall {
  readonly name: string;
  readonly input: JsonObject;
  /** The called tool; absent if the request offers none of that name. */
  readonly tool?: Tool;
  /** The arguments as the model writes them, if they are not the JSON of `input`. */
  readonly written?: string;
}

/** The way in which a broken response breaks. */
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

/** The output of a model, before it is encoded in a protocol. */
export interface ModelOutput {
  /** The words of the thinking. */
  readonly thinking: readonly string[];
  /** The words of the text, or of the refusal if `finish` is `refusal`. */
  readonly text: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter" | "refusal";
  /** The number of output tokens, thinking included. */
  readonly outputTokens: number;
  /** Use of the prompt cache by the input. */
  readonly cache: CacheUse;
  /** The pause before each word, in milliseconds. */
  readonly pauseMs: number;
  readonly defect: Defect | null;
  readonly quirk: Quirk | null;
}

/** An error response. Each protocol encodes the fields that its error format has. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** One record of a stream, as it is sent. */
export interface StreamChunk {
  readonly text: string;
  /** The record carries a word: pauses precede words, and defects are placed by counting them. */
  readonly isWord: boolean;
}

/** A protocol that the simulator serves. */
export interface Protocol {
  /** The media type of a stream. */
  readonly streamType: string;
  /** Parses and validates a request as strictly as the real upstream would. */
  parseRequest(body: JsonObject, headers: Headers): ParsedRequest;
  encodeWhole(output: ModelOutput, request: SimRequest, deps: Deps): JsonObject;
  encodeStream(output: ModelOutput, request: SimRequest, deps: Deps): Iterable<StreamChunk>;
  /** True if an error response is a list of one body; absent for the body alone. */
  readonly listsErrors?: boolean;
  /** Returns the body of an error response. */
  encodeError(error: ApiError, deps: Deps): JsonObject;
  /** Returns the error for an unknown model. */
  unknownModelError(model: string): ApiError;
  /** Returns a stream record with this data. `event` is its name in protocols with named events. */
  encodeRecord(event: string, data: string): string;
}

/** A valid request, or the first error of an invalid one. */
export type ParsedRequest = { readonly request: SimRequest } | { readonly error: ApiError };

/** Returns an error with status 400 and no param or code, unless `details` sets them. */
export function newApiError(message: string, details: Partial<ApiError> = {}): ApiError {
  return { status: 400, message, param: null, code: null, ...details };
}
