import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Schema,
} from "yaml";
import { describe } from "../config/problems.ts";
import { faultProblems } from "../config/yaml_source.ts";
import { withoutComments } from "./json_comments.ts";

/** A value of the source that is no mapping and no list, or an empty one. */
export interface Leaf {
  readonly kind: "leaf";
  readonly path: string;
  readonly value: string | number | boolean | null;
}

/** A mapping of the source with at least one member. */
export interface Mapping {
  readonly kind: "mapping";
  readonly path: string;
  readonly members: ReadonlyMap<string, Tree>;
}

/** A list of the source with at least one item. */
export interface List {
  readonly kind: "list";
  readonly path: string;
  readonly items: readonly Tree[];
}

/** A value of the source with its path, as the report names it. */
export type Tree = Leaf | Mapping | List;

/** Syntax of a source: YAML 1.1 of LiteLLM, JSON with comments of claude-code-router. */
export type SourceForm = "yaml" | "json";

/** A parsed source, or the problem with it as a line without any text of the source. */
export type Parsed =
  | {
    readonly ok: true;
    readonly root: Tree;
    /** Paths of values that a later member with the same name replaces. */
    readonly replaced: readonly string[];
    /** Names of members of the root whose values are anchors that aliases repeat. */
    readonly anchored: ReadonlySet<string>;
  }
  | { readonly ok: false; readonly problem: string };

/** Maximum nesting depth of a source. */
const MAX_DEPTH = 64;

/** Maximum number of values of a source, with those that aliases repeat. */
const MAX_VALUES = 200_000;

/**
 * Maximum number of places where a value of a source can begin. A value takes about 6 KB until its
 * line of the report is written, so that the text alone does not bound the memory.
 */
const MAX_BEGINNINGS = 40_000;

/** Pattern of keys that are shown: others may be secrets in the wrong place. */
const PLAIN_KEY = /^(?!sk-)[A-Za-z][A-Za-z_-]{0,47}\d{0,2}$/;

/** Keys that are shown without a value too. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...["model_name", "litellm_params", "model_info", "model", "api_key", "api_base", "base_url"],
  ...["api_version", "model_list", "router_settings", "litellm_settings", "general_settings"],
  ...["environment_variables", "master_key", "database_url", "callbacks", "success_callback"],
  ...["failure_callback", "fallbacks", "cache_params", "redis_host", "redis_password"],
  ...["Providers", "Router", "APIKEY", "HOST", "PORT", "LOG", "LOG_LEVEL", "PROXY_URL", "models"],
  ...["API_TIMEOUT_MS", "api_base_url", "transformer", "transformers", "default", "background"],
  ...["think", "longContext", "webSearch", "image", "CUSTOM_ROUTER_PATH"],
]);

/** Pattern of keys that can be names of models. */
const NAME_KEY = /^[A-Za-z0-9*][A-Za-z0-9._:/@*-]{0,127}$/;

/** Mappings below these keys have names of models as keys. */
const BY_NAME: ReadonlySet<string> = new Set([
  "fallbacks",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "model_group_alias",
  "model_group_retry_policy",
]);

interface Walk {
  readonly counts: { values: number };
  readonly anchors: Map<string, { readonly node: Node; readonly top: string }>;
  readonly anchored: Set<string>;
  readonly open: Set<string>;
  readonly replaced: string[];
  top: string;
}

/** A problem of the source, whose text has nothing of it. */
class Unreadable extends Error {}

/** Parses a source into a tree with paths. A key that comes twice has its last value. */
export function parseSourceText(written: string, form: SourceForm): Parsed {
  const text = form === "json" ? withoutComments(written) : written;
  if (hasManyValues(text)) {
    return { ok: false, problem: "the source has more than 40,000 values" };
  }
  const counter = new LineCounter();
  const document = parsed(() =>
    parseDocument(text, {
      version: form === "yaml" ? "1.1" : "1.2",
      schema: schemaOf(form),
      lineCounter: counter,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    })
  );
  if (document === null) return { ok: false, problem: "the source is nested too deeply" };
  const [fault] = faultProblems([...document.errors, ...document.warnings], text);
  if (fault !== undefined) {
    const { line, col } = counter.linePos(Number(fault.at));
    const position = { line: Math.max(line, 1), column: Math.max(col, 1) };
    return { ok: false, problem: describe("the source", fault.text, position) };
  }
  const walk: Walk = {
    counts: { values: 0 },
    anchors: new Map(),
    anchored: new Set(),
    open: new Set(),
    replaced: [],
    top: "",
  };
  try {
    const root = readNode(document.contents, "", 0, walk);
    return { ok: true, root, replaced: walk.replaced, anchored: walk.anchored };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: `the source ${error.message}` };
    throw error;
  }
}

