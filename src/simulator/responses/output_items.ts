import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Account } from "../account.ts";
import type { Deps, ModelOutput } from "../protocol.ts";
import { splitFragments } from "../tokens.ts";

/** One output item, with the pieces in which a stream tells it. */
export type OutputItem =
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

/** What the output of an answer depends on besides its output. */
export interface OutputContext {
  readonly account: Account;
  readonly deps: Deps;
  /** What is searched for before the answer; null when nothing is. */
  readonly searchQuery: string | null;
  readonly includeEncryptedReasoning: boolean;
}

/** The output items of an answer, in order. */
export function buildOutputItems(output: ModelOutput, plan: OutputContext): readonly OutputItem[] {
  const { deps, searchQuery } = plan;
  const outputItems: OutputItem[] = [];
  if (output.thinking.length > 0) {
    const sealed = plan.includeEncryptedReasoning
      ? plan.account.seal(output.thinking.join(""))
      : null;
    outputItems.push({ kind: "reasoning", id: newId("rs_", deps), words: output.thinking, sealed });
  }
  if (searchQuery !== null) {
    outputItems.push({ kind: "search", id: newId("ws_", deps), query: searchQuery });
  }
  // An answer that has nothing to say is an empty message.
  if (output.text.length > 0 || output.thinking.length + output.toolCalls.length === 0) {
    const refused = output.finish === "refusal";
    const annotations = searchQuery === null ? [] : [citation(output.text.join("").length)];
    const id = newId("msg_", deps);
    outputItems.push({ kind: "message", id, words: output.text, refused, annotations });
  }
  for (const { name, input } of output.toolCalls) {
    const ids = { id: newId("fc_", deps), callId: newId("call_", deps) };
    outputItems.push({ kind: "call", ...ids, name, pieces: splitFragments(JSON.stringify(input)) });
  }
  return outputItems;
}

function citation(end: number): JsonObject {
  const url = "https://example.com/";
  return { type: "url_citation", url, title: "Example Domain", start_index: 0, end_index: end };
}

/** The item as it is in the end. */
export function encodeItem(outputItem: OutputItem, status: "completed" | "incomplete"): JsonObject {
  const { id } = outputItem;
  switch (outputItem.kind) {
    case "reasoning": {
      const summary = [{ type: "summary_text", text: outputItem.words.join("") }];
      const sealed = outputItem.sealed === null ? {} : { encrypted_content: outputItem.sealed };
      return { id, type: "reasoning", summary, ...sealed };
    }
    case "search": {
      const action = { type: "search", query: outputItem.query, queries: [outputItem.query] };
      return { id, type: "web_search_call", status: "completed", action };
    }
    case "message":
      return {
        id,
        type: "message",
        role: "assistant",
        status,
        content: [encodeContentPart(outputItem)],
      };
    case "call":
      return {
        id,
        type: "function_call",
        status,
        call_id: outputItem.callId,
        name: outputItem.name,
        arguments: outputItem.pieces.join(""),
      };
  }
}

/** The content outputItem of a message, whole. */
export function encodeContentPart(
  outputItem: Extract<OutputItem, { kind: "message" }>,
): JsonObject {
  const text = outputItem.words.join("");
  return outputItem.refused
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: outputItem.annotations, logprobs: [] };
}
