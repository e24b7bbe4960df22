import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  objectsIn,
  parseJson,
} from "../core/json/json.ts";
import { responseObjects } from "./events_of.ts";
import type { CallRecord } from "./record.ts";

/** One turn of a dialogue: who says it, and its text. */
export interface DialogueTurn {
  readonly role: string;
  readonly text: string;
}

/**
 * Returns the dialogue of a recorded call, whatever its client API; without a request or a response
 * with more levels than a served one has. A body that is no object, such as one that was cut, is a
 * turn as it is.
 */
export function dialogueOf({ request, response }: CallRecord): readonly DialogueTurn[] {
  const asked = request?.body ?? "", body = parseJson(asked);
  const answers = responseObjects(response);
  return [
    ...!isObject(body)
      ? [{ role: "request", text: asked }]
      : isTooDeep(body)
      ? []
      : requestTurns(body),
    ...answers.length === 0
      ? [{ role: "response", text: response?.body ?? "" }]
      : responseTurns(answers.filter((one) => !isTooDeep(one))),
  ].filter(({ text }) => text !== "");
}

function requestTurns(body: JsonObject): DialogueTurn[] {
  const turns = [
    { role: "system", text: textIn(body.system ?? body.instructions) },
    ...objectsIn(body.messages).map(messageTurn),
  ];
  const input = body.input ?? body.prompt;
  if (!Array.isArray(input) || !input.some(isObject)) {
    return [...turns, { role: "user", text: textIn(input) }];
  }
  return [...turns, ...objectsIn(input).map(messageTurn)];
}

function messageTurn(message: JsonObject): DialogueTurn {
  const { role, type, name } = message;
  const calls = objectsIn(message.tool_calls).map(textIn);
  const who = typeof role === "string" ? role : typeof type === "string" ? type : "user";
  const text = [
    textIn(message.content ?? message.output ?? message.arguments ?? message.summary),
    ...calls,
  ].filter(Boolean).join("\n");
  return { role: typeof name === "string" ? `${who} ${name}` : who, text };
}

/** Returns what people read of a part: its text, or the call and the result of a tool. */
function textIn(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join("\n");
  if (!isObject(value)) return "";
  const { type, name, content } = value;
  const text = shownText(value);
  if (typeof text === "string") return text;
  const inner = calledIn(value);
  if (inner !== null) return `${String(inner.name)}(${textIn(inner.arguments ?? inner.input)})`;
  if (typeof name === "string") {
    const input = value.arguments ?? value.input;
    return `${name}(${typeof input === "string" ? input : JSON.stringify(input ?? {})})`;
  }
  return content === undefined
    ? `[${typeof type === "string" ? type : "object"}]`
    : textIn(content);
}

/** Returns the text of a part, a block or a piece of one. */
function shownText({ text, thinking, refusal }: JsonObject): JsonValue | undefined {
  return text ?? thinking ?? refusal;
}

/** Returns what a tool call of Chat calls, a function or a custom tool; null for anything else. */
function calledIn({ function: called, custom }: JsonObject): JsonObject | null {
  return isObject(called) ? called : isObject(custom) ? custom : null;
}

/** Returns the turns of a response; the pieces of a stream are joined. */
function responseTurns(objects: readonly JsonObject[]): DialogueTurn[] {
  const turns: { role: string; text: string }[] = [];
  const append = (role: string, text: JsonValue | undefined) => {
    if (typeof text !== "string" || text === "") return;
    const last = turns.at(-1);
    if (last?.role === role) last.text += text;
    else turns.push({ role, text });
  };
  for (const one of objects) {
    for (const choice of objectsIn(one.choices)) {
      append("assistant", choice.text);
      for (const message of [choice.delta, choice.message].filter(isObject)) {
        append("assistant", message.content);
        append("assistant", message.refusal);
        for (const call of objectsIn(message.tool_calls)) {
          const { name, arguments: written, input } = calledIn(call) ?? {};
          if (typeof name === "string") turns.push({ role: `tool call ${name}`, text: "" });
          append(turns.at(-1)?.role ?? "tool call", written ?? input);
        }
      }
    }
    const begun = begunBlock(one);
    if (typeof begun?.name === "string") turns.push({ role: `tool call ${begun.name}`, text: "" });
    else append("assistant", shownText(begun ?? {}));
    const last = turns.at(-1)?.role ?? "";
    appendBlocks(one, last.startsWith("tool call ") ? last : "tool call", append);
    if (isObject(one.error)) append("error", one.error.message);
  }
  return turns;
}

/** Returns the block of Messages, or the item of Responses, that an event begins. */
function begunBlock({ type, item, content_block }: JsonObject): JsonObject | null {
  if (isObject(content_block)) return content_block;
  return type === "response.output_item.added" && isObject(item) ? item : null;
}

/** Events with a piece of what the model says. */
const TEXT_DELTAS = ["response.output_text.delta", "response.refusal.delta"];

/** Event with a piece of what a tool gets. */
const CALL_DELTA = /^response\.\w+_call_(?:arguments|input)\.delta$/;

/** Appends blocks of Messages and items of Responses; `call` is the role of the last call. */
function appendBlocks(
  one: JsonObject,
  call: string,
  append: (role: string, text: JsonValue | undefined) => void,
): void {
  const { type, delta } = one;
  for (const block of [...objectsIn(one.content), ...objectsIn(one.output)]) {
    const name = typeof block.name === "string" ? ` ${block.name}` : "";
    append(name === "" ? "assistant" : `tool call${name}`, textIn(block));
  }
  if (isObject(delta)) {
    append("assistant", shownText(delta));
    append(call, delta.partial_json);
  } else if (TEXT_DELTAS.some((one) => one === type)) append("assistant", delta);
  else if (typeof type === "string" && CALL_DELTA.test(type)) append(call, delta);
}
