import { OPEN_MODEL } from "../config/models_rules.ts";
import { identityOf, type Named, placeOfName, type Target } from "./litellm_named.ts";
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

/** Depth up to which LiteLLM follows the fallbacks of fallbacks. */
const MAX_FALLBACK_DEPTH = 5;

const DEFAULT = "*";

/** Note for lists of fallbacks: which failures they are for. */
const NOT_FOR_REFUSALS =
  "not after other refusals of a request (400, 401, 404), after which LiteLLM falls back too";

const OTHER_PARAMETERS = "with the parameters of the name that falls back, not with its own";

/** Where a file has lists of fallbacks, and the failures that they are for. */
const LISTS = {
  fallbacks: "outage",
  default_fallbacks: "outage",
  context_window_fallbacks: "context_length",
  content_policy_fallbacks: "content_filter",
} as const;

/** Names of the members that are lists of fallbacks. */
export const FALLBACK_KEYS = Object.keys(LISTS) as readonly (keyof typeof LISTS)[];

/**
 * Returns the fallbacks of the names of a source. `sections` are the values of the lists; `find`
 * returns the name of an entry that a fallback names, null if there is none.
 */
export function newChains(
  sections: readonly (readonly [key: keyof typeof LISTS, tree: Tree])[],
  named: ReadonlyMap<string, Named>,
  find: (name: string) => string | null,
  report: Report,
): Chains {
  const lists = sections.flatMap(([key, tree]) => readLists(key, tree));
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
        names: namesIn(names, find(name)),
        tree: names,
      }))
    );
  }

  function namesIn(tree: Tree, own: string | null): FallbackList["names"] {
    return itemsOf(tree).flatMap((item) => {
      const written = textOf(item);
      const name = written === null ? null : find(written);
      // A pattern has no model that is sent for another name.
      if (name === null || name.includes("*")) {
        const note = written === null
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

  function listOf(name: string, reason: FallbackList["reason"]): FallbackList | undefined {
    return lists.find((one) => one.reason === reason && find(one.name) === name);
  }

  function reportList({ reason, name, names, tree }: FallbackList): void {
    const isKnown = name === DEFAULT || find(name) !== null;
    if (!isKnown) {
      return report.missing(tree, "no entry that is carried has the name that falls back");
    }
    if (name === DEFAULT && reason !== "outage") {
      return report.missing(tree, "only lists of a name are carried");
    }
    const own = name === DEFAULT ? null : find(name);
    const used = own === null ? usual : listOf(own, reason);
    if (used?.tree !== tree) return report.missing(tree, "another list for this name counts");
    for (const { name: next, tree } of names) {
      const places = placesOf(own, next);
      const [place] = places;
      if (place === undefined) {
        const targets = `${placeOfName(own ?? next)}.targets`;
        report.differently(tree, targets, "the same targets, which are tried once");
      } else if (own === null || reason === "outage") {
        const isEqual = own !== null && parametersOf(own) === parametersOf(next);
        const note = isEqual ? NOT_FOR_REFUSALS : `${NOT_FOR_REFUSALS}; ${OTHER_PARAMETERS}`;
        report.differently(tree, places, note);
      } else reportReason(own, reason, tree, place);
    }
  }

  /** Returns where a name is a fallback: of `own`, or of every name that has other targets. */
  function placesOf(own: string | null, next: string): readonly string[] {
    const needs = (name: string) => besides(name, [next]).length > 0;
    const one = own ?? (named.has(OPEN_MODEL) ? OPEN_MODEL : null);
    const isOfOthers = own === null &&
      [...named.keys()].some((name) => name !== OPEN_MODEL && needs(name));
    return [
      ...isOfOthers ? ["models"] : [],
      ...one !== null && needs(one) ? [`${placeOfName(one)}.fallback`] : [],
    ];
  }

  function parametersOf(name: string): string {
    return JSON.stringify(named.get(name)?.parameters);
  }

  /** Returns the targets of some names that another name does not have. */
  function besides(name: string, others: readonly string[]): readonly Target[] {
    const own = new Set(targetsOf([name]).map(identityOf));
    return targetsOf(others).filter((target) => !own.has(identityOf(target)));
  }

  function reportReason(name: string, reason: FallbackList["reason"], tree: Tree, place: string) {
    // A list of which nothing is left, such as one for all names that names this one, is none.
    const hasOther = besides(name, walk(name, 0, new Set())).length > 0;
    const other = hasOther ? listOf(name, "outage") ?? usual : undefined;
    const own = listOf(name, reason);
    if (other !== undefined && sameNames(other, own)) {
      return report.carried(tree, `${place}_on`);
    }
    if (other !== undefined || isSecond(name, reason)) {
      return report.missing(tree, "a name has one list of fallbacks here, and it has another one");
    }
    const isOne = targetsOf([name]).length === 1;
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

  /** Returns the names in the order of LiteLLM: each is followed by its own fallbacks. */
  function walk(name: string, depth: number, tried: Set<string>): readonly string[] {
    if (depth >= MAX_FALLBACK_DEPTH) return [];
    tried.add(name);
    // The list for all names is not followed after a list of a name.
    const list = listOf(name, "outage") ?? (depth === 0 ? usual : undefined);
    return (list?.names ?? []).flatMap((next) => {
      if (tried.has(next.name)) return [];
      tried.add(next.name);
      return [next.name, ...walk(next.name, depth + 1, tried)];
    });
  }

  function targetsOf(names: readonly string[]): readonly Target[] {
    const all = names.flatMap((name) => {
      const one = named.get(name);
      return one === undefined ? [] : [...one.targets, ...one.later];
    });
    const seen = new Set<string>();
    return all.filter((target) => {
      const isFirst = !seen.has(identityOf(target));
      seen.add(identityOf(target));
      return isFirst;
    });
  }

  return {
    of(name) {
      const fallback = besides(name, walk(name, 0, new Set()));
      if (fallback.length > 0) {
        // Plain fallbacks of LiteLLM follow every failure, that of a filter too.
        return {
          fallback,
          reasons: ["outage", "context_length", "content_filter"],
        };
      }
      const length = listOf(name, "context_length");
      const filter = listOf(name, "content_filter");
      const list = length ?? filter;
      if (list === undefined) return { fallback: [], reasons: null };
      const isOne = targetsOf([name]).length === 1;
      const reasons = [
        ...isOne ? [] : ["outage"],
        ...length === undefined ? [] : ["context_length"],
        ...filter !== undefined && sameNames(list, filter) ? ["content_filter"] : [],
      ];
      return { fallback: besides(name, list.names.map((one) => one.name)), reasons };
    },
  };
}

function sameNames(one: FallbackList, other: FallbackList | undefined): boolean {
  return one.names.map(({ name }) => name).join(" ") ===
    other?.names.map(({ name }) => name).join(" ");
}
