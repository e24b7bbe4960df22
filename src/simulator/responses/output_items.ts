import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Account } from "../account.ts";
import type { Deps, ModelOutput } from "../protocol.ts";
import { customInput } from "../model_output.ts";
import { splitFragments } from "../tokens.ts";

/** One output item, with the fragments that a stream sends as its deltas. */
export type OutputItem =
  | {
    readonly kind: "reasoning";
    readonly id: string;
    readonly words: readonly string[];
    /** The encrypted content; null if the request does not include it. */
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
    /** Absent without a namespace. */
    readonly namespace?: string;
    readonly isCustom: boolean;
    readonly pieces: readonly string[];
  };

/** The settings of the request and account that shape the output items. */
export interface OutputContext {
  readonly account: Account;
  readonly deps: Deps;
  /** The query of a web search before the answer. */
  readonly searchQuery: string | null;
  readonly includeEncryptedReasoning: boolean;
}

/** Returns the output items of a model output, in order. */
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
  // An empty output is encoded as an empty message.
  if (output.text.length > 0 || output.thinking.length + output.toolCalls.length === 0) {
    const refused = output.finish === "refusal";
    const annotations = searchQuery === null ? [] : [citation(output.text.join("").length)];
    const id = newId("msg_", deps);
    outputItems.push({ kind: "message", id, words: output.text, refused, annotations });
  }
  for (const call of output.toolCalls) {
    const { isCustom = false, namespace } = call.tool ?? {};
    const ids = { id: newId(isCustom ? "ctc_" : "fc_", deps), callId: newId("call_", deps) };
    const name = namespace === undefined ? call.name : call.name.slice(namespace.length + 2);
    const named = { name, ...namespace !== undefined && { namespace } };
    const text = call.written ?? (isCustom ? customInput(call) : JSON.stringify(call.input));
    outputItems.push({ kind: "call", ...ids, ...named, isCustom, pieces: splitFragments(text) });
  }
  return outputItems;
}

function citation(end: number): JsonObject {
  const url = "https://example.com/";
  return { type: "url_citation", url, title: "Example Domain", start_index: 0, end_index: end };
}

/** Returns the JSON of a finished output item. */
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
    case "call": {
      const { isCustom, callId: call_id, name, namespace, pieces } = outputItem;
      return {
        id,
        type: isCustom ? "custom_tool_call" : "function_call",
        status,
        call_id,
        name,
        ...namespace !== undefined && { namespace },
        [isCustom ? "input" : "arguments"]: pieces.join(""),
      };
    }
  }
}

/** Returns the finished content part of a message. */
export function encodeContentPart(
  outputItem: Extract<OutputItem, { kind: "message" }>,
): JsonObject {
  const text = outputItem.words.join("");
  return outputItem.refused
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: outputItem.annotations, logprobs: [] };
}
