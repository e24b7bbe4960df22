import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";

const TERMINALS: readonly unknown[] = ["completed", "incomplete", "failed", "cancelled"];

/**
 * Returns the rules that a native Responses stream breaks up to its first terminal event, each
 * once.
 */
export function brokenRules(status: number, text: string): readonly string[] {
  const broken = new Set<string>();
  if (status !== 200) broken.add("status");
  const stream = { identity: null, sequence: -1, comments: 0, ended: false };
  const state: StreamState = stream;
  for (const record of text.split("\n\n").slice(0, -1)) {
    if (record.startsWith(":")) state.comments++;
    else if (state.ended) broken.add("one terminal");
    else for (const rule of recordErrors(record, state)) broken.add(rule);
  }
  if (state.comments > 1024) broken.add("preflight");
  if (!state.ended) broken.add("terminal");
  return [...broken];
}

interface StreamState {
  identity: string | null;
  sequence: number;
  comments: number;
  ended: boolean;
}

function* recordErrors(record: string, state: StreamState): Generator<string> {
  const [, name = "", data = ""] = /^(?:event: (.*)\n)?data: (.*)$/.exec(record) ?? [];
  const event = parseJson(data);
  // `[DONE]` before a terminal event counts as a missing terminal, not as a record that is no
  // object.
  if (data === "[DONE]") return;
  if (!isObject(event)) return yield "object";
  const { sequence_number: number } = event;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0) {
    yield "sequence is an integer";
  } else if (number <= state.sequence) yield "sequence rises";
  else state.sequence = number;
  yield* eventErrors(event, name, state);
}

function* eventErrors(event: JsonObject, name: string, state: StreamState): Generator<string> {
  const word = String(event.type).replace("response.", "");
  const response = isObject(event.response) ? event.response : null;
  const isTerminal = TERMINALS.includes(word);
  if (isTerminal) state.ended = true;
  const needsResponse = isTerminal || word === "created";
  if (needsResponse && response === null) return yield "response";
  if (isTerminal && (name !== event.type || response?.status !== word)) yield "agreement";
  const id = event.response_id ?? response?.id;
  if (id === undefined && !needsResponse && response === null) return;
  if (typeof id !== "string" || id === "" || id !== id.trim()) yield "identity is exact";
  else if (id !== (state.identity ?? id)) yield "one identity";
  else state.identity = id;
}
