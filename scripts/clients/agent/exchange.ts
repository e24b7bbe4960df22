import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";

/** A request of the client and the status of its response. */
export interface Exchange {
  readonly path: string;
  readonly headers: Headers;
  /** Request body; `{}` if it is no object. */
  readonly body: JsonObject;
  readonly status: number;
  /** Header `X-Gateway-Lossy` of the response; null if it has none. */
  readonly lossy: string | null;
}

/** Returns the messages of a request. */
export function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}

/** Returns all content blocks of a request, and the blocks within its tool results. */
export function blocksOf(request: JsonObject): readonly JsonObject[] {
  return messagesOf(request).flatMap(({ content }) => blocks(content))
    .flatMap((block) => block.type === "tool_result" ? [block, ...blocks(block.content)] : [block]);
}

/** Returns the tools of a request. */
export function toolsOf({ tools }: JsonObject): readonly JsonObject[] {
  return Array.isArray(tools) ? tools.filter(isObject) : [];
}

/** True if a request has a content block of a type. */
export function hasBlock(request: JsonObject, type: string): boolean {
  return blocksOf(request).some((block) => block.type === type);
}

/** Returns a member of the `thinking` or `output_config` of a request. */
export function memberOf(request: JsonObject, field: string, member: string): JsonValue {
  const value = request[field];
  return isObject(value) ? value[member] ?? null : null;
}

/** Returns the texts of the tool results of a request, and whether each is an error. */
export function resultsOf(request: JsonObject): readonly { text: string; isError: boolean }[] {
  return blocksOf(request).filter(({ type }) => type === "tool_result").map((block) => ({
    text: typeof block.content === "string"
      ? block.content
      : blocks(block.content).map(({ text }) => typeof text === "string" ? text : "").join(""),
    isError: block.is_error === true,
  }));
}

function blocks(content: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}
