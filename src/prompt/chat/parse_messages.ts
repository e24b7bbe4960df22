import type { JsonObject } from "../../core/json/json.ts";
import type { OwnedReasoning } from "../../core/stream/reasoning.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { FieldRef, Message, ToolCall } from "../prompt.ts";
import { allIn, mapObjects, textOf } from "../read.ts";
import { missing, type Optional, wrongValue } from "../refusals.ts";
import { newOpenCalls } from "./open_calls.ts";
import { type GivenMessage, nameProblem } from "./given_message.ts";
import { parseAssistant } from "./parse_assistant.ts";
import { type ContentRole, parseCache, parseContent } from "./parse_content.ts";
import { newSentBackFilter } from "./sent_back.ts";

/** Stored reasoning of the assistant messages of a request, by the index of the message. */
export type StoredReasoning = ReadonlyMap<number, OwnedReasoning>;

/**
 * Returns the messages of a Chat request in their order. A Refusal names the first field that is
 * wrong or not carried.
 */
export function parseMessages(
  messages: Optional,
  reasoning: StoredReasoning | undefined,
  carrier: Carrier,
): Result<readonly Message[]> {
  if ((messages ?? null) === null) return missing("messages");
  const filter = newSentBackFilter();
  const read = newMessageParser(carrier);
  return mapObjects(messages, "messages", (given, path, index) => {
    const message = filter(given, path);
    return message.ok
      ? read({ given, message: message.value, path, index }, reasoning?.get(index) ?? null)
      : message;
  });
}

/** Returns a parser for one message after another, because results need the calls before them. */
function newMessageParser(carrier: Carrier) {
  const calls = new Map<string, ToolCall>();
  const legacy = newOpenCalls<ToolCall>();

  return function read(one: GivenMessage, stored: OwnedReasoning | null): Result<Message> {
    const { message, path } = one;
    switch (message.role) {
      case "system":
      case "developer": {
        const { role } = message;
        const turn = plainTurn(one, "system", { field: `messages[${role}]`, path }, carrier);
        return turn.ok ? success({ kind: "instruction", role, ...turn.value }) : turn;
      }
      case "user": {
        const turn = plainTurn(one, "user", { field: "messages[user]", path }, carrier);
        return turn.ok ? success({ kind: "user", ...turn.value }) : turn;
      }
      case "assistant": {
        const turn = parseAssistant(one, stored, carrier);
        for (const call of turn.ok ? turn.value.calls : []) {
          if (call.id === null) legacy.add(call.name, call);
          else calls.set(call.id.value, call);
        }
        return turn;
      }
      case "tool":
        return readResult(one);
      case "function":
        return readLegacyResult(one);
      default:
        return wrongValue(`${path}.role`, "a known role");
    }
  };

  function readResult(one: GivenMessage): Result<Message> {
    const { message, path } = one;
    const turn = plainTurn(one, "tool", { field: "messages[tool]", path }, carrier);
    if (!turn.ok) return turn;
    const at: FieldRef = { field: "messages[tool].tool_call_id", path: `${path}.tool_call_id` };
    const callId = textOf(message.tool_call_id, at);
    if (!callId.ok) return callId;
    if (callId.value === null) return missing(at.path);
    const call = calls.get(callId.value.value) ?? null;
    return success({ kind: "result", callId: callId.value, name: null, call, ...turn.value });
  }

  function readLegacyResult(one: GivenMessage): Result<Message> {
    const message: JsonObject = { ...one.message, content: one.message.content ?? "" };
    const at: FieldRef = { field: "messages[function]", path: one.path };
    const read = allIn({
      turn: plainTurn({ ...one, message }, "function", at, carrier),
      name: textOf(message.name, { field: "messages[function].name", path: `${one.path}.name` }),
    });
    if (!read.ok) return read;
    const { turn, name } = read.value;
    const call = name === null ? null : legacy.take(name.value);
    return success({ kind: "result", callId: null, name, call, ...turn });
  }
}

/** Returns the members that each message but that of an assistant has. */
function plainTurn(
  { message, path }: GivenMessage,
  role: Exclude<ContentRole, "assistant">,
  at: FieldRef,
  carrier: Carrier,
) {
  const problem = carrier.use(at) ?? carrier.unknown(message, `messages[${role}]`, path) ??
    (role === "system" || role === "user" ? nameProblem(message, role, path, carrier) : null);
  if (problem !== null) return problem;
  const given = message.content ?? null;
  if (given === null) return missing(`${path}.content`);
  const content = parseContent(given, role, `${path}.content`, carrier);
  if (!content.ok) return content;
  return success({ at, content: content.value, cache: parseCache(message, path, carrier) });
}
