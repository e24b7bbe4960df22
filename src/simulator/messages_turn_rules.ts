import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { blockErrors } from "./messages_block_rules.ts";
import { enablesThinking } from "./messages_tool_rules.ts";
import { thinksBeforeCalls } from "./model_behaviour.ts";
import { extraInputErrors } from "./field_checks.ts";

/** Consecutive messages of one role, merged into one list of content blocks. */
export interface Turn {
  readonly role: string;
  readonly blocks: readonly JsonObject[];
}

/**
 * Returns the turns of a body whose messages are valid. Consecutive messages of one role form one
 * turn.
 */
export function mergeTurns({ messages }: JsonObject): readonly Turn[] {
  const turns: { role: string; blocks: JsonObject[] }[] = [];
  for (const message of Array.isArray(messages) ? messages.filter(isObject) : []) {
    const role = typeof message.role === "string" ? message.role : "";
    const blocks = blocksOf(message.content);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks });
  }
  return turns;
}

/** Returns the turns of the user and the assistant, without system messages between them. */
export function dialogueOf(turns: readonly Turn[]): readonly Turn[] {
  const dialogue: Turn[] = [];
  for (const turn of turns) {
    const last = dialogue.at(-1);
    if (turn.role === "system") continue;
    if (last?.role !== turn.role) dialogue.push(turn);
    else dialogue.splice(-1, 1, { ...last, blocks: [...last.blocks, ...turn.blocks] });
  }
  return dialogue;
}

/** Returns the names of the tools that tool_reference blocks in the results have. */
export function referencedNames(turns: readonly Turn[]): readonly JsonValue[] {
  return turns.flatMap(({ blocks }) => blocks)
    .filter(({ type }) => type === "tool_result")
    .flatMap(({ content }) => blocksOf(content))
    .filter(({ type }) => type === "tool_reference")
    .map(({ tool_name: name = null }) => name);
}