/** The member of a schema that makes the values of texts in quotes. */
const SCALAR = Symbol.for("yaml.scalar");
const TEXT_TAG = "tag:yaml.org,2002:str";

/**
 * Returns the schema of a form of sources. LiteLLM reads YAML 1.1, in which `yes` and `on` are true
 * and `<<` merges.
 */
function schemaOf(form: SourceForm): Schema {
  const schema = form === "yaml"
    ? new Schema({ schema: "yaml-1.1", merge: true, resolveKnownTags: false })
    : new Schema({ schema: "core", merge: false, resolveKnownTags: true });
  // The parser joins a text of its characters, and the engine keeps each of these joins, about 28
  // bytes, until it searches the text.
  const resolve = (text: string) => /[^]/.test(text) ? text : "";
  return Object.create(schema, { [SCALAR]: { value: { tag: TEXT_TAG, resolve } } });
}

/** Returns a document; null if it has more lists in lists than the parser has stack for. */
function parsed<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * True if items of lists and members of mappings can begin in too many places: after the beginning
 * of a line, of a list or of a mapping, a comma, a dash or a question mark. A tag counts too.
 */
function hasManyValues(text: string): boolean {
  return text.matchAll(/[\n,[{!]|[-?]\s/g).drop(MAX_BEGINNINGS).next().done !== true;
}

function countValue(walk: Walk): void {
  walk.counts.values++;
  if (walk.counts.values > MAX_VALUES) {
    throw new Unreadable("has more than 200,000 values with those that aliases repeat");
  }
}

function readNode(node: unknown, path: string, depth: number, walk: Walk): Tree {
  if (depth > MAX_DEPTH) throw new Unreadable("is nested too deeply");
  countValue(walk);
  if (isAlias(node)) return readAlias(node.source, path, depth, walk);
  if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) {
    walk.anchors.set(node.anchor, { node, top: walk.top });
    walk.open.add(node.anchor);
    const tree = readContent(node, path, depth, walk);
    walk.open.delete(node.anchor);
    return tree;
  }
  return readContent(node, path, depth, walk);
}

function readAlias(name: string, path: string, depth: number, walk: Walk): Tree {
  const anchor = walk.anchors.get(name);
  if (anchor === undefined || walk.open.has(name)) {
    throw new Unreadable("has an alias of an anchor that is not set before it");
  }
  walk.anchored.add(anchor.top);
  walk.open.add(name);
  const tree = readContent(anchor.node, path, depth, walk);
  walk.open.delete(name);
  return tree;
}

function readContent(node: unknown, path: string, depth: number, walk: Walk): Tree {
  if (isSeq(node)) {
    const items = node.items.map((item, index) =>
      readNode(item, `${path}[${index}]`, depth + 1, walk)
    );
    return items.length === 0 ? leaf(path, null) : { kind: "list", path, items };
  }
  if (!isMap(node)) return leaf(path, isScalar(node) ? scalar(node.value, node.source) : null);
  const members = new Map<string, Tree>();
  const merged: Tree[] = [];
  for (const [index, pair] of node.items.entries()) {
    const { key: name, value } = pair;
    if (!isScalar(name)) throw new Unreadable("contains a key that is not plain text");
    const key = String(scalar(name.value, name.source));
    if (depth === 0) walk.top = key;
    if (key === "<<") {
      // A merged value has the path of the member that it gives; it is parsed without members.
      merged.push(readNode(value, path, depth, walk));
      continue;
    }
    const shown = shownKey(key, value, path, index);
    const place = path === "" ? shown : `${path}.${shown}`;
    if (members.has(key)) walk.replaced.push(place);
    members.set(key, readNode(value, place, depth + 1, walk));
  }
  for (const tree of merged) addMerged(tree, members, path, walk);
  return members.size === 0 ? leaf(path, null) : { kind: "mapping", path, members };
}

/** Adds merged members; members of the mapping itself win. */
function addMerged(tree: Tree, members: Map<string, Tree>, path: string, walk: Walk): void {
  const sources = tree.kind === "list" ? tree.items : [tree];
  for (const source of sources) {
    if (source.kind !== "mapping") throw new Unreadable("contains a << that is no mapping");
    for (const [key, value] of source.members) {
      countValue(walk);
      if (!members.has(key)) members.set(key, movedTo(value, source.path, path));
    }
  }
}

/** Returns a tree whose paths begin with `to` instead of `from`. */
function movedTo(tree: Tree, from: string, to: string): Tree {
  if (from === to) return tree;
  const rest = tree.path.slice(from.length);
  const path = to === "" ? rest.replace(/^\./, "") : `${to}${rest}`;
  switch (tree.kind) {
    case "leaf":
      return { ...tree, path };
    case "list":
      return { ...tree, path, items: tree.items.map((item) => movedTo(item, from, to)) };
    case "mapping": {
      const members = [...tree.members].map(([key, value]) =>
        [key, movedTo(value, from, to)] as const
      );
      return { ...tree, path, members: new Map(members) };
    }
  }
}

function leaf(path: string, value: Leaf["value"]): Leaf {
  return { kind: "leaf", path, value };
}

/** Pattern of numbers with an exponent that are texts for LiteLLM's parser, such as `1e3`. */
const TEXT_NUMBER = /^[-+]?[\d_]*(?:e|\.[\d_]*e\d)/i;

/**
 * Returns a scalar as JSON has it: dates, and numbers that are not exact, as their text. So are
 * `y`, `n` and `1e3`, which are texts for LiteLLM's parser, unlike in YAML 1.1.
 */
function scalar(value: unknown, source: string | undefined): Leaf["value"] {
  if (typeof value === "boolean" && source?.length === 1) return source;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  const isExact = typeof value === "number" && !TEXT_NUMBER.test(source ?? "") &&
    Number.isFinite(value) &&
    (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact ? value : source ?? "";
}

/**
 * Returns a key as the report shows it. A mistake in YAML, such as `{secret}` or `secret:`, makes a
 * secret a key: what does not look like a word or a name is shown by its place.
 */
function shownKey(key: string, value: unknown, path: string, index: number): string {
  const isEmpty = value === null || isScalar(value) && value.value === null;
  if (PLAIN_KEY.test(key) && (!isEmpty || KNOWN_KEYS.has(key))) return key;
  const parent = /([a-z_]+)(?:\[\d+\])?$/.exec(path)?.[1] ?? "";
  if (BY_NAME.has(parent) && NAME_KEY.test(key)) return key;
  return `(key ${index + 1})`;
}

/** Returns the member of a mapping; undefined if the value is none or has no such member. */
export function memberOf(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.kind === "mapping" ? tree.members.get(key) : undefined;
}

/** Returns the members of a mapping; none for any other value. */
export function membersOf(tree: Tree | undefined): readonly (readonly [string, Tree])[] {
  return tree?.kind === "mapping" ? [...tree.members] : [];
}

/** Returns the items of a list; a single value is a list of itself. */
export function itemsOf(tree: Tree | undefined): readonly Tree[] {
  if (tree === undefined) return [];
  return tree.kind === "list" ? tree.items : [tree];
}

/** Returns the text of a value; null if it is none. A number is its decimal text. */
export function textOf(tree: Tree | undefined): string | null {
  if (tree?.kind !== "leaf") return null;
  if (typeof tree.value === "number") return String(tree.value);
  return typeof tree.value === "string" && tree.value !== "" ? tree.value : null;
}

/** Returns the number of a value, also of a text that is one; null if it is none. */
export function numberOf(tree: Tree | undefined): number | null {
  const text = textOf(tree);
  return text !== null && /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(text.trim())
    ? Number(text)
    : null;
}

/** Returns the truth of a value, also of a text that is one; null if it is none. */
export function truthOf(tree: Tree | undefined): boolean | null {
  if (tree?.kind !== "leaf") return null;
  if (typeof tree.value === "boolean") return tree.value;
  const word = String(tree.value).trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : null;
}

/** Returns every leaf of a value, in the order of the source. */
export function leavesOf(tree: Tree): readonly Leaf[] {
  switch (tree.kind) {
    case "leaf":
      return [tree];
    case "list":
      return tree.items.flatMap(leavesOf);
    case "mapping":
      return [...tree.members.values()].flatMap(leavesOf);
  }
}
