import type { JsonObject, JsonValue } from "../core/json/json.ts";
import type { OwnedReasoning } from "../core/stream/reasoning.ts";
import type { Result } from "../core/failure/result.ts";
import type { ChatField } from "./chat_fields.ts";

/**
 * A field of the request: the row of the field tables that treats it, and its path as the client
 * wrote it.
 */
export interface FieldRef {
  readonly field: ChatField;
  /** Path in refusals of wrong values, and in the lists of lossy and verified fields. */
  readonly path: string;
  /**
   * Path in these lists, if it differs: refusals of the Messages API also name the types of tools
   * and blocks.
   */
  readonly listedPath?: string;
  /**
   * Path in the refusal of a field that the wire cannot carry, if it differs, such as that of a
   * type.
   */
  readonly refusedPath?: string;
}

/** A value of the request with its field. */
export interface Given<Value> {
  readonly value: Value;
  readonly at: FieldRef;
}

/** A number of the request: as a number, and as the client spelled it. */
export interface GivenNumber extends Given<number> {
  /** Written by `JSON.stringify` with the digits of the client. */
  readonly exact: JsonValue;
}

/** A JSON schema, whose value keeps the spelling of numbers. */
export interface GivenSchema<Value = JsonObject> extends Given<Value> {
  /**
   * Its text as the client wrote it, with the order of all keys; absent if a parser has only the
   * value.
   */
  readonly text?: string;
}

/**
 * Request of a client to a model, in any client API. Types are checked, absent and null members are
 * null, and schemas keep their spelling. A parser has already given each field to the carrier
 * of the wire (`Carrier.use`), so that everything in a prompt is carried, at least in part.
 */
export interface Prompt {
  /** Field of the dialogue. */
  readonly at: FieldRef;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /**
   * True if the tools are the `functions` of an old client, whose responses hold one call at most.
   */
  readonly hasLegacyTools: boolean;
  readonly choice: Choice;
  /** False if the model may call one tool at most. */
  readonly parallelCalls: Given<boolean> | null;
  readonly format: Format | null;
  readonly sampling: Sampling;
  readonly limits: Limits;
  /** Texts at which the response ends; they may be empty. Null for none. */
  readonly stop: Given<readonly Given<string>[]> | null;
  /** Level of reasoning effort, such as `low`. */
  readonly effort: Given<string> | null;
  readonly thinking: Thinking | null;
  readonly verbosity: Given<JsonValue> | null;
  readonly logprobs: Logprobs;
  readonly webSearch: WebSearch | null;
  readonly labels: Labels;
  readonly stream: boolean;
  /** True if the client wants no padding in its stream. */
  readonly isUnpadded: boolean;
}

/** One message of the dialogue. */
export type Message = Instruction | UserTurn | AssistantTurn | ToolResult;

/** Members of each message. */
interface Turn {
  readonly at: FieldRef;
  readonly content: Content;
  readonly cache: CacheMark | null;
}

/** An instruction of the developer, at its place in the dialogue. */
export interface Instruction extends Turn {
  readonly kind: "instruction";
  readonly role: "system" | "developer";
}

/** A message of the user. */
export interface UserTurn extends Turn {
  readonly kind: "user";
}

/** An earlier response of the model. */
export interface AssistantTurn extends Omit<Turn, "content"> {
  readonly kind: "assistant";
  /** Null if the message has no content, as with calls alone. */
  readonly content: Content | null;
  /** Refusal besides the content; null if it is empty. */
  readonly refusal: Given<string> | null;
  readonly citations: Given<readonly Citation[]> | null;
  /** Text of the reasoning; null if it is empty. */
  readonly reasoning: Given<string> | null;
  /** Signed thinking that the client sent back. */
  readonly thinking: readonly Given<ThinkingBlock>[];
  readonly calls: readonly ToolCall[];
  /** Signatures of a Chat host, as the client sent them back in a seal; null for none. */
  readonly signed: Given<readonly JsonObject[]> | null;
  /** Reasoning of the message that the gateway stored, for the account that made it. */
  readonly stored: OwnedReasoning | null;
}

/** The result of a tool call. */
export interface ToolResult extends Turn {
  readonly kind: "result";
  /** ID of the call; null for a legacy function. */
  readonly callId: Given<string> | null;
  /** Name of a legacy function; null if it is absent, and for a call with an ID. */
  readonly name: Given<string> | null;
  /** The latest earlier call with the ID, or the latest open call of the function. */
  readonly call: ToolCall | null;
}

/** Content of a message. */
export interface Content {
  readonly at: FieldRef;
  /** True if the client sent a string, which is then the only part. */
  readonly isString: boolean;
  readonly parts: readonly Part[];
}

/**
 * A part of a content. Instructions have only texts, results no refusals, responses texts and
 * refusals.
 */
export type Part = TextPart | ImagePart | FilePart;

/** Members of each part. */
interface Piece {
  readonly at: FieldRef;
  readonly cache: CacheMark | null;
  /** Mark of the end of a cached head, in the form of the OpenAI APIs. */
  readonly breakpoint: JsonValue;
}

/** A text, or a refusal in the place of one. */
export interface TextPart extends Piece {
  readonly kind: "text" | "refusal";
  readonly text: string;
}

