import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import type { ToolCall } from "./protocol.ts";

/** A user's text has its plan behind this mark, as a JSON array on one line. */
const MARK = "sim-plan: ";
const OVER: PlannedTurn = { thinking: "", text: "The plan is over.", calls: [], finish: "stop" };

/** Output of the model in one turn of a plan. */
export interface PlannedTurn {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** `cut` breaks the stream off after four words. */
  readonly finish: "stop" | "refusal" | "cut";
}

/**
 * Returns the next turn of the last plan that the user of a conversation has written; null if there
 * is no plan. The turns of the assistant behind the plan are counted, so a repeated request has the
 * same turn again.
 */
export function plannedTurn(transcript: readonly string[]): PlannedTurn | null {
  const at = transcript.findLastIndex((line) => line.startsWith("user: ") && line.includes(MARK));
  const plan = at < 0 ? null : parsePlan(transcript[at] ?? "");
  if (plan === null) return null;
  const turn = plan[turnCount(transcript.slice(at + 1))];
  return turn === undefined ? OVER : parseTurn(turn);
}

function parsePlan(text: string): readonly JsonValue[] | null {
  const from = text.indexOf(MARK) + MARK.length;
  const [line = ""] = text.slice(from).split("\n", 1);
  const plan = parseJson(line.slice(0, line.lastIndexOf("]") + 1));
  return Array.isArray(plan) ? plan : null;
}

function turnCount(lines: readonly string[]): number {
  return lines.filter((line, at) => isAssistant(line) && !isAssistant(lines[at - 1] ?? "")).length;
}

function isAssistant(line: string): boolean {
  return /^(?:thinking:|assistant:|assistant calls) /.test(line);
}

function parseTurn(value: JsonValue): PlannedTurn {
  if (!isObject(value)) return { ...OVER, text: typeof value === "string" ? value : "" };
  const { think, say, call, end } = value;
  const calls = Array.isArray(call) ? call.filter(isObject) : [];
  return {
    thinking: typeof think === "string" ? think : calls.length > 0 ? "The plan has a call." : "",
    text: typeof say === "string" ? say : "",
    calls: calls.map(parseCall),
    finish: end === "refusal" || end === "cut" ? end : "stop",
  };
}

function parseCall({ name, input, arguments: written }: JsonObject): ToolCall {
  const call = { name: String(name), input: isObject(input) ? input : {} };
  return typeof written === "string" ? { ...call, written } : call;
}
