import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import type { OwnedReasoning } from "../../core/stream/reasoning.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { AssistantTurn, Citation, FieldRef, Given, ToolCall } from "../prompt.ts";
import { allIn, mapObjects, requiredText, textOf } from "../read.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
  wrongValue,
} from "../refusals.ts";
import { parseCache, parseContent } from "./parse_content.ts";
import { parseThinkingBlock } from "../thinking_blocks.ts";
import { type GivenMessage, nameProblem } from "./given_message.ts";

/** Returns an assistant message. A Refusal names the first field that is wrong or not carried. */
export function parseAssistant(
  { given, message, path }: GivenMessage,
  stored: OwnedReasoning | null,
  carrier: Carrier,
): Result<AssistantTurn> {
  const at: FieldRef = { field: "messages[assistant]", path };
  const problem = carrier.use(at) ?? carrier.unknown(message, "messages[assistant]", path) ??
    nameProblem(message, "assistant", path, carrier);
  if (problem !== null) return problem;
  loseSignature(message, "messages[assistant]", path, carrier);
  loseDetails(message, path, carrier);
  const content = message.content ?? null;
  const read = allIn({
    citations: citations(message, given, path, carrier),
    content: content === null
      ? success(null)
      : parseContent(content, "assistant", `${path}.content`, carrier),
    refusal: usedText(
      message.refusal,
      { field: "messages[assistant].refusal", path: `${path}.refusal` },
      carrier,
    ),
    reasoning: reasoningOf(message, path, carrier),
    thinking: thinkingBlocks(message.thinking_blocks, `${path}.thinking_blocks`, carrier),
    calls: calls(message, path, carrier),
  });
  if (!read.ok) return read;
  const cache = parseCache(message, path, carrier);
  return success({ kind: "assistant", at, cache, signed: null, stored, ...read.value });
}

/** Names what a Chat host has signed (`extra_content`) if the carrier's protocol loses it. */
function loseSignature(
  { extra_content: signature = null }: JsonObject,
  holder: "messages[assistant]" | `messages[assistant].tool_calls[${ToolCall["kind"]}]`,
  path: string,
  carrier: Carrier,
): void {
  const place = { field: `${holder}.extra_content`, path: `${path}.extra_content` } as const;
  if (signature !== null) carrier.apply(place);
}

/** The same for the signed or encrypted reasoning of a host. */
function loseDetails({ reasoning_details: details }: JsonObject, path: string, carrier: Carrier) {
  const field = "messages[assistant].reasoning_details";
  if (!isEmpty(details)) carrier.apply({ field, path: `${path}.reasoning_details` });
}

/** Returns a text that the carrier may refuse; null if it is empty. */
function usedText(given: Optional, at: FieldRef, carrier: Carrier): Result<Given<string> | null> {
  const text = textOf(given, at);
  if (!text.ok) return text;
  return (text.value?.value ?? "") === "" ? success(null) : carrier.use(at) ?? text;
}

/**
 * Returns the reasoning text. Some Chat hosts call it `reasoning`: without effect next to the same
 * `reasoning_content`, and lost next to another.
 */
function reasoningOf(
  { reasoning_content: text, reasoning: other }: JsonObject,
  path: string,
  carrier: Carrier,
): Result<Given<string> | null> {
  const at = {
    field: "messages[assistant].reasoning_content",
    path: `${path}.reasoning_content`,
  } as const;
  const otherAt = { field: "messages[assistant].reasoning", path: `${path}.reasoning` } as const;
  const known = usedText(text, at, carrier);
  if (!known.ok) return known;
  if (known.value === null) return usedText(other, otherAt, carrier);
  if (!isEmpty(other) && other !== text) carrier.lose(otherAt.path);
  return known;
}

function citations(
  { annotations }: JsonObject,
  given: JsonObject,
  path: string,
  carrier: Carrier,
): Result<Given<readonly Citation[]> | null> {
  if ((annotations ?? null) === null) return success(null);
  // A client may have sent them in the first part of the message, from which they are lifted.
  const [first] = Array.isArray(given.content) ? given.content : [];
  const isLifted = isEmpty(given.annotations) && isObject(first) && !isEmpty(first.annotations);
  const at: FieldRef = {
    field: "messages[assistant].annotations",
    path: `${path}${isLifted ? ".content[0]" : ""}.annotations`,
    refusedPath: `${path}.annotations`,
  };
  const refused = carrier.use(at);
  if (refused !== null) return refused;
  const list = mapObjects(
    annotations,
    `${path}.annotations`,
    (annotation, inside) => parseCitation(annotation, inside, carrier),
  );
  return list.ok ? success({ value: list.value, at }) : list;
}

