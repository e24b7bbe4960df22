import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Account } from "../account.ts";
import type { Script, Stage } from "../voice.ts";
import { fragmentsOf } from "../words.ts";

/** One output item, with the pieces in which a stream tells it. */
export type Part =
  | {
    readonly kind: "reasoning";
    readonly id: string;
    readonly words: readonly string[];
    /** Null when it is not asked for. */
    readonly sealed: string | null;
  }
  | { readonly kind: "search"; readonly id: string; readonly query: string }
  | {
    readonly kind: "message";
    readonly id: string;
    readonly words: readonly string[];
    readonly refused: boolean;
    readonly annotations: JsonObject[];
  }
  | {
    readonly kind: "call";
    readonly id: string;
    readonly callId: string;
    readonly name: string;
    readonly pieces: readonly string[];
  };

/** What the output of an answer depends on besides its script. */
export interface Plan {
  readonly account: Account;
  readonly stage: Stage;
  /** What is searched for before the answer; null when nothing is. */
  readonly query: string | null;
  readonly sealed: boolean;
}

/** The output items of an answer, in order. */
export function partsOf(script: Script, plan: Plan): readonly Part[] {
  const { stage, query } = plan;
  const parts: Part[] = [];
  if (script.thinking.length > 0) {
    const sealed = plan.sealed ? plan.account.seal(script.thinking.join("")) : null;
    parts.push({ kind: "reasoning", id: newId("rs_", stage), words: script.thinking, sealed });
  }
  if (query !== null) parts.push({ kind: "search", id: newId("ws_", stage), query });
  // An answer that has nothing to say is an empty message.
  if (script.text.length > 0 || script.thinking.length + script.calls.length === 0) {
    const refused = script.finish === "refusal";
    const annotations = query === null ? [] : [citation(script.text.join("").length)];
    const id = newId("msg_", stage);
    parts.push({ kind: "message", id, words: script.text, refused, annotations });
  }
  for (const { name, input } of script.calls) {
    const ids = { id: newId("fc_", stage), callId: newId("call_", stage) };
    parts.push({ kind: "call", ...ids, name, pieces: fragmentsOf(JSON.stringify(input)) });
  }
  return parts;
}

function citation(end: number): JsonObject {
  const url = "https://example.com/";
  return { type: "url_citation", url, title: "Example Domain", start_index: 0, end_index: end };
}

/** The item as it is in the end. */
export function itemOf(part: Part, status: "completed" | "incomplete"): JsonObject {
  const { id } = part;
  switch (part.kind) {
    case "reasoning": {
      const summary = [{ type: "summary_text", text: part.words.join("") }];
      const sealed = part.sealed === null ? {} : { encrypted_content: part.sealed };
      return { id, type: "reasoning", summary, ...sealed };
    }
    case "search": {
      const action = { type: "search", query: part.query, queries: [part.query] };
      return { id, type: "web_search_call", status: "completed", action };
    }
    case "message":
      return { id, type: "message", role: "assistant", status, content: [contentOf(part)] };
    case "call":
      return {
        id,
        type: "function_call",
        status,
        call_id: part.callId,
        name: part.name,
        arguments: part.pieces.join(""),
      };
  }
}

/** The content part of a message, whole. */
export function contentOf(part: Extract<Part, { kind: "message" }>): JsonObject {
  const text = part.words.join("");
  return part.refused
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: part.annotations, logprobs: [] };
}
