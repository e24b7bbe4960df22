import type { JsonObject } from "../../../src/core/json/json.ts";
import { messages, USER } from "./chat_shapes.ts";
import type { GrowingCall } from "./doubling.ts";
import { growingCall, growingConfig } from "./growing_gateway.ts";
import { shortAnswer, times } from "./spoken.ts";

/**
 * Branches in the largest call: those of a request and their properties are bounded, and a second
 * comparison doubles 1.4
 * times as many.
 */
const MAX_BRANCHES = 1_000;

function request(
  name: string,
  profile: string,
  fields: (n: number) => JsonObject,
  most?: number,
): GrowingCall {
  const role = "normalize_developer_role: true";
  const config = growingConfig().replace(role, `${role}\n    compatibility_profile: ${profile}`);
  return growingCall(`chat over ${profile}: ${name}`, (n) => ({
    path: "/chat/completions",
    body: JSON.stringify({ model: "compat/m", ...fields(n) }),
    answer: shortAnswer("compat", false),
  }), { config, most });
}

function tool(parameters: JsonObject): JsonObject {
  return { ...messages(USER), tools: [{ type: "function", function: { name: "f", parameters } }] };
}

function property(at: number): JsonObject {
  return { properties: { [`p${at}`]: { type: "string" } }, required: [`p${at}`] };
}

function tagged(at: number): JsonObject {
  return { type: "object", properties: { tag: { const: `t${at}` } }, required: ["tag"] };
}

/** Requests in which one thing grows that a host with a profile gets changed. */
export const HOST_REQUESTS: readonly GrowingCall[] = [
  request("numbers of an enum", "gemini", (n) => tool({ enum: times(n, (at) => at) })),
  request(
    "numbers and texts in two branches",
    "gemini",
    (n) => tool({ anyOf: [{ enum: times(n, (at) => at) }, { enum: times(n, (at) => `t${at}`) }] }),
  ),
  request(
    "branches that hold together",
    "gemini",
    (n) => tool({ type: "object", allOf: times(n, property) }),
    MAX_BRANCHES,
  ),
  request("branches of alternatives", "gemini", (n) => tool({ oneOf: times(n, tagged) }), 1_000),
  request("properties of the first alternative", "gemini", (n) => {
    const first = times(n, (at) => [`p${at}`, { const: 1 }] as const);
    const names = first.map(([name]) => name);
    return tool({
      oneOf: [
        { properties: Object.fromEntries(first), required: names },
        ...times(n, () => ({ properties: {} })),
      ],
    });
  }, 1_000),
  request(
    "unknown members of a message",
    "groq",
    (n) => messages({ ...USER, ...Object.fromEntries(times(n, (at) => [`x${at}`, at])) }),
  ),
];
