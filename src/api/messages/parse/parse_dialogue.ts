import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import { parseElements, type Span } from "../../../formats/edit.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { contentOf } from "../../../prompt/content.ts";
import { newInnerItems } from "../../../prompt/inner_json.ts";
import type { Instruction, Message, Part, ToolCall } from "../../../prompt/prompt.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { invalidValue, notAmong, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { parseAssistant } from "./parse_assistant.ts";
import type { BlockInput } from "./parse_content.ts";
import type { GivenResult } from "./parse_result.ts";
import { type Effort, parseSystem, systemParts } from "./parse_system.ts";
import { parseUser, userTurn } from "./parse_user.ts";

/** An effort that a system message sets, with its path. */
export interface PlacedEffort {
  readonly effort: Effort;
  readonly path: string;
}

/** The dialogue of a request. */
export interface Dialogue {
  readonly messages: readonly Message[];
  /** Efforts of the system messages, in their order. */
  readonly efforts: readonly PlacedEffort[];
}

/** Calls of an assistant message whose results must come next. */
interface OpenCalls {
  readonly index: number;
  readonly byId: Map<string, ToolCall>;
}

/**
 * Parses `system` and `messages`. Results follow the message of their calls, before everything
 * else; a system message stays in its place, because hoisting it would change the head of the
 * prompt with each turn.
 */
export function parseDialogue(document: JsonDocument, blocks: BlockInput): Result<Dialogue> {
  const { lossy, carrier } = blocks;
  const efforts: PlacedEffort[] = [];
  const system = systemParts(document.value.system, lossy);
  if (!system.ok) return system;
  const leading: Part[] = [...system.value];
  const turns: Message[] = [];
  const input = { ...blocks, text: document.text, innerItems: newInnerItems() };
  let isBegun = false;
  let open: OpenCalls | null = null;
  /** System messages between calls and their results. */
  let held: Message[] = [];

  function take(message: JsonObject, index: number, span: Span): Result<null> {
    switch (message.role) {
      case "user":
        return takeUser(message, index);
      case "assistant":
        return takeAssistant(message, index, span);
      case "system":
        return takeSystem(message, `messages.${index}`);
      default:
        return notAmong(`messages.${index}.role`, ["user", "assistant", "system"]);
    }
  }

  function takeUser(message: JsonObject, index: number): Result<null> {
    isBegun = true;
    const content = parseUser(message, index, input);
    if (!content.ok) return content;
    const { results, rest } = content.value;
    for (const result of results) {
      const taken = takeResult(result);
      if (!taken.ok) return taken;
    }
    const unanswered = openProblem();
    if (unanswered !== null) return unanswered;
    open = null;
    const moved = results.flatMap((result) => result.moved);
    if (moved.length > 0) turns.push(userTurn(moved, `messages.${index}`));
    pushAll(turns, held);
    held = [];
    if (rest !== null) turns.push(rest);
    return success(null);
  }

  function takeResult({ id, place, content }: GivenResult): Result<null> {
    const call = open?.byId.get(id.value);
    if (call === undefined) {
      return invalidValue(place.path, SENTENCES.unexpectedResult(id.value));
    }
    open?.byId.delete(id.value);
    const at = { field: "messages[tool]", ...place } as const;
    turns.push({ kind: "result", at, callId: id, name: null, call, content, cache: null });
    return success(null);
  }

  function takeAssistant(message: JsonObject, index: number, span: Span): Result<null> {
    isBegun = true;
    const unanswered = openProblem();
    if (unanswered !== null) return unanswered;
    const turn = parseAssistant(message, index, span, input);
    if (!turn.ok) return turn;
    if (turn.value !== null) turns.push(turn.value);
    const byId = new Map(turn.value?.calls.map((call) => [call.id?.value ?? "", call]));
    open = byId.size === 0 ? null : { index, byId };
    return success(null);
  }

  function takeSystem(message: JsonObject, path: string): Result<null> {
    const read = parseSystem(message, path, lossy);
    if (!read.ok) return read;
    const { parts, effort } = read.value;
    if (effort !== null) efforts.push({ effort, path: `${path}.output_config.effort` });
    if (!isBegun) pushAll(leading, parts);
    else if (parts.length > 0) (open === null ? turns : held).push(instruction(parts, path));
    return success(null);
  }

  function openProblem(): Failed | null {
    if (open === null || open.byId.size === 0) return null;
    const ids = [...open.byId.keys()];
    return invalidValue(`messages.${open.index}`, SENTENCES.unansweredCalls(ids));
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
  const head = leading.length === 0 ? [] : [instruction(leading, "system")];
  const dialogue = [...head, ...turns];
  return useMessages(dialogue, carrier) ?? success({ messages: dialogue, efforts });
}

/** Gives the messages and their reasoning to the carrier. */
function useMessages(messages: readonly Message[], carrier: Carrier): Failed | null {
  for (const message of messages) {
    const reasoning = message.kind === "assistant" ? message.reasoning : null;
    const refused = carrier.use(message.at) ?? (reasoning && carrier.use(reasoning.at));
    if (refused !== null) return refused;
  }
  return null;
}

function instruction(parts: readonly Part[], path: string): Instruction {
  const at = { field: "messages[system]", path } as const;
  const content = contentOf(parts, { field: "messages[system].content", path });
  return { kind: "instruction", role: "system", at, content, cache: null };
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
