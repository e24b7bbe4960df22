import type { JsonObject } from "../../../src/core/json/json.ts";
import { twoKeys } from "../../support/client_keys.ts";
import {
  block,
  messagesAnswer,
  messagesStream,
  shortAnswer,
  sse,
} from "../../support/growth/spoken.ts";
import { type NativeGateway, nativeGateway } from "../../support/native_gateway.ts";

/** Reasoning of the model before its call, and the signature over it. */
export interface Thought {
  readonly text: string;
  readonly seal: string;
}

/** Protocols in which an upstream accepts its reasoning back only unchanged. */
export const SEALING = ["messages", "responses"] as const;

export type Sealing = typeof SEALING[number];

/** The tools of every request. */
export const TOOLS = [{ type: "function", function: { name: "f" } }];

/** The user's question. */
export const USER = { role: "user", content: "Weather?" };

/** A configuration with one provider of each name, all of this protocol, in one route. */
export function thinkingConfig(
  sealing: Sealing,
  { ids = ["up"], key = "sk-1", more = "" }: {
    readonly ids?: readonly string[];
    readonly key?: string;
    readonly more?: string;
  } = {},
): string {
  const type = sealing === "messages" ? "messages" : "compat";
  const api = sealing === "messages" ? "chat_completions" : "responses";
  const providers = ids.map((id) =>
    `  ${id}: {type: ${type}, base_url: "http://${id}", api_key: ${key}}\n`
  );
  const [first, ...others] = ids.map((id) => `{provider: ${id}, upstream_request_type: ${api}}`);
  return `providers:\n${providers.join("")}routing:
  routes: [{name: main, targets: [${first}], fallback: [${others.join(", ")}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
${more}`;
}

/** The same with the client keys of `ada` and `bob`. */
export function keyedConfig(sealing: Sealing): string {
  return thinkingConfig(sealing, { more: twoKeys() });
}

/** The thinking block or reasoning item of a thought. */
export function blockOf(sealing: Sealing, { text, seal }: Thought): JsonObject {
  return sealing === "messages" ? { type: "thinking", thinking: text, signature: seal } : {
    id: `rs_${seal}`,
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: seal,
  };
}

/** The provider's response: the thought, then one call with this ID. */
export function calling(
  sealing: Sealing,
  thought: Thought,
  isStream: boolean,
  id = "call_1",
): string {
  const sealed = blockOf(sealing, thought);
  if (sealing === "messages") {
    const use = { type: "tool_use", id, name: "f", input: { a: 1 } };
    if (!isStream) return messagesAnswer([sealed, use], "tool_use").body;
    const start = { type: "thinking", thinking: "", signature: "" };
    const deltas = [
      { type: "thinking_delta", thinking: thought.text },
      { type: "signature_delta", signature: thought.seal },
    ];
    return messagesStream([...block(0, start, deltas), ...block(1, use, [])], "tool_use").body;
  }
  const called = { type: "function_call", id: `fc_${id}`, call_id: id, name: "f", arguments: "{}" };
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m" };
  const whole = { ...response, status: "completed", output: [sealed, called] };
  if (!isStream) return JSON.stringify(whole);
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...[sealed, called].flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: whole },
  ];
  return sse(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

/**
 * A gateway whose upstreams think these thoughts one after the other, each before a call. The
 * answers behind them are a text.
 */
export function thinkingGateway(
  config: string,
  sealing: Sealing,
  thoughts: readonly Thought[],
  callIds: readonly string[] = [],
  optionsIn?: Parameters<typeof nativeGateway>[2],
): NativeGateway {
  let count = 0;
  return nativeGateway(config, ({ json }) => {
    const at = count++;
    const thought = thoughts[at];
    const isStream = json.stream === true;
    const type = isStream ? "text/event-stream" : "application/json";
    const provider = sealing === "messages" ? "messages" : "native";
    const body = thought === undefined
      ? shortAnswer(provider, isStream).body
      : calling(sealing, thought, isStream, callIds[at] ?? "call_1");
    return { headers: { "content-type": type }, body };
  }, optionsIn);
}

/**
 * The assistant message of a call and its result, as a client without thinking blocks sends them.
 */
export function called(reasoning: JsonObject, id = "call_1"): readonly JsonObject[] {
  const call = { id, type: "function", function: { name: "f", arguments: '{"a":1}' } };
  return [
    { role: "assistant", content: null, ...reasoning, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: "sunny" },
  ];
}

/** The body of a chat request with these messages. */
export function chatBody(messages: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { model: "m", messages: [...messages], tools: TOOLS, ...more };
}
