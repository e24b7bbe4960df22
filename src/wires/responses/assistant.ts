import type { JsonObject } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/stream/reasoning.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import { type AssistantTurn, callId, type ToolCall } from "../../prompt/prompt.ts";
import { encodeCallId } from "./call_id.ts";
import { citedParts } from "./citations.ts";
import { spokenParts } from "./content.ts";
import type { SectionInput } from "./controls.ts";

type Items = Result<readonly JsonObject[]>;

/**
 * Returns the items of an assistant message in the order that a model generates them: reasoning,
 * message, calls. `index` is the position of the message. Without stored encrypted reasoning none
 * is sent: a text has no ID that the upstream knows, and an unknown ID is an error there.
 */
export function assistantItems(turn: AssistantTurn, index: number, asked: SectionInput): Items {
  const calls: JsonObject[] = [];
  for (const call of turn.calls) {
    const item = callItem(call, asked.carrier);
    if (!item.ok) return item;
    calls.push(item.value);
  }
  const spoken = spokenItems(turn, index, asked.carrier);
  if (!spoken.ok) return spoken;
  const stored = storedReasoning(turn, asked);
  return stored.ok ? success(withReasoning(stored.value, spoken.value, calls)) : stored;
}

/** Returns the stored reasoning, which only the account that has encrypted it accepts. */
function storedReasoning(
  { stored, reasoning, at }: AssistantTurn,
  { target: { account }, carrier }: SectionInput,
): Result<readonly ReasoningBlock[]> {
  if (stored?.account === account.digest) return success(stored.blocks);
  if (stored !== null && reasoning === null) carrier.lose(at.path);
  const refused = reasoning === null ? null : carrier.apply(reasoning.at);
  return refused ?? success([]);
}

/** Returns the items of a message with each reasoning item before the call that it led to. */
function withReasoning(
  stored: readonly ReasoningBlock[],
  spoken: readonly JsonObject[],
  calls: readonly JsonObject[],
): readonly JsonObject[] {
  const first = stored.filter(({ callsBefore }) => callsBefore === 0).map(({ value }) => value);
  const items = [...first, ...spoken];
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
  { at, content, refusal, citations, calls }: AssistantTurn,
  index: number,
  carrier: Carrier,
): Items {
  const [first] = content?.parts ?? [];
  const isSilent = content === null ||
    (content.isString && first?.kind === "text" && first.text === "");
  // A citation needs a text.
  if (isSilent && citations !== null) return carrier.refuse(citations.at);
  if (isSilent && refusal === null) {
    if (calls.length > 0) return success([]);
    if (content === null) return carrier.refuseAbsent(`${at.path}.content`);
  }
  const head = { type: "message", role: "assistant" };
  if (
    content?.isString === true && first?.kind === "text" && refusal === null && citations === null
  ) {
    return success([{ ...head, content: first.text }]);
  }
  const parts = isSilent ? success([]) : spokenParts(content, carrier);
  if (!parts.ok) return parts;
  const cited = citations === null ? parts.value : citedParts(parts.value, citations.value);
  if (cited === null) return carrier.refuse(citations?.at ?? at);
  const refused = refusal === null ? [] : [{ type: "refusal", refusal: refusal.value }];
  // Parts are only allowed in an output message, which requires ID and status.
  const answer = { ...head, id: `msg_${index}`, status: "completed" };
  return success([{ ...answer, content: [...cited, ...refused] }]);
}

/** Returns the item of a call. The model's text is sent unchanged. */
function callItem(call: ToolCall, carrier: Carrier): Result<JsonObject> {
  const { kind, name, text: { value } } = call;
  const id = call.id === null ? success(callId(call)) : encodeCallId(call.id, carrier);
  if (!id.ok) return id;
  return success(
    kind === "function"
      ? { type: "function_call", call_id: id.value, name, arguments: value }
      : { type: "custom_tool_call", call_id: id.value, name, input: value },
  );
}
