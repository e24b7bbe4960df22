import type { JsonObject } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/reasoning.ts";
import { type Result, success } from "../../core/result.ts";
import { mapCalls, type PastCall } from "../chat_request/chat_calls.ts";
import { parseCitations } from "../chat_request/citations.ts";
import { missing, unknownMember, unsupported, wrongType } from "../chat_request/refusals.ts";
import { parseCallId } from "./call_id.ts";
import { citedParts } from "./citations.ts";
import { spokenParts } from "./content.ts";
import { FIELDS } from "./fields.ts";

type Items = Result<readonly JsonObject[]>;

const MEMBERS = FIELDS.members("messages[assistant]");

/**
 * Returns the items of an assistant message in the order that a model generates them: reasoning,
 * message, calls. `index` is the position of the message; `legacyId` is the ID for its
 * `function_call`, which has none; `stored` is the encrypted reasoning of the message. Without it no
 * reasoning is sent: a text has no ID that the upstream knows, and an unknown ID is an error there.
 */
export function assistantItems(
  message: JsonObject,
  index: number,
  legacyId: string,
  stored: readonly ReasoningBlock[],
): Items {
  const path = `messages[${index}]`;
  const unknown = unknownMember(message, MEMBERS, path);
  if (unknown !== null) return unknown;
  const calls = callItems(message, path, legacyId);
  if (!calls.ok) return calls;
  const said = spokenItems(message, index, path, calls.value.length > 0);
  if (!said.ok) return said;
  if (typeof (message.reasoning_content ?? "") !== "string") {
    return wrongType(`${path}.reasoning_content`, "a string");
  }
  return success(withReasoning(stored, said.value, calls.value));
}

/** Returns the items of a message with each reasoning item before the call that it led to. */
function withReasoning(
  stored: readonly ReasoningBlock[],
  said: readonly JsonObject[],
  calls: readonly JsonObject[],
): readonly JsonObject[] {
  const first = stored.filter(({ callsBefore }) => callsBefore === 0).map(({ value }) => value);
  const items = [...first, ...said];
  let next = first.length;
  for (const [index, call] of calls.entries()) {
    for (let block = stored[next]; block?.callsBefore === index; block = stored[++next]) {
      items.push(block.value);
    }
    items.push(call);
  }
  return items;
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