/** Returns the blocks of a message content. A string is one text block; an empty string is none. */
export function blocksOf(content: JsonValue | undefined): JsonObject[] {
  if (Array.isArray(content)) return content.filter(isObject);
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

/** Yields the errors in the messages of a body and in their order (Messages API, messages). */
export function* turnErrors(body: JsonObject, beta: boolean): Generator<string> {
  const { messages } = body;
  if (!Array.isArray(messages)) return yield "messages: Field required";
  if (messages.length === 0) return yield "messages: at least one message is required";
  for (const [at, message] of messages.entries()) {
    const path = `messages.${at}`;
    if (!isObject(message)) return yield `${path}: Input should be an object`;
    yield* messageErrors(message, path, beta);
  }
  const spoken = mergeTurns(body);
  const turns = dialogueOf(spoken);
  if (spoken[0]?.role !== "user") yield 'messages: first message must use the "user" role';
  yield* toolPairingErrors(turns);
  yield* prefillErrors(turns);
  const usesTools = turns.some(({ blocks }) => idsOf(blocks, "tool_use", "id").length > 0);
  if (usesTools && body.tools === undefined) {
    yield "Requests which include `tool_use` or `tool_result` blocks must define tools.";
  }
  yield* toolLoopErrors(body, turns);
  yield* referenceErrors(body, spoken);
}

/**
 * Yields the error of a tool loop that continues without its thinking (Messages API, extended
 * thinking). Text of the user starts a new turn, before which thinking is ignored.
 */
function* toolLoopErrors(body: JsonObject, turns: readonly Turn[]): Generator<string> {
  const last = turns.at(-1);
  const isLoop = last?.role === "user" && last.blocks.every(({ type }) => type === "tool_result");
  if (!isLoop || !isThinking(body)) return;
  const called = turns.findLast(({ role }) => role === "assistant")?.blocks ?? [];
  const bare = called[0]?.type !== "thinking" && called[0]?.type !== "redacted_thinking";
  if (bare && called.some(({ type }) => type === "tool_use")) {
    yield "Expected `thinking` or `redacted_thinking`, but found `tool_use`.";
  }
}

function* referenceErrors({ tools }: JsonObject, turns: readonly Turn[]): Generator<string> {
  const known = new Set(
    Array.isArray(tools) ? tools.map((tool) => isObject(tool) ? tool.name : null) : [],
  );
  for (const name of referencedNames(turns)) {
    if (!known.has(name)) yield `Tool reference '${name}' not found in available tools`;
  }
}

function isThinking(body: JsonObject): boolean {
  if (enablesThinking(body)) return true;
  const isOff = isObject(body.thinking) && body.thinking.type === "disabled";
  return !isOff && typeof body.model === "string" && thinksBeforeCalls(body.model);
}

const SYSTEM_BETA_FIELDS: readonly string[] = ["output_config", "clear_at"];

function* messageErrors(message: JsonObject, path: string, beta: boolean): Generator<string> {
  const { role, content } = message;
  const known = ["role", "content", ...beta && role === "system" ? SYSTEM_BETA_FIELDS : []];
  yield* extraInputErrors(message, known, `${path}.`);
  if (role !== "user" && role !== "assistant" && role !== "system") {
    yield `${path}.role: Input should be 'user', 'assistant' or 'system'`;
  }
  if (typeof content !== "string" && !Array.isArray(content)) {
    return yield `${path}.content: Input should be a string or a list of blocks`;
  }
  const blocks = blocksOf(content);
  if (role !== "assistant" && blocks.length === 0) {
    yield `${path}: ${role} messages must have non-empty content`;
  }
  if (Array.isArray(content)) {
    for (const [at, block] of content.entries()) {
      if (role === "system" && isObject(block) && block.type !== "text") {
        yield `${path}.content.${at}: system messages have text blocks only`;
      }
      yield* blockErrors(block, role === "user", `${path}.content.${at}`);
    }
  }
  if (blocks.length > 0 && blocks.every(isBlank)) {
    yield `${path}: text content blocks must contain non-whitespace text`;
  }
}

function isBlank({ type, text }: JsonObject): boolean {
  return type === "text" && typeof text === "string" && text.trim() === "";
}

function* toolPairingErrors(turns: readonly Turn[]): Generator<string> {
  for (const [at, { role, blocks }] of turns.entries()) {
    const before = idsOf(turns[at - 1]?.blocks ?? [], "tool_use", "id");
    const answered = idsOf(blocks, "tool_result", "tool_use_id");
    if (answered.some((id) => !before.includes(id))) {
      yield "unexpected `tool_use_id` found in `tool_result` blocks: each must have a corresponding" +
        " `tool_use` block in the previous message.";
    }
    const called = role === "assistant" ? idsOf(blocks, "tool_use", "id") : [];
    const next = turns[at + 1]?.blocks ?? [];
    const answers = idsOf(next, "tool_result", "tool_use_id");
    // Tool results must precede all other blocks of their message.
    const leading = next.slice(0, answers.length).every(({ type }) => type === "tool_result");
    if (!leading || called.some((id) => !answers.includes(id))) {
      yield "`tool_use` ids were found without `tool_result` blocks immediately after";
    }
    if (new Set(called).size < called.length) yield "`tool_use` ids must be unique";
    if (new Set(answered).size < answered.length) {
      yield "each tool_use must have a single result";
    }
  }
}

function idsOf(blocks: readonly JsonObject[], type: string, key: string): readonly JsonValue[] {
  return blocks.filter((block) => block.type === type).map((block) => block[key] ?? null);
}

function* prefillErrors(turns: readonly Turn[]): Generator<string> {
  const last = turns.at(-1);
  const text = last?.role === "assistant" ? last.blocks.at(-1)?.text : undefined;
  if (typeof text === "string" && text !== text.trimEnd()) {
    yield "messages: final assistant content cannot end with trailing whitespace";
  }
}
