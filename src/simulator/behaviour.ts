import { earlyQuirk, NATIVE_QUIRKS, type Quirk, STORED_QUIRKS } from "./quirks.ts";
import type { Defect } from "./voice.ts";

/** How a model speaks. */
export type Manner =
  | { readonly kind: "echo" | "think" | "think_tags" | "json" | "refuse" | "length" | "filter" }
  | { readonly kind: "long"; readonly words: number }
  /** Milliseconds before each word. */
  | { readonly kind: "slow"; readonly pause: number }
  | { readonly kind: "tools"; readonly calls: 1 | 2; readonly thinks: boolean }
  | { readonly kind: "broken"; readonly defect: Defect }
  | { readonly kind: "odd"; readonly quirk: Quirk };

/** What a model does when it is called. */
export type Behaviour =
  | { readonly does: "speak"; readonly manner: Manner }
  | { readonly does: "fail"; readonly status: number }
  | { readonly does: "redirect" | "say_nothing" | "hang" };

const BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ["sim-echo", speak({ kind: "echo" })],
  ["sim-embed", speak({ kind: "echo" })],
  ["sim-long", speak({ kind: "long", words: 200 })],
  ["sim-slow", speak({ kind: "slow", pause: 100 })],
  ["sim-tools", speak({ kind: "tools", calls: 1, thinks: false })],
  ["sim-tools-parallel", speak({ kind: "tools", calls: 2, thinks: false })],
  ["sim-parallel", speak({ kind: "tools", calls: 2, thinks: false })],
  ["sim-think", speak({ kind: "think" })],
  ["sim-think-tools", speak({ kind: "tools", calls: 1, thinks: true })],
  ["sim-think-tags", speak({ kind: "think_tags" })],
  ["sim-json", speak({ kind: "json" })],
  ["sim-refuse", speak({ kind: "refuse" })],
  ["sim-length", speak({ kind: "length" })],
  ["sim-filter", speak({ kind: "filter" })],
  ["sim-broken-stream", broken("stream")],
  ["sim-broken-reset", broken("reset")],
  ["sim-broken-json", broken("json")],
  ["sim-broken-error", broken("error")],
  ["sim-broken-first", broken("first")],
  ["sim-broken-empty", broken("empty")],
  ["sim-broken-half", broken("half")],
  ["sim-broken-huge", broken("huge")],
  ["sim-broken-silent", broken("silent")],
  ["sim-broken-redirect", { does: "redirect" }],
  ["sim-broken-204", { does: "say_nothing" }],
  ["sim-hang", { does: "hang" }],
  ["sim-error-400", { does: "fail", status: 400 }],
  ["sim-error-429", { does: "fail", status: 429 }],
  ["sim-error-500", { does: "fail", status: 500 }],
  ["sim-error-503", { does: "fail", status: 503 }],
  ...NATIVE_QUIRKS.map((name) =>
    [`sim-native-${name}`, odd({ of: "native", name, first: false })] as const
  ),
  ...STORED_QUIRKS.map((name) => [`sim-stored-${name}`, odd({ of: "stored", name })] as const),
]);

/** The names that the voices list. Others with a number of their own are known as well. */
export const MODELS: readonly string[] = [...BEHAVIOURS.keys()];

/**
 * What the model of this name does: one of `MODELS`, or `sim-long-N` (N words), `sim-slow-N`
 * (N milliseconds before each word), `sim-error-N` (status 400 to 599), or one of the early quirks.
 * Null for any other name.
 */
export function behaviourOf(model: string): Behaviour | null {
  const listed = BEHAVIOURS.get(model);
  if (listed !== undefined) return listed;
  const early = earlyQuirk(model);
  if (early !== null) return odd(early);
  const [, word, digits] = /^sim-(long|slow|error)-(\d{1,6})$/.exec(model) ?? [];
  const figure = Number(digits);
  if (word === "long") return speak({ kind: "long", words: figure });
  if (word === "slow") return speak({ kind: "slow", pause: figure });
  return word === "error" && figure >= 400 && figure <= 599
    ? { does: "fail", status: figure }
    : null;
}

function speak(manner: Manner): Behaviour {
  return { does: "speak", manner };
}

function broken(defect: Defect): Behaviour {
  return speak({ kind: "broken", defect });
}

function odd(quirk: Quirk): Behaviour {
  return speak({ kind: "odd", quirk });
}
