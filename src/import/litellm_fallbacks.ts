import { isPattern, MAX_NAMED_MODELS } from "../config/models_rules.ts";
import { MODEL_NAME } from "../config/models_schema.ts";
import { compileGlob } from "../core/glob.ts";
import { identityOf, type Named, type Target } from "./litellm_named.ts";
import { inferredPrefix, isPrefix } from "./litellm_prefixes.ts";
import type { Report } from "./report.ts";
import { itemsOf, membersOf, textOf, type Tree } from "./source.ts";

/** The fallbacks of each name. */
export interface Chains {
  /** Returns the targets to which a name falls back, and for which failures; null for the usual. */
  of(
    name: string,
  ): { readonly fallback: readonly Target[]; readonly reasons: readonly string[] | null };
}

/** A list of fallbacks of the source. */
interface FallbackList {
  readonly reason: "outage" | "context_length" | "content_filter";
  /** The name that falls back; `*` for all that have no list. */
  readonly name: string;
  readonly names: readonly { readonly name: string; readonly tree: Tree }[];
  readonly tree: Tree;
}

/**
 * Depth up to which LiteLLM follows the fallbacks of fallbacks: each further order of a name, then
 * each name of its list, is one deeper than the one before it.
 */
const MAX_FALLBACK_DEPTH = 5;

const DEFAULT = "*";

/** Note for what is tried after a target: which failures it is for. */
export const NOT_FOR_REFUSALS =
  "not after other refusals of a request (400, 401, 404), after which LiteLLM falls back too";

const OTHER_PARAMETERS = "with the parameters of the name that falls back, not with its own";

const OF_A_PATTERN = "for every name of the pattern, whose list LiteLLM does not use";

/** Where a file has lists of fallbacks, and the failures that they are for. */
const LISTS = {
  fallbacks: "outage",
  default_fallbacks: "outage",
  context_window_fallbacks: "context_length",
  content_policy_fallbacks: "content_filter",
} as const;

const REASONS = [...new Set(Object.values(LISTS))];

/** Names of the members that are lists of fallbacks. */
export const FALLBACK_KEYS = Object.keys(LISTS) as readonly (keyof typeof LISTS)[];

/**
 * Returns the fallbacks of the names of a source. `sections` are the values of the lists; `others`
 * are further names of entries, by which a fallback may name them.
 */