function parseCitation(annotation: JsonObject, path: string, carrier: Carrier): Result<Citation> {
  const holder = "messages[assistant].annotations[url_citation]";
  if (annotation.type !== "url_citation") return unsupported(`${path}.type`);
  const unknown = carrier.unknown(annotation, holder, path);
  if (unknown !== null) return unknown;
  const cited = annotation.url_citation;
  const at = `${path}.url_citation`;
  if (!isObject(cited)) return wrongType(at, "an object");
  const other = carrier.unknown(cited, `${holder}.url_citation`, at);
  if (other !== null) return other;
  const { url } = cited;
  const title = cited.title ?? "";
  if (typeof url !== "string") return missing(`${at}.url`);
  if (typeof title !== "string") return wrongType(`${at}.title`, "a string");
  const read = allIn({
    start: parseIndex(cited.start_index, `${at}.start_index`),
    end: parseIndex(cited.end_index, `${at}.end_index`),
  });
  return read.ok ? success({ url, title, ...read.value }) : read;
}

function parseIndex(given: Optional, path: string): Result<number> {
  const index = numberOf(given);
  if (index === null || !Number.isInteger(index)) return wrongType(path, "an integer");
  return index < 0 ? wrongValue(path, "at least 0") : success(index);
}

function thinkingBlocks(
  given: Optional,
  path: string,
  carrier: Carrier,
): Result<AssistantTurn["thinking"]> {
  if ((given ?? null) === null) return success([]);
  return carrier.use({ field: "messages[assistant].thinking_blocks", path }) ??
    mapObjects(given, path, (block, inside) => parseThinkingBlock(block, inside, carrier));
}

/** Member that holds the text of the model, by the kind of the call. */
const TEXT_MEMBER = { function: "arguments", custom: "input" } as const;

/** Returns the calls of a message: first its `tool_calls`, then its legacy `function_call`. */
function calls(
  { tool_calls, function_call = null }: JsonObject,
  path: string,
  carrier: Carrier,
): Result<readonly ToolCall[]> {
  const listed = mapObjects(
    tool_calls,
    `${path}.tool_calls`,
    (call, inside) => parseCall(call, inside, carrier),
  );
  if (!listed.ok || function_call === null) return listed;
  const at: FieldRef = {
    field: "messages[assistant].function_call.name",
    path: `${path}.function_call`,
  };
  const legacy = parseCalled(function_call, "function", null, at, at.path, carrier);
  return legacy.ok ? success([...listed.value, legacy.value]) : legacy;
}

function parseCall(call: JsonObject, path: string, carrier: Carrier): Result<ToolCall> {
  const type = call.type ?? "function";
  if (type !== "function" && type !== "custom") return unsupported(`${path}.type`);
  const holder = `messages[assistant].tool_calls[${type}]` as const;
  const at: FieldRef = { field: `${holder}.id`, path, refusedPath: `${path}.type` };
  const refused = carrier.use(at) ?? carrier.unknown(call, holder, path);
  if (refused !== null) return refused;
  loseSignature(call, holder, path, carrier);
  const id = { value: call.id, at: { ...at, path: `${path}.id` } };
  if (!hasText(id)) return missing(id.at.path);
  return parseCalled(call[type], type, id, at, `${path}.${type}`, carrier);
}

function hasText(given: Given<Optional>): given is Given<string> {
  return typeof given.value === "string";
}

function parseCalled(
  called: Optional,
  kind: ToolCall["kind"],
  id: ToolCall["id"],
  at: FieldRef,
  path: string,
  carrier: Carrier,
): Result<ToolCall> {
  if (!isObject(called)) return wrongType(path, "an object");
  const member = TEXT_MEMBER[kind];
  const holder = kind === "function"
    ? "messages[assistant].tool_calls[function].function"
    : "messages[assistant].tool_calls[custom].custom";
  const unknown = carrier.unknown(called, holder, path);
  if (unknown !== null) return unknown;
  if (typeof called.name !== "string") return missing(`${path}.name`);
  const text = requiredText(called[member] ?? "", { ...at, path: `${path}.${member}` });
  return text.ok ? success({ kind, at, id, name: called.name, text: text.value }) : text;
}
