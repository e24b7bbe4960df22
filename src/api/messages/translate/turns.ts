import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Failed, type Result, success } from "../../../core/result.ts";
import { parseElements, type Span } from "../../../formats/edit.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { newInnerItems } from "../../../prompt/inner_json.ts";
import type { WireName } from "../../../wires/wire.ts";
import { invalidValue, notAmong, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { type AssistantInput, assistantTurn } from "./assistant.ts";
import { chatContent, type PlacedPart } from "./content.ts";
import type { PlacedMessage } from "./placed_message.ts";
import { type Effort, systemMessage, systemParts } from "./system.ts";
import { type DeclaredTools, upstreamName } from "./tools.ts";
import { movedMessage, resultMessage, userContent } from "./user.ts";

/** An effort that a system message sets, with its path. */
export interface PlacedEffort {
  readonly effort: Effort;
  readonly at: string;
}

/** The dialogue of a request for one protocol. */
export interface Dialogue {
  readonly messages: readonly PlacedMessage[];
  /** Names of the tools that the dialogue names, in the order of their first mention. */
  readonly mentioned: ReadonlySet<string>;
  /** Efforts of the system messages, in their order. */
  readonly efforts: readonly PlacedEffort[];
  readonly lossy: readonly string[];
}

/** Calls of an assistant message whose results must come next. */
interface OpenCalls {
  readonly index: number;
  readonly ids: Set<string>;
}

/**
 * Translates `system` and `messages` into Chat messages. Results follow the message of their calls,
 * before everything else; a system message stays in its place, because hoisting it would change the
 * head of the prompt with each turn.
 */
export function dialogueOf(
  document: JsonDocument,
  tools: DeclaredTools,
  wire: WireName,
): Result<Dialogue> {
  const lossy: string[] = [];
  const mentioned = new Set<string>();
  const efforts: PlacedEffort[] = [];
  const system = systemParts(document.value.system, lossy);
  if (!system.ok) return system;
  const leading: PlacedPart[] = [...system.value];
  const placed: PlacedMessage[] = [];
  const input: AssistantInput = {
    wire,
    document,
    lossy,
    innerItems: newInnerItems(),
    hasTool: (name) => tools.byName.has(name),
    mention: (name) => void mentioned.add(name),
    upstreamName: (name) => upstreamName(name, wire),
  };
  let isBegun = false;
  let open: OpenCalls | null = null;
  /** System messages between calls and their results. */
  let held: PlacedMessage[] = [];

  function take(message: JsonObject, index: number, span: Span): Result<null> {
    switch (message.role) {
      case "user":
        return takeUser(message, index);
      case "assistant":
        return takeAssistant(message, index, span);
      case "system":
        return takeSystem(message, index);
      default:
        return notAmong(`messages.${index}.role`, ["user", "assistant", "system"]);
    }
  }

  function takeUser(message: JsonObject, index: number): Result<null> {
    isBegun = true;
    const content = userContent(message, index, input);
    if (!content.ok) return content;
    const { results, rest } = content.value;
    for (const { id, place } of results) {
      if (open?.ids.delete(id) !== true) {
        return invalidValue(place.at, SENTENCES.unexpectedResult(id));
      }
    }
    const unanswered = openProblem();
    if (unanswered !== null) return unanswered;
    open = null;
    pushAll(placed, results.map(resultMessage));
    pushAll(placed, movedMessage(results, index));
    pushAll(placed, held);
    held = [];
    if (rest !== null) placed.push(rest);
    return success(null);
  }

  function takeAssistant(message: JsonObject, index: number, span: Span): Result<null> {
    isBegun = true;
    const unanswered = openProblem();
    if (unanswered !== null) return unanswered;
    const turn = assistantTurn(message, index, span, input);
    if (!turn.ok) return turn;
    if (turn.value.placed !== null) placed.push(turn.value.placed);
    open = turn.value.ids.length === 0 ? null : { index, ids: new Set(turn.value.ids) };
    return success(null);
  }

  function takeSystem(message: JsonObject, index: number): Result<null> {
    const read = systemMessage(message, index, lossy);
    if (!read.ok) return read;
    const { parts, effort } = read.value;
    const at = `messages.${index}`;
    if (effort !== null) efforts.push({ effort, at: `${at}.output_config.effort` });
    if (!isBegun) pushAll(leading, parts);
    else if (parts.length > 0) (open === null ? placed : held).push(systemTurn(parts, at));
    return success(null);
  }

  function openProblem(): Failed | null {
    if (open === null || open.ids.size === 0) return null;
    return invalidValue(`messages.${open.index}`, SENTENCES.unansweredCalls([...open.ids]));
  }

  const messages = document.value.messages ?? null;
  if (!Array.isArray(messages)) return wrongType(messages, "messages", "a valid list");
  if (messages.length === 0) return invalidValue("messages", SENTENCES.noMessages);
  const member = document.members.find(({ key }) => key === "messages");
  const spans = parseElements(document.text, member?.start);
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    const span = spans[index];
    if (!isObject(message) || span === undefined) {
      return wrongType(message, path, "a valid dictionary");
    }
    const taken = take(message, index, span);
    if (!taken.ok) return taken;
  }
  const problem = openProblem() ?? prefillProblem(messages.at(-1), messages.length - 1);
  if (problem !== null) return problem;
  const head = leading.length === 0 ? [] : [systemTurn(leading, "system")];
  return success({ messages: [...head, ...placed], mentioned, efforts, lossy });
}

function systemTurn(parts: readonly PlacedPart[], at: string): PlacedMessage {
  const { content, partsAt } = chatContent(parts);
  return { message: { role: "system", content }, at, partsAt, callsAt: [] };
}

/**
 * Returns the refusal of a last message that the model shall continue: a Chat server begins a new
 * one.
 */
function prefillProblem(last: unknown, index: number): Failed | null {
  return isObject(last) && last.role === "assistant"
    ? unsupported(`messages.${index}`, SENTENCES.prefill)
    : null;
}
