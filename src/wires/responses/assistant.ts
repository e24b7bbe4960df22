import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { mapCalls, type PastCall } from "../chat_request/chat_calls.ts";
import { parseCitations } from "../chat_request/citations.ts";
import { missing, unknownMember, unsupported, wrongType } from "../chat_request/refusals.ts";
import { parseCallId } from "./call_id.ts";
import { citedParts } from "./citations.ts";
import { spokenParts } from "./content.ts";

type Items = Result<readonly JsonObject[]>;

const MEMBERS: readonly string[] = [
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "annotations",
];

/**
 * Returns the items of an assistant message in the order that a model generates them: reasoning,
 * message, calls. `index` is the position of the message; `legacyId` is the ID for its
 * `function_call`, which has none.
 */
export function assistantItems(
  message: JsonObject,
  index: number,
  legacyId: string,
): Items {
  const path = `messages[${index}]`;
  const unknown = unknownMember(message, MEMBERS, path);
  if (unknown !== null) return unknown;
  const calls = callItems(message, path, legacyId);
  if (!calls.ok) return calls;
  const said = spokenItems(message, index, path, calls.value.length > 0);
  if (!said.ok) return said;
  const reasoning = message.reasoning_content ?? "";
  if (typeof reasoning !== "string") return wrongType(`${path}.reasoning_content`, "a string");
  return success([...reasoningItems(reasoning, index), ...said.value, ...calls.value]);
}

/**
 * Returns the reasoning item. The API requires an ID; the upstream stores nothing, so the ID refers
 * to nothing.
 */
function reasoningItems(text: string, index: number): readonly JsonObject[] {
  if (text === "") return [];
  const content = [{ type: "reasoning_text", text }];
  return [{ type: "reasoning", id: `rs_${index}`, summary: [], content }];
}

function spokenItems(
  message: JsonObject,
  index: number,
  path: string,
  hasCalls: boolean,
): Items {
  const content = message.content ?? null;
  const refusal = message.refusal ?? "";
  if (typeof refusal !== "string") return wrongType(`${path}.refusal`, "a string");
  const citations = parseCitations(message.annotations, `${path}.annotations`);
  if (!citations.ok) return citations;
  const isCited = citations.value.length > 0;
  const isSilent = content === null || content === "";
  // A citation needs a text.
  if (isSilent && isCited) return unsupported(`${path}.annotations`);
  if (isSilent && refusal === "") {
    if (hasCalls) return success([]);
    if (content === null) return missing(`${path}.content`);
  }
  const head = { type: "message", role: "assistant" };
  if (typeof content === "string" && refusal === "" && !isCited) {
    return success([{ ...head, content }]);
  }
  const parts = spokenParts(isSilent ? null : content, `${path}.content`);
  if (!parts.ok) return parts;
  const said = isCited ? citedParts(parts.value, citations.value) : parts.value;
  if (said === null) return unsupported(`${path}.annotations`);
  const refused = refusal === "" ? [] : [{ type: "refusal", refusal }];
  // Parts are only allowed in an output message, which requires ID and status.
  const answer = { ...head, id: `msg_${index}`, status: "completed" };
  return success([{ ...answer, content: [...said, ...refused] }]);
}

function callItems(message: JsonObject, path: string, legacyId: string): Items {
  return mapCalls(message, path, ["function", "custom"], (call) => {
    const id = call.id === null ? success(legacyId) : parseCallId(call.id, call.idPath);
    return id.ok ? callItem(call, id.value) : id;
  });
}

/** Returns the item of a call. The model's text is sent unchanged. */
function callItem({ kind, name, text, textPath }: PastCall, id: string): Result<JsonObject> {
  const written = text ?? "";
  if (typeof written !== "string") return wrongType(textPath, "a string");
  return success(
    kind === "function"
      ? { type: "function_call", call_id: id, name, arguments: written }
      : { type: "custom_tool_call", call_id: id, name, input: written },
  );
}
