import { MAX_NAMED_MODELS } from "../config/models_rules.ts";
import { HOSTS } from "../data/hosts.ts";
import { listPrice } from "../data/prices.ts";
import type { Named, Target } from "./litellm_named.ts";
import { type Entry, type Metric, METRICS } from "./litellm_entry.ts";
import type { Parameter } from "./litellm_parameters.ts";
import type { Providers, Settings } from "./providers.ts";
import type { Report } from "./report.ts";
import { textOf } from "./source.ts";
import type { Part, Written } from "./written_file.ts";

/** The named models of a source, and the parts of the file that come with them. */
export interface Models {
  readonly named: ReadonlyMap<string, Named>;
  /** The targets of each further name of entries, by which a fallback may name them. */
  readonly others: ReadonlyMap<string, Named>;
  readonly pricing: readonly Part[];
}

/** Maximum weight of a target. */
const MAX_WEIGHT = 1_000;

/** Minimum limit of output tokens in the Responses API, below which the target would be skipped. */
const MIN_OUTPUT_TOKENS = 16;

/** The weights of the entries of a name, its path and that of their targets in the file. */
interface Placed {
  readonly weights: ReadonlyMap<Entry, number>;
  readonly place: string;
  readonly targets: string;
  /** The metric of the weights. */
  readonly metric: Metric | null;
}

/** Entries that differ only in their keys. */
interface Cluster {
  readonly entries: Entry[];
  readonly keys: Map<string, number>;
}

/** Context in which the names of a source are read. */
interface ModelsContext {
  readonly providers: Providers;
  readonly report: Report;
  readonly maxNames: number;
  /** True if LiteLLM draws the entries of a name by their weights. */
  readonly isWeighted: boolean;
}

/** Returns the names of the entries with their targets, and adds the providers of these. */
export function newModels(
  entries: readonly Entry[],
  { providers, report, maxNames, isWeighted }: ModelsContext,
): Models {
  const named = new Map<string, Named>();
  const others = new Map<string, Named>();
  const pricing = new Map<string, Part>();
  /** The keys of prices that entries state. */
  const stated = new Set<string>();
  for (const [name, group] of Map.groupBy(entries, (entry) => entry.name)) {
    if (named.size === maxNames) {
      for (const { tree } of group) {
        report.missing(tree, `a file has at most ${MAX_NAMED_MODELS} named models`);
      }
      continue;
    }
    named.set(name, newNamed(name, group));
  }
  // The gateway takes the first pattern in the file that matches, LiteLLM the longest one.
  const bySize = [...named].toSorted(([one], [other]) => patternSize(other) - patternSize(one));
  return { named: new Map(bySize), others, pricing: [...pricing.values()] };

  function newNamed(name: string, group: readonly Entry[]): Named {
    const metric = isWeighted && group.length > 1 ? metricOf(group) : null;
    const weights = scaled(weightsOf(group, metric));
    const place = `models.${name}`;
    const orders = [...new Set(group.map(({ order }) => order))].toSorted((a, b) => a - b);
    const isAnyOpen = group.some((entry) =>
      entry.order === orders[0] && (weights.get(entry) ?? 1) > 0
    );
    const targets: Target[] = [];
    const later: Target[] = [];
    const served: (readonly [entry: Entry, target: Target])[] = [];
    for (const order of orders) {
      const same = group.filter((entry) => entry.order === order);
      for (const cluster of clustersOf(same, weights)) {
        // LiteLLM draws an entry with a weight of 0 once all others rest.
        const isFirst = order === orders[0] && (!isAnyOpen || weightOf(cluster, weights) > 0);
        const [list, key] = isFirst ? [targets, "targets"] as const : [later, "fallback"] as const;
        const target = addTarget(cluster, { weights, place, targets: `${place}.${key}`, metric });
        served.push(...cluster.entries.map((entry) => [entry, target] as const));
        const at = list.findIndex((one) =>
          one.provider === target.provider && one.model === target.model
        );
        const before = list[at];
        if (before === undefined) list.push(target);
        else list[at] = { ...before, weight: before.weight + target.weight };
      }
    }
    const parameters = sharedParameters(group, place, report);
    const from = group.map(({ tree }) => tree.path);
    const open = targets.map((one) => isAnyOpen ? one : { ...one, weight: 1 });
    for (const [entry, target] of served) {
      for (const other of entry.others) {
        const targets = [...others.get(other)?.targets ?? [], target];
        others.set(other, { name: other, from, targets, later: [], orders: 0, parameters });
      }
    }
    const known = orders.filter(Number.isFinite).length;
    return { name, from, targets: open, later, orders: known, parameters };
  }

  function addTarget(cluster: Cluster, { weights, place, targets, metric }: Placed): Target {
    const { entries, keys } = cluster;
    const [first] = entries;
    if (first === undefined) throw new Error("a cluster has an entry");
    const id = providers.add(
      first.id,
      { ...first.settings, ...keySettings(keys) },
      first.tree.path,
    );
    const provider = `providers.${id}`;
    const key = `${provider}.${keys.size > 1 ? "api_keys" : "api_key"}`;
    for (const entry of entries) {
      const price = `pricing.${id}/${entry.model ?? ""}`;
      addPrice(entry, id);
      entry.reportAt({ provider, key, model: place, targets, price, metric });
    }
    const weight = weightOf(cluster, weights);
    const { model, contextSize, isResponses } = first;
    return { provider: id, model, weight, contextSize, isResponses };
  }

  function addPrice(entry: Entry, id: string): void {
    const { price, baseModel, model, tree } = entry;
    if (model === undefined) return;
    const key = `${id}/${model}`;
    const base = textOf(baseModel ?? undefined);
    const known = base === null ? null : priceOf(base);
    const value = price?.price ?? known ?? vendorPrice(entry, id);
    const before = pricing.get(key);
    if (price !== null && stated.has(key)) {
      if (JSON.stringify(before?.value) !== JSON.stringify(value)) {
        for (const [tree] of price.trees) report.missing(tree, ANOTHER_PRICE);
      }
    } else if (value !== null && (price !== null || before === undefined)) {
      pricing.set(key, { key, from: [tree.path], value });
    }
    if (price !== null) stated.add(key);
    if (known === null) report.missing(baseModel ?? undefined, "its price is not known here");
    else report.carried(baseModel ?? undefined, `pricing.${key}`);
  }
}

