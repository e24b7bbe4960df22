import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { newArgumentParser } from "../../prompt/call_arguments.ts";
import { keptName } from "../../core/text_beginning.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type {
  AssistantTurn,
  Content,
  Message,
  Prompt,
  ToolCall,
  ToolResult,
} from "../../prompt/prompt.ts";
import { parseBase64 } from "./image_data.ts";

/**
 * Returns the messages of a prompt for the local runtime, in the same number and order. Roles are
 * unchanged, except that developer becomes system and function becomes tool. An empty list is
 * refused, because the runtime would respond without generating.
 */
export function encodeTurns(
  { at: { path }, messages }: Prompt,
  carrier: Carrier,
): Result<readonly JsonObject[]> {
  if (messages.length === 0) return carrier.refuseValue(path, "must hold at least one message");
  const parseArguments = newArgumentParser();
  const turns: JsonObject[] = [];
  for (const message of messages) {
    const content = encodeContent(message.content, carrier);
    if (!content.ok) return content;
    const turn = encodeTurn(message, content.value, { parseArguments, carrier });
    if (!turn.ok) return turn;
    turns.push(turn.value);
  }
  return success(turns);
}

/** Context of the turns of one request. */
interface TurnInput {
  readonly parseArguments: (call: ToolCall) => Result<JsonObject>;
  readonly carrier: Carrier;
}

function encodeTurn(
  message: Message,
  content: JsonObject,
  input: TurnInput,
): Result<JsonObject> {
  switch (message.kind) {
    case "instruction":
      return success({ role: "system", ...content });
    case "user":
      return success({ role: "user", ...content });
    case "assistant":
      return assistantTurn(message, content, input);
    case "result":
      return resultTurn(message, content, input);
  }
}

function assistantTurn(
  { refusal, reasoning, calls }: AssistantTurn,
  { content }: JsonObject,
  { parseArguments }: TurnInput,
): Result<JsonObject> {
  const encoded: JsonObject[] = [];
  for (const [index, call] of calls.entries()) {
    // The runtime requires an object where others have its text.
    const parsed = parseArguments(call);
    if (!parsed.ok) return parsed;
    const called = { index, name: call.name, arguments: parsed.value };
    encoded.push({ ...call.id !== null && { id: call.id.value }, function: called });
  }
  return success({
    role: "assistant",
    content: `${content}${refusal?.value ?? ""}`,
    ...reasoning !== null && { thinking: reasoning.value },
    ...encoded.length > 0 && { tool_calls: encoded },
  });
}

function resultTurn(
  { at, callId, name, call }: ToolResult,
  content: JsonObject,
  { carrier }: TurnInput,
): Result<JsonObject> {
  if (callId === null) {
    if (name === null) return carrier.refuseAbsent(`${at.path}.name`);
    return success({ role: "tool", ...content, tool_name: name.value });
  }
  if (call === null) {
    return carrier.refuseValue(callId.at.path, "names no tool call of an earlier message");
  }
  // Of a long name the beginning: many results may be of one call.
  const tool_name = keptName(call.name);
  return success({ role: "tool", ...content, tool_name, tool_call_id: callId.value });
}

/**
 * Returns the members of a content: one text and a list of images. Text parts are concatenated
 * without separator, so a message stays one message.
 */
function encodeContent(content: Content | null, carrier: Carrier): Result<JsonObject> {
  const images: string[] = [];
  let text = "";
  for (const part of content?.parts ?? []) {
    if (part.kind === "text" || part.kind === "refusal") text += part.text;
    if (part.kind !== "image") continue;
    const data = parseBase64(part.url, carrier);
    if (!data.ok) return data;
    images.push(data.value);
  }
  for (const part of content?.parts ?? []) {
    // An image next to a text loses its place in it.
    const refused = part.kind === "image" && text !== "" ? carrier.apply(part.at) : null;
    if (refused !== null) return refused;
  }
  return success({ content: text, ...images.length > 0 && { images } });
}