/** An image at an address or in a `data:` URL. */
export interface ImagePart extends Piece {
  readonly kind: "image";
  readonly url: Given<string>;
  readonly detail: Given<string> | null;
}

/** A file by its ID or with its data. */
export interface FilePart extends Piece {
  readonly kind: "file";
  readonly id: Given<string> | null;
  readonly name: Given<string> | null;
  /** A `data:` URL. */
  readonly data: Given<string> | null;
  /** Field of the data. */
  readonly dataAt: FieldRef;
}

/** A `cache_control` of the Messages API. Only a wire that carries it refuses a wrong one. */
export type CacheMark = Result<Given<JsonObject>>;

/** A thinking block of the Messages API. */
export type ThinkingBlock = JsonObject;

/** A web citation, with offsets from the start of the text of its message. */
export interface Citation {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

/** A call of a tool: a function with JSON arguments, or a custom tool with a text. */
export interface ToolCall {
  readonly kind: "function" | "custom";
  readonly at: FieldRef;
  /** Null for a legacy `function_call`. */
  readonly id: Given<string> | null;
  readonly name: string;
  /** Arguments or input as the model wrote them. */
  readonly text: Given<string>;
}

/** Returns the ID of a call, which a legacy call of Chat gets from the place of its message. */
export function callId({ id, at }: ToolCall): string {
  return id?.value ?? `function_call_${at.path.replace(/\D/g, "")}`;
}

/** A tool that the model may call. */
export type Tool = FunctionTool | CustomTool;

/** A function with JSON arguments. */
export interface FunctionTool {
  readonly kind: "function";
  readonly at: FieldRef;
  readonly name: Given<string>;
  readonly description: string | null;
  /** Schema of the arguments; its value is null if the function has none. */
  readonly parameters: GivenSchema<JsonObject | null>;
  readonly strict: Given<boolean> | null;
  readonly cache: CacheMark | null;
}

/** A tool whose input is a text. */
export interface CustomTool {
  readonly kind: "custom";
  readonly at: FieldRef;
  readonly name: Given<string>;
  readonly description: string | null;
  /** Format of the input; null if the client sets none. */
  readonly format:
    | { readonly kind: "text" }
    | {
      readonly kind: "grammar";
      readonly at: FieldRef;
      readonly definition: Given<string>;
      readonly syntax: string;
    }
    | null;
}

/** Which tools the model may call, and whether it must. `at` is the field of the choice. */
export type Choice =
  | { readonly kind: "unset" }
  | { readonly kind: "auto" | "none" | "required"; readonly at: FieldRef }
  | { readonly kind: "named"; readonly at: FieldRef; readonly tool: ChosenTool }
  | {
    readonly kind: "allowed";
    readonly at: FieldRef;
    readonly mode: "auto" | "required";
    readonly tools: readonly ChosenTool[];
    /** Field of the list. */
    readonly listAt: FieldRef;
  };

/** A tool of a choice. */
export interface ChosenTool {
  readonly kind: "function" | "custom";
  readonly name: string;
  readonly at: FieldRef;
}

/** Format of the text of the response. */
export type Format =
  | { readonly kind: "text" | "json_object"; readonly at: FieldRef }
  | {
    readonly kind: "json_schema";
    readonly at: FieldRef;
    readonly name: Given<string> | null;
    readonly description: Given<string> | null;
    readonly schema: GivenSchema;
    readonly strict: Given<boolean> | null;
  };

/** Sampling options; `seed` and `topK` are integers. */
export interface Sampling {
  readonly temperature: GivenNumber | null;
  readonly topP: GivenNumber | null;
  readonly topK: GivenNumber | null;
  readonly presencePenalty: GivenNumber | null;
  readonly frequencyPenalty: GivenNumber | null;
  readonly seed: GivenNumber | null;
}

/** Limits of the length of the response in tokens, both integers. */
export interface Limits {
  readonly completion: GivenNumber | null;
  /** The older field of Chat. */
  readonly legacy: GivenNumber | null;
}

/** Thinking as the Messages API asks for it. */
export interface Thinking {
  /** `enabled` without a level of effort, which only local runtimes take. */
  readonly kind: "enabled" | "adaptive" | "disabled";
  readonly at: FieldRef;
  /** The object as the client wrote it. */
  readonly value: JsonObject;
}

/** Log probabilities of the tokens of the response. */
export interface Logprobs {
  readonly isWanted: boolean;
  /** Number of alternatives to each token, an integer. */
  readonly top: GivenNumber | null;
}

/** A web search by the provider. */
export interface WebSearch {
  readonly at: FieldRef;
  readonly contextSize: string | null;
  /** Approximate location of the user, in the members of the OpenAI APIs. */
  readonly location: JsonObject | null;
}

/** Fields about the request that do not change the text of the response. */
export interface Labels {
  readonly user: Given<string> | null;
  readonly safetyIdentifier: Given<string> | null;
  readonly serviceTier: Given<string> | null;
  readonly metadata: JsonValue;
  /** Mark of the whole prompt, for the Messages API. */
  readonly cacheControl: CacheMark | null;
  readonly cacheKey: JsonValue;
  readonly cacheRetention: JsonValue;
  readonly cacheOptions: JsonValue;
  readonly moderation: JsonValue;
}