/** Note for a price that is not that of the first entry with the same model of a provider. */
const ANOTHER_PRICE = "an earlier entry has another price for this model, which counts";

/** Returns the weight of entries together. */
function weightOf({ entries }: Cluster, weights: ReadonlyMap<Entry, number>): number {
  return entries.reduce((sum, entry) => sum + (weights.get(entry) ?? 1), 0);
}

/** Returns the length of a pattern as LiteLLM compares it; names come first, in their own order. */
function patternSize(name: string): number {
  if (!name.includes("*")) return Number.MAX_SAFE_INTEGER;
  return name.replaceAll(/[-.]/g, "\\$&").replaceAll("*", "(.*)").length;
}

/** Returns the price of a model at its vendor, with or without a prefix; null if it is unknown. */
function priceOf(model: string): Settings | null {
  const plain = model.slice(model.lastIndexOf("/") + 1);
  const price = listPrice("openai", plain) ?? listPrice("anthropic", plain);
  return price === null ? null : { ...price };
}

/** Returns the price of a model at a vendor whose provider has another ID than the vendor. */
function vendorPrice({ settings, model = "" }: Entry, id: string): Settings | null {
  for (const vendor of ["openai", "anthropic"] as const) {
    if (settings.base_url !== HOSTS[vendor].baseUrl || id === vendor) continue;
    const price = listPrice(vendor, model);
    if (price !== null) return { ...price };
  }
  return null;
}

/** Returns entries of a name together that differ only in their keys and weights. */
function clustersOf(
  entries: readonly Entry[],
  weights: ReadonlyMap<Entry, number>,
): readonly Cluster[] {
  const clusters = new Map<string, Cluster>();
  for (const entry of entries) {
    const { id, settings, model, contextSize, isResponses } = entry;
    // A key with a weight of 0 would not be used even while all others rest.
    const isClosed = weights.get(entry) === 0;
    const identity = JSON.stringify([
      ...[id, settings, model, contextSize, isResponses, entry.key === null, isClosed],
    ]);
    const empty: Cluster = { entries: [], keys: new Map() };
    const cluster = clusters.get(identity) ?? empty;
    cluster.entries.push(entry);
    if (entry.key !== null) {
      const weight = (cluster.keys.get(entry.key) ?? 0) + (weights.get(entry) ?? 1);
      cluster.keys.set(entry.key, weight);
    }
    clusters.set(identity, cluster);
  }
  return [...clusters.values()];
}

