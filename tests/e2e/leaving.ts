import { chatInit } from "./chat_call.ts";

/** Lengths of the client's message: within one read, within one buffer, beyond both. */
export const BODY_SIZES = [1_000, 20_000, 200_000];
/** The wait before the first repeat, in milliseconds: no other wait is as long. */
export const RETRY_DELAY_MS = 20_000;
/** A whole answer. */
export const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
};

/** One failure would open a breaker; one more try, or another target, would show. */
export function leavingConfig(up: string, spare: string): string {
  return `
providers:
  up: {type: compat, base_url: "${up}"}
  spare: {type: compat, base_url: "${spare}"}
routing:
  routes: [{name: main, targets: [{provider: up}], fallback: [{provider: spare}]}]
retry: {max_attempts: 3, initial_delay: 20s, jitter_factor: 0}
circuit_breaker: {failure_threshold: 1}
`;
}

/** Returns the options of a chat request with a message of this length. */
export function sized(
  size: number,
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const messages = [{ role: "user", content: "x".repeat(size) }];
  return chatInit({ ...fields, messages }, headers);
}
