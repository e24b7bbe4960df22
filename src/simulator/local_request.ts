import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json/json.ts";
import { callLines, callsOf, chatTools } from "./compat_request.ts";
import { findBehaviour } from "./model_behaviour.ts";
import { localFieldErrors } from "./local_rules.ts";
import { newApiError, type ParsedRequest } from "./protocol.ts";
import { countWords } from "./tokens.ts";
import { imageText, inOrderOfCalls, resultLine, sniffedType, spokenLine } from "./transcript.ts";

/** Parses a chat request of the local protocol; returns its first error if it is invalid. */
export function parseLocalRequest(body: JsonObject): ParsedRequest {
  for (const message of localFieldErrors(body)) return { error: newApiError(message) };
  const model = withoutLatestTag(body.model);
  const requestsThinking = body.think !== undefined && body.think !== null && body.think !== false;
  // A model that does not exist is not found, whatever the request needs.
  if (requestsThinking && findBehaviour(model) !== null && !canThink(model)) {
    return { error: newApiError(`"${model}" does not support thinking`) };
  }
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const limit = isObject(body.options) ? numberOf(body.options.num_predict) : null;
  const lastUserMessage = messages.findLast((message) => roleOf(message) === "user");
  const texts = messages.filter((message) => KNOWN_ROLES.includes(roleOf(message))).map(textOf);
  return {
    request: {
      model,
      modelAsSent: typeof body.model === "string" ? body.model : "",
      stream: body.stream !== false,
      prompt: lastUserMessage === undefined ? "" : textOf(lastUserMessage),
      toolResults: lastToolResults(messages),
      transcript: () => localTranscript(messages),
      tools: Array.isArray(body.tools) ? chatTools(body.tools) : [],
      oneToolCall: false,
      jsonSchema: isObject(body.format) ? body.format : null,
      mayThink: body.think !== false,
      // A limit below 1 means no limit.
      maxOutputTokens: limit !== null && limit > 0 ? limit : null,
      inputTokens: countWords(texts),
      // The runtime does not report what it has cached.
      cacheBlocks: () => [],
      choiceCount: 1,
      loadOnly: messages.length === 0,
      includeUsage: true,
    },
  };
}

/** Returns a model name without the tag `:latest`; empty if it is not a string. */
export function withoutLatestTag(model: JsonValue | undefined): string {
  return typeof model === "string" ? model.replace(/:latest$/, "") : "";
}

/** True if a model thinks before it answers. */
export function canThink(model: string): boolean {
  const behaviour = findBehaviour(model);
  if (behaviour?.kind !== "answer") return false;
  const { style } = behaviour;
  return style.kind === "think" || style.kind === "recall" || style.kind === "plan" ||
    style.kind === "tools" && style.thinks;
}

// The runtime's template ignores messages with an unknown role.
const KNOWN_ROLES: readonly string[] = ["system", "user", "assistant", "tool"];

function roleOf({ role }: JsonObject): string {
  return typeof role === "string" ? role.toLowerCase() : "";
}

function textOf({ content, images }: JsonObject): string {
  const imageText = Array.isArray(images) ? "[image]".repeat(images.length) : "";
  return (typeof content === "string" ? content : "") + imageText;
}

function lastToolResults(messages: readonly JsonObject[]): readonly string[] {
  const before = messages.findLastIndex((message) => roleOf(message) !== "tool");
  const results = messages.slice(before + 1)
    .map((message) => ({ id: message.tool_call_id ?? null, text: textOf(message) }));
  const callIds = callsOf(messages[before] ?? {}).map(({ id = null }) => id);
  return inOrderOfCalls(callIds, results);
}

/** Returns the conversation of a local chat request in lines, as the model reads it. */
function localTranscript(messages: readonly JsonObject[]): readonly string[] {
  return messages.flatMap((message) => {
    const { role, content, images, thinking, tool_name: name } = message;
    const shown = Array.isArray(images) ? images.map(String) : [];
    const pictures = shown.map((image) => imageText(sniffedType(image), image)).join("");
    const text = (typeof content === "string" ? content : "") + pictures;
    if (role === "tool") return [resultLine(name, text)];
    return [
      ...typeof thinking === "string" ? [spokenLine("thinking", thinking)] : [],
      ...text === "" ? [] : [spokenLine(String(role), text)],
      ...callLines(message),
    ];
  });
}
