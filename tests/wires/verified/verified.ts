import type { StreamEvent } from "../../../src/core/stream/events.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import type { ResponsePromise, SchemaCheck } from "../../../src/prompt/response_promise.ts";
import { newCheckBudget } from "../../../src/wires/verified/check_budget.ts";
import { newPatterns } from "../../../src/wires/verified/patterns.ts";
import { parseStrictSchema } from "../../../src/wires/verified/strict_schema.ts";
import { newVerifier } from "../../../src/wires/verified/verifier.ts";
import { valueOf } from "../../support/translated.ts";

/** Returns a strict object schema with these properties. */
export function strictObject(properties: JsonObject): JsonObject {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Returns the check of a strict schema. */
export function checkOf(schema: JsonObject): SchemaCheck {
  return valueOf(parseStrictSchema(schema, "p", newPatterns()));
}

/** Result of `problemOf` if the steps of the budget do not suffice. */
export const TOO_LARGE = "too many steps";

/** Returns the problem of a text in a response without others; null if it has none. */
export function problemOf(check: SchemaCheck, text: string): string | null {
  const budget = newCheckBudget();
  const problem = check.problem(text, budget);
  return budget.steps < 0 ? TOO_LARGE : problem;
}

/** The check of an object with one number `n`. */
export const NUMBER = checkOf(strictObject({ n: { type: "number" } }));

/** Promises of each kind, by a short name. */
export const PROMISES = {
  strict: { kind: "strict", path: "s", name: "f", schema: NUMBER },
  required: {
    kind: "tool_choice",
    path: "c",
    permitted: ["f", "g"],
    isRequired: true,
    isText: false,
  },
  limited: { kind: "tool_choice", path: "c", permitted: ["f"], isRequired: false, isText: false },
  textCall: { kind: "tool_choice", path: "c", permitted: ["f"], isRequired: true, isText: true },
  single: { kind: "parallel_tool_calls", path: "p" },
  json: { kind: "json_object", path: "j", permitsCalls: false },
  jsonOrCalls: { kind: "json_object", path: "j", permitsCalls: true },
  schema: { kind: "json_schema", path: "j", schema: NUMBER, permitsCalls: false },
  schemaOrCalls: { kind: "json_schema", path: "j", schema: NUMBER, permitsCalls: true },
  stop: { kind: "stop", path: "stop", texts: ["END", "\n\n"] },
} as const satisfies Readonly<Record<string, ResponsePromise>>;

/** Result of the events of one response. */
export interface Verified {
  /** Events in the groups in which they were returned, one group for each event pushed. */
  readonly groups: readonly (readonly StreamEvent[])[];
  readonly result: Result<readonly StreamEvent[]>;
  readonly counted: readonly string[];
  readonly isDone: boolean;
}

/** Passes events through the check of these promises. */
export function verify(
  promises: readonly ResponsePromise[],
  events: readonly StreamEvent[],
  isStream = true,
): Verified {
  const counted: string[] = [];
  const verifier = newVerifier(promises, {
    isStream,
    idSource: { uuid: () => "00000000-0000-4000-8000-000000000001" },
    onResult: (kind, result) => counted.push(`${kind} ${result}`),
  });
  const groups: (readonly StreamEvent[])[] = [];
  for (const event of events) {
    if (verifier.done()) break;
    const step = verifier.push(event);
    if (!step.ok) return { groups, result: step, counted, isDone: false };
    groups.push(step.value);
  }
  const end = verifier.end();
  const result = end.ok ? success(groups.flat()) : end;
  return { groups, result, counted, isDone: verifier.done() };
}

/** Returns text events of these pieces. */
export function texts(...pieces: readonly string[]): StreamEvent[] {
  return pieces.map((delta) => ({ type: "text", delta }));
}

/** Returns the event of a whole call of a function. */
export function call(name: string, text: string, index = 0): StreamEvent {
  return { type: "tool_call", index, id: `call_${index}`, name, arguments: text };
}

/** The finish event of a response that ended by itself. */
export const STOP: StreamEvent = { type: "finish", reason: "stop" };
/** The finish event of a response with calls. */
export const CALLS: StreamEvent = { type: "finish", reason: "tool_calls" };
/** The finish event of a response that was cut. */
export const LENGTH: StreamEvent = { type: "finish", reason: "length" };
