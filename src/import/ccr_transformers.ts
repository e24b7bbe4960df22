import type { Report } from "./report.ts";
import { itemsOf, memberOf, numberOf, textOf, type Tree } from "./source.ts";

/** Transformers whose work needs no setting here, and those that have no counterpart. */
const NEEDLESS = [
  "openrouter",
  "groq",
  "cerebras",
  "gemini",
  "Anthropic",
  "OpenAI",
  "openai",
  "reasoning",
];
const PRIVATE = ["enhancetool", "cleancache"];

/** The transformer of providers that are called over the Responses API. */
export const RESPONSES = "openai-responses";

/** Returns the name of a transformer, which may be a list of the name and its options. */
export function transformerName(tree: Tree): string {
  return textOf(tree) ?? (tree.kind === "list" ? textOf(tree.items[0]) ?? "" : "");
}

/** Returns the limit of the first transformer `maxtoken` in a list. */
export function maxTokens(use: Tree | undefined): number | null {
  return itemsOf(use).map(limitOf).find((limit) => limit !== null) ?? null;
}

/** Returns the limit of a transformer; null if it is not `maxtoken` with one. */
function limitOf(item: Tree): number | null {
  if (item.kind !== "list" || transformerName(item) !== "maxtoken") return null;
  const most = numberOf(memberOf(item.items[1], "max_tokens"));
  return most !== null && Number.isSafeInteger(most) && most > 0 ? most : null;
}

/** Reports a transformer of the provider at `place`. */
export function reportTransformer(item: Tree, place: string, type: string, report: Report): void {
  const name = transformerName(item);
  if (NEEDLESS.includes(name)) {
    const options = item.kind === "list" ? item.items.slice(1) : [];
    for (const one of options) report.missing(one, "an option of a transformer, which is not sent");
    report.carried(item, [], "no setting is needed");
  } else if (PRIVATE.includes(name)) {
    report.noMeaning(item, "what the router does to its own requests");
  } else if (name === "deepseek" && type === "compat") {
    const note = "more than 8192 tokens are requested as they are; the router cuts the limit";
    report.differently(item, `${place}.compatibility_profile`, note);
  } else if (name === RESPONSES && type === "compat") {
    report.carried(item, "routing.routes[0].targets[].upstream_request_type");
  } else if (limitOf(item) !== null && type === "compat") {
    const note = "a request for more is refused, in the words by which Claude Code asks for less";
    report.differently(item, `${place}.extra.max_tokens`, note);
  } else report.missing(item, "a transformer without a counterpart");
}