export function newChains(
  sections: readonly (readonly [key: keyof typeof LISTS, tree: Tree])[],
  named: ReadonlyMap<string, Named>,
  others: ReadonlyMap<string, Named>,
  report: Report,
): Chains {
  const patterns = [...named.values()].filter(({ name }) => isPattern(name))
    .map((one) => [compileGlob(one.name), one] as const);
  const lists = sections.flatMap(([key, tree]) => readLists(key, tree));
  const byReason = Map.groupBy(lists, ({ reason }) => reason);
  // Of several lists of a name LiteLLM takes the first one, or the last one of its other form.
  const keyed = lists.filter(({ name }) => name !== DEFAULT)
    .map((list) => [keyOf(list.reason, list.name), list] as const);
  const firsts = new Map(keyed.toReversed());
  const lasts = new Map(keyed);
  /** The names that fall back by each list. */
  const users = Map.groupBy(
    REASONS.flatMap((reason) =>
      [...named.keys()].map((name) => [listOf(name, reason), name] as const)
    ),
    ([list]) => list,
  );
  // Of several lists for all names LiteLLM takes the last one; default_fallbacks is that.
  const usual = lists.findLast(({ name, reason }) => name === DEFAULT && reason === "outage");
  for (const list of lists) reportList(list);

  function readLists(key: keyof typeof LISTS, tree: Tree): readonly FallbackList[] {
    const reason = LISTS[key];
    if (key === "default_fallbacks") {
      return [{ reason, name: DEFAULT, names: namesIn(tree, null), tree }];
    }
    return itemsOf(tree).flatMap((item) =>
      membersOf(item).map(([name, names]) => ({
        reason,
        name,
        names: namesIn(names, name),
        tree: names,
      }))
    );
  }

  function namesIn(tree: Tree, own: string | null): FallbackList["names"] {
    const items = itemsOf(tree);
    // A pattern serves any number of names: each of them would be a fallback of each name.
    for (const item of items.slice(MAX_NAMED_MODELS)) {
      report.missing(item, `a list has at most ${MAX_NAMED_MODELS} names here`);
    }
    return items.slice(0, MAX_NAMED_MODELS).flatMap((item) => {
      const [only, ...more] = membersOf(item);
      const name = textOf(item) ??
        (only?.[0] === "model" && more.length === 0 ? textOf(only[1]) : null);
      // A pattern has no model that is sent for another name.
      if (name === null || isPattern(name) || find(name) === undefined) {
        const note = name === null
          ? "a fallback is a name here, without parameters"
          : "no entry that is carried has this name, or it is a pattern";
        report.missing(item, note);
        return [];
      }
      if (name === own) {
        report.missing(item, "a name does not fall back to itself: its targets are tried before");
        return [];
      }
      return [{ name, tree: item }];
    });
  }

  /** Returns what serves a name, also one that a pattern matches; undefined for no model. */
  function find(name: string): Named | undefined {
    return named.get(name) ?? others.get(name) ??
      (MODEL_NAME.test(name) ? matched(name) : undefined);
  }

  function matched(name: string): Named | undefined {
    const pattern = patterns.find(([matches]) => matches(name))?.[1];
    const targets = [...pattern?.targets ?? [], ...pattern?.later ?? []];
    return pattern && {
      ...pattern,
      targets: targets.map((target) => ({ ...target, model: target.model ?? name })),
      later: [],
    };
  }

  function listOf(name: string, reason: FallbackList["reason"]): FallbackList | undefined {
    return firsts.get(keyOf(reason, name)) ?? lasts.get(keyOf(reason, otherForm(name)));
  }

  /** True for a name that does not fall back by the list for all names. */
  function hasOwnList(name: string): boolean {
    return listOf(name, "outage") !== undefined;
  }

  function reportList(list: FallbackList): void {
    const { reason, name, names, tree } = list;
    if (name === DEFAULT && reason !== "outage") {
      return report.missing(tree, "only lists of a name are carried");
    }
    const all = (users.get(list) ?? []).map(([, user]) => user);
    const own = name === DEFAULT ? null : all.find((user) => user === name) ?? all[0];
    if (own === undefined || own === null && list !== usual) {
      const note = name === DEFAULT || named.has(name)
        ? "another list for this name counts"
        : find(name) === undefined
        ? "no entry that is carried has the name that falls back"
        : "only after a fallback to it: no entry has this name";
      return report.missing(tree, note);
    }
    if (own === null && [...named.keys()].every(hasOwnList)) {
      return report.missing(tree, "every name has a list of its own, which counts");
    }
    for (const { name: next, tree } of names) {
      const places = placesOf(own, next);
      const [place] = places;
      if (place === undefined) {
        // A fallback of all names that none of them needs has the targets of each.
        const [any = next] = named.has(next) ? [next] : named.keys();
        const targets = `models.${own ?? any}.targets`;
        report.differently(tree, targets, "the same targets, which are tried once");
      } else if (own === null || reason === "outage") {
        const isEqual = own !== null && parametersOf(own) === parametersOf(next);
        const notes = [
          NOT_FOR_REFUSALS,
          ...isEqual ? [] : [OTHER_PARAMETERS],
          ...own !== null && isPattern(own) ? [OF_A_PATTERN] : [],
        ];
        report.differently(tree, places, notes.join("; "));
      } else reportReason(own, reason, tree, place);
    }
  }

  /** Returns where a name is a fallback: of `own`, or of every name that has other targets. */
  function placesOf(own: string | null, next: string): readonly string[] {
    const needs = (name: string) =>
      !(own === null && hasOwnList(name)) && besides(name, targetsOf(next)).length > 0;
    if (own !== null) return needs(own) ? [`models.${own}.fallback`] : [];
    return [...named.keys()].some(needs) ? ["models"] : [];
  }

  function parametersOf(name: string): string {
    return JSON.stringify(find(name)?.parameters);
  }

  /** Returns those of some targets that a name does not have, each once. */
  function besides(name: string, others: readonly Target[]): readonly Target[] {
    const seen = new Set(targetsOf(name).map(identityOf));
    return others.filter((target) => seen.size < seen.add(identityOf(target)).size);
  }

  function reportReason(name: string, reason: FallbackList["reason"], tree: Tree, place: string) {
    // A list of which nothing is left, such as one for all names that names this one, is none.
    const hasOther = besides(name, walk(name, "outage")).length > 0;
    const other = hasOther ? listOf(name, "outage") ?? usual : undefined;
    const own = listOf(name, reason);
    if (other !== undefined && sameNames(other, own)) {
      return report.carried(tree, `${place}_on`);
    }
    if (other !== undefined || isSecond(name, reason)) {
      return report.missing(tree, "a name has one list of fallbacks here, and it has another one");
    }
    const isOne = targetsOf(name).length === 1;
    if (isOne) return report.carried(tree, [place, `${place}_on`]);
    report.differently(
      tree,
      [place, `${place}_on`],
      "also after an outage of all targets of the name",
    );
  }

  /** True for a filter's list of a name that has a different list for long prompts. */
  function isSecond(name: string, reason: FallbackList["reason"]): boolean {
    const first = listOf(name, "context_length");
    return reason === "content_filter" && first !== undefined &&
      !sameNames(first, listOf(name, reason));
  }

  /**
   * Returns the targets in the order of LiteLLM: those of a name are followed by its own fallbacks,
   * or by those of the requested name if it has none.
   */
  function walk(requested: string, reason: FallbackList["reason"]): readonly Target[] {
    const tried = new Set<string>();
    const first = listOf(requested, reason) ?? (reason === "outage" ? usual : undefined);
    return below(requested, 0);

    function below(name: string, depth: number): readonly Target[] {
      if (depth >= MAX_FALLBACK_DEPTH) return [];
      tried.add(name);
      const one = find(name);
      let deeper = depth + (reason === "outage" ? Math.max((one?.orders ?? 0) - 1, 0) : 0);
      const further = ((listOf(name, reason) ?? first)?.names ?? []).flatMap((next) => {
        if (tried.has(next.name)) return [];
        tried.add(next.name);
        deeper++;
        return [...find(next.name)?.targets ?? [], ...below(next.name, deeper)];
      });
      return [...one?.later ?? [], ...further];
    }
  }

  /** True if plain fallbacks of a name follow a failure: no list for it is of other names alone. */
  function isPlain(name: string, reason: FallbackList["reason"]): boolean {
    const all = byReason.get(reason) ?? [];
    return reason === "outage" || all.length === 0 || all.some((list) => list.name === DEFAULT) ||
      listOf(name, reason) !== undefined;
  }

  function targetsOf(name: string): readonly Target[] {
    const one = find(name);
    return one === undefined ? [] : [...one.targets, ...one.later];
  }

  return {
    of(name) {
      const fallback = besides(name, walk(name, "outage"));
      if (fallback.length > 0) {
        return { fallback, reasons: REASONS.filter((reason) => isPlain(name, reason)) };
      }
      const length = listOf(name, "context_length");
      const filter = listOf(name, "content_filter");
      const list = length ?? filter;
      if (list === undefined) return { fallback: [], reasons: null };
      const isOne = targetsOf(name).length === 1;
      const reasons = [
        ...isOne ? [] : ["outage"],
        ...length === undefined ? [] : ["context_length"],
        ...filter !== undefined && sameNames(list, filter) ? ["content_filter"] : [],
      ];
      return { fallback: besides(name, walk(name, list.reason)), reasons };
    },
  };
}

function sameNames(one: FallbackList, other: FallbackList | undefined): boolean {
  return one.names.map(({ name }) => name).join(" ") ===
    other?.names.map(({ name }) => name).join(" ");
}

function keyOf(reason: FallbackList["reason"], name: string | null): string {
  return `${reason} ${name ?? ""}`;
}

/**
 * Returns the name by which LiteLLM looks for fallbacks if it finds none by the name itself:
 * without the prefix of a provider, or with the one that it infers; null for none.
 */
function otherForm(name: string): string | null {
  const slash = name.indexOf("/");
  if (slash >= 0) return isPrefix(name.slice(0, slash)) ? name.slice(slash + 1) : null;
  const prefix = inferredPrefix(name);
  return prefix === null ? null : `${prefix}/${name}`;
}