function keySettings(keys: ReadonlyMap<string, number>): Settings {
  const [only] = [...keys.keys()];
  if (only === undefined) return {};
  if (keys.size === 1) return { api_key: only };
  const equal = new Set(keys.values()).size === 1;
  const list = [...keys].map(([value, weight], index) => ({
    name: `key-${index + 1}`,
    value,
    ...!equal && { weight },
  }));
  return { api_keys: list };
}

/** Returns the first metric that one of the entries has, by which LiteLLM draws; null for none. */
function metricOf(entries: readonly Entry[]): Metric | null {
  return METRICS.find((metric) => entries.some(({ weights }) => (weights[metric] ?? 0) > 0)) ??
    null;
}

function weightsOf(
  entries: readonly Entry[],
  metric: Metric | null,
): ReadonlyMap<Entry, number> {
  return new Map(entries.map((entry) => [
    entry,
    metric === null ? 1 : Math.max(entry.weights[metric] ?? 0, 0),
  ]));
}

/** Returns weights as whole numbers up to the maximum; one above 0 stays above it. */
function scaled(weights: ReadonlyMap<Entry, number>): ReadonlyMap<Entry, number> {
  const values = [...weights.values()];
  const most = Math.max(...values);
  const isWhole = values.every((weight) => Number.isSafeInteger(weight));
  const divisor = isWhole ? values.reduce(commonDivisor, 0) : 1;
  const factor = isWhole && most / divisor <= MAX_WEIGHT ? 1 / divisor : MAX_WEIGHT / most;
  return new Map(
    [...weights].map(([entry, weight]) => [
      entry,
      weight === 0 ? 0 : Math.max(Math.round(weight * factor), 1),
    ]),
  );
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other);
}

/** Returns the parameters of a name: one that its entries set differently is the first one's. */
function sharedParameters(group: readonly Entry[], place: string, report: Report): Settings {
  const shared: Record<string, Written> = {};
  for (const { parameters } of group) {
    for (const [name, { value, tree, note }] of parameters) {
      const refused = refusedParameter(name, value, group);
      if (refused !== null) report.missing(tree, refused);
      else if (shared[name] === undefined) {
        shared[name] = value;
        reportParameter(name, { value, tree, note });
      } else if (isSame(shared[name], value)) {
        reportParameter(name, { value, tree, note });
      } else report.missing(tree, "another entry of the same name has another value, which counts");
    }
  }
  return shared;

  function reportParameter(name: string, { value, tree, note }: Parameter): void {
    const isForAll = group.every(({ parameters }) => isSame(parameters.get(name)?.value, value));
    const notes = [note, isForAll ? "" : "for every target of the name"].filter(Boolean);
    report.noted(tree, `${place}.parameters.${name}`, notes.join("; "));
  }
}

function isSame(one: Written | undefined, other: Written): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns why a name cannot have a parameter; null if it can. */
function refusedParameter(
  name: string,
  value: Written,
  group: readonly Entry[],
): string | null {
  const isOverResponses = ({ isResponses }: Entry) => isResponses;
  const has = (type: string) => group.some(({ settings }) => settings.type === type);
  if (name === "temperature" && Number(value) > 1 && has("messages")) {
    return "the Messages API has temperatures up to 1";
  }
  if (name === "max_tokens" && Number(value) < MIN_OUTPUT_TOKENS && group.some(isOverResponses)) {
    return `the Responses API has limits from ${MIN_OUTPUT_TOKENS} tokens`;
  }
  const isLevel = ["low", "medium", "high"].includes(String(value));
  if (name === "effort" && !isLevel && (has("messages") || has("local"))) {
    return "the Messages API and Ollama have the levels low, medium and high here";
  }
  const isUnable = ({ settings: { type, capabilities } }: Entry) =>
    type !== "compat" && Object(capabilities).reasoning_effort !== true;
  if (name === "effort" && group.some(isUnable)) {
    return "a target of the name has no levels of reasoning: it would be skipped";
  }
  if (has("local") && ["parallel_tool_calls", "service_tier", "verbosity"].includes(name)) {
    return "the protocol of Ollama has no such parameter";
  }
  if (has("messages") && ["service_tier", "verbosity"].includes(name)) {
    return "the Messages API has no such parameter";
  }
  return null;
}
