import { NATIVE_QUIRKS, parseFirstEventQuirk, type Quirk, STORED_QUIRKS } from "./quirks.ts";
import type { Defect } from "./protocol.ts";

/** The way a model generates its output. */
export type Style =
  | {
    readonly kind:
      | "echo"
      | "transcript"
      | "plan"
      | "think"
      | "think_tags"
      | "json"
      | "refuse"
      | "length"
      | "filter";
  }
  | { readonly kind: "long"; readonly words: number }
  /** Pauses `pauseMs` milliseconds before each word. */
  | { readonly kind: "slow"; readonly pauseMs: number }
  | { readonly kind: "tools"; readonly calls: 1 | 2; readonly thinks: boolean }
  /** Thinks and calls the first tool, then answers with the conversation as it arrived. */
  | { readonly kind: "recall" }
  | { readonly kind: "broken"; readonly defect: Defect }
  | { readonly kind: "quirk"; readonly quirk: Quirk };

/**
 * The response of a model to a call: generated output, an error status, a redirect, an empty 204 or
 * none at all.
 */
export type ModelBehaviour =
  | { readonly kind: "answer"; readonly style: Style }
  | { readonly kind: "error"; readonly status: number }
  | { readonly kind: "redirect" | "no_content" | "hang" };

const BEHAVIOURS: ReadonlyMap<string, ModelBehaviour> = new Map<string, ModelBehaviour>([
  ["sim-echo", answering({ kind: "echo" })],
  ["sim-embed", answering({ kind: "echo" })],
  ["sim-transcript", answering({ kind: "transcript" })],
  ["sim-plan", answering({ kind: "plan" })],
  ["sim-long", answering({ kind: "long", words: 200 })],
  ["sim-slow", answering({ kind: "slow", pauseMs: 100 })],
  ["sim-tools", answering({ kind: "tools", calls: 1, thinks: false })],
  ["sim-tools-parallel", answering({ kind: "tools", calls: 2, thinks: false })],
  ["sim-parallel", answering({ kind: "tools", calls: 2, thinks: false })],
  ["sim-think", answering({ kind: "think" })],
  ["sim-think-tools", answering({ kind: "tools", calls: 1, thinks: true })],
  ["sim-recall", answering({ kind: "recall" })],
  ["sim-think-tags", answering({ kind: "think_tags" })],
  ["sim-json", answering({ kind: "json" })],
  ["sim-refuse", answering({ kind: "refuse" })],
  ["sim-length", answering({ kind: "length" })],
  ["sim-filter", answering({ kind: "filter" })],
  ["sim-broken-stream", breaking("stream")],
  ["sim-broken-reset", breaking("reset")],
  ["sim-broken-json", breaking("json")],
  ["sim-broken-error", breaking("error")],
  ["sim-broken-first", breaking("first")],
  ["sim-broken-empty", breaking("empty")],
  ["sim-broken-half", breaking("half")],
  ["sim-broken-huge", breaking("huge")],
  ["sim-broken-silent", breaking("silent")],
  ["sim-broken-redirect", { kind: "redirect" }],
  ["sim-broken-204", { kind: "no_content" }],
  ["sim-hang", { kind: "hang" }],
  ["sim-error-400", { kind: "error", status: 400 }],
  ["sim-error-429", { kind: "error", status: 429 }],
  ["sim-error-500", { kind: "error", status: 500 }],
  ["sim-error-503", { kind: "error", status: 503 }],
  ...NATIVE_QUIRKS.map((name) =>
    [`sim-native-${name}`, withQuirk({ kind: "native", name, first: false })] as const
  ),
  ...STORED_QUIRKS.map((name) =>
    [`sim-stored-${name}`, withQuirk({ kind: "stored", name })] as const
  ),
]);

/** The model names in the catalogs. `findBehaviour` also knows names with other numbers. */
export const MODELS: readonly string[] = [...BEHAVIOURS.keys()];

/**
 * Returns the behaviour of a model: one of `MODELS`, or `sim-long-N` (N words), `sim-slow-N` (N
 * milliseconds before each word), `sim-error-N` (status 400 to 599), a native quirk with the
 * suffix `-first`, or `claude-*`, which is `sim-plan`. Null for any other name.
 */
export function findBehaviour(model: string): ModelBehaviour | null {
  const listed = BEHAVIOURS.get(model);
  if (listed !== undefined) return listed;
  // Claude Code requests its usual models by name, whatever the upstream is.
  if (model.startsWith("claude-")) return answering({ kind: "plan" });
  const early = parseFirstEventQuirk(model);
  if (early !== null) return withQuirk(early);
  const [, word, digits] = /^sim-(long|slow|error)-(\d{1,6})$/.exec(model) ?? [];
  const number = Number(digits);
  if (word === "long") return answering({ kind: "long", words: number });
  if (word === "slow") return answering({ kind: "slow", pauseMs: number });
  return word === "error" && number >= 400 && number <= 599
    ? { kind: "error", status: number }
    : null;
}

/** True if a model thinks before its tool calls unless the request turns thinking off. */
export function thinksBeforeCalls(model: string): boolean {
  const behaviour = findBehaviour(model);
  if (behaviour?.kind !== "answer") return false;
  const { style } = behaviour;
  return style.kind === "recall" || style.kind === "plan" ||
    style.kind === "tools" && style.thinks;
}

function answering(style: Style): ModelBehaviour {
  return { kind: "answer", style };
}

function breaking(defect: Defect): ModelBehaviour {
  return answering({ kind: "broken", defect });
}

function withQuirk(quirk: Quirk): ModelBehaviour {
  return answering({ kind: "quirk", quirk });
}
