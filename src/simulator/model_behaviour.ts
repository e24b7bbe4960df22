import { NATIVE_QUIRKS, parseFirstEventQuirk, type Quirk, STORED_QUIRKS } from "./quirks.ts";
import type { Defect } from "./protocol.ts";

/** How a model speaks. */
export type Style =
  | { readonly kind: "echo" | "think" | "think_tags" | "json" | "refuse" | "length" | "filter" }
  | { readonly kind: "long"; readonly words: number }
  /** Milliseconds before each word. */
  | { readonly kind: "slow"; readonly pause: number }
  | { readonly kind: "tools"; readonly calls: 1 | 2; readonly thinks: boolean }
  | { readonly kind: "broken"; readonly defect: Defect }
  | { readonly kind: "odd"; readonly quirk: Quirk };

/** What a model does when it is called. */
export type ModelBehaviour =
  | { readonly kind: "answer"; readonly style: Style }
  | { readonly kind: "error"; readonly status: number }
  | { readonly kind: "redirect" | "no_content" | "hang" };

const BEHAVIOURS: ReadonlyMap<string, ModelBehaviour> = new Map<string, ModelBehaviour>([
  ["sim-echo", answers({ kind: "echo" })],
  ["sim-embed", answers({ kind: "echo" })],
  ["sim-long", answers({ kind: "long", words: 200 })],
  ["sim-slow", answers({ kind: "slow", pause: 100 })],
  ["sim-tools", answers({ kind: "tools", calls: 1, thinks: false })],
  ["sim-tools-parallel", answers({ kind: "tools", calls: 2, thinks: false })],
  ["sim-parallel", answers({ kind: "tools", calls: 2, thinks: false })],
  ["sim-think", answers({ kind: "think" })],
  ["sim-think-tools", answers({ kind: "tools", calls: 1, thinks: true })],
  ["sim-think-tags", answers({ kind: "think_tags" })],
  ["sim-json", answers({ kind: "json" })],
  ["sim-refuse", answers({ kind: "refuse" })],
  ["sim-length", answers({ kind: "length" })],
  ["sim-filter", answers({ kind: "filter" })],
  ["sim-broken-stream", breaks("stream")],
  ["sim-broken-reset", breaks("reset")],
  ["sim-broken-json", breaks("json")],
  ["sim-broken-error", breaks("error")],
  ["sim-broken-first", breaks("first")],
  ["sim-broken-empty", breaks("empty")],
  ["sim-broken-half", breaks("half")],
  ["sim-broken-huge", breaks("huge")],
  ["sim-broken-silent", breaks("silent")],
  ["sim-broken-redirect", { kind: "redirect" }],
  ["sim-broken-204", { kind: "no_content" }],
  ["sim-hang", { kind: "hang" }],
  ["sim-error-400", { kind: "error", status: 400 }],
  ["sim-error-429", { kind: "error", status: 429 }],
  ["sim-error-500", { kind: "error", status: 500 }],
  ["sim-error-503", { kind: "error", status: 503 }],
  ...NATIVE_QUIRKS.map((name) =>
    [`sim-native-${name}`, departs({ kind: "native", name, first: false })] as const
  ),
  ...STORED_QUIRKS.map((name) =>
    [`sim-stored-${name}`, departs({ kind: "stored", name })] as const
  ),
]);

/** The names that the voices list. Others with a number of their own are known as well. */
export const MODELS: readonly string[] = [...BEHAVIOURS.keys()];

/**
 * What the model of this name does: one of `MODELS`, or `sim-long-N` (N words), `sim-slow-N`
 * (N milliseconds before each word), `sim-error-N` (status 400 to 599), or one of the early quirks.
 * Null for any other name.
 */
export function findBehaviour(model: string): ModelBehaviour | null {
  const listed = BEHAVIOURS.get(model);
  if (listed !== undefined) return listed;
  const early = parseFirstEventQuirk(model);
  if (early !== null) return departs(early);
  const [, word, digits] = /^sim-(long|slow|error)-(\d{1,6})$/.exec(model) ?? [];
  const figure = Number(digits);
  if (word === "long") return answers({ kind: "long", words: figure });
  if (word === "slow") return answers({ kind: "slow", pause: figure });
  return word === "error" && figure >= 400 && figure <= 599
    ? { kind: "error", status: figure }
    : null;
}

function answers(style: Style): ModelBehaviour {
  return { kind: "answer", style };
}

function breaks(defect: Defect): ModelBehaviour {
  return answers({ kind: "broken", defect });
}

function departs(quirk: Quirk): ModelBehaviour {
  return answers({ kind: "odd", quirk });
}
