import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import { isObject } from "../core/json/json.ts";
import { expand, type Variables } from "./expand.ts";
import type { Path, Problem } from "./problems.ts";
import { bareLeaf, type Leaf, type Mark, objectLeaf, offset } from "./coerce.ts";

/** A YAML tree as a plain value, with variables, aliases and merges expanded. */
export interface Tree extends Leaf {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

interface Notes {
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

interface Anchor {
  readonly leaf: Leaf;
  readonly path: Path;
  /** The problems and warnings inside, if the anchor is under an ignored key: not yet reported. */
  readonly unreported: Notes;
}

interface Walk {
  readonly variables: Variables;
  /** Problems and warnings of the current part of the file. */
  notes: Notes;
  /** True inside a top-level key that is ignored. */
  isIgnored: boolean;
  /** Completed values by anchor name, for aliases. */
  readonly anchors: Map<string, Anchor>;
  /** Number of further values that aliases may repeat. */
  left: number;
}

/** Maximum number of values that the aliases of one file repeat. */
const MAX_REPEATED_VALUES = 100_000;
/** Maximum nesting depth of the file. */
const MAX_DEPTH = 32;

/** Prefix of ignored top-level keys; users define anchors there. */
const IGNORED = "x-";

/**
 * Parses the tree. Each mapping becomes an object of own properties, whatever its keys are. Values
 * under top-level keys that begin with `x-` are used only through aliases.
 */
export function parseTree(root: Node | null, variables: Variables): Tree {
  const walk: Walk = {
    variables,
    notes: { problems: [], warnings: [] },
    isIgnored: false,
    anchors: new Map(),
    left: MAX_REPEATED_VALUES,
  };
  const leaf = readNode(root, [], walk);
  const { problems, warnings } = walk.notes;
  return { ...leaf, problems: problems.map(withoutMerges), warnings: warnings.map(withoutMerges) };
}

/** Returns a problem whose path names the mapping that contains the `<<`. */
function withoutMerges(note: Problem): Problem {
  if (!note.path.includes("<<")) return note;
  const path = note.path.filter((step, index) => {
    return step !== "<<" && !(typeof step === "number" && note.path[index - 1] === "<<");
  });
  return { ...note, path };
}

function readNode(node: unknown, path: Path, walk: Walk): Leaf {
  if (isAlias(node)) return readAlias(node.source, offset(node), path, walk);
  const { problems, warnings } = walk.notes;
  const [problemsBefore, warningsBefore] = [problems.length, warnings.length];
  const leaf = readContent(node, path, walk);
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor === undefined) return leaf;
  const unreported = {
    problems: walk.isIgnored ? problems.slice(problemsBefore) : [],
    warnings: walk.isIgnored ? warnings.slice(warningsBefore) : [],
  };
  walk.anchors.set(anchor, { leaf, path, unreported });
  return leaf;
}

function readContent(node: unknown, path: Path, walk: Walk): Leaf {
  const value = offset(node);
  if (path.length > MAX_DEPTH) {
    walk.notes.problems.push({ path: [], text: "is nested too deeply", at: value });
    return bareLeaf(undefined, value);
  }
  if (isMap(node)) return readMap(node, path, walk);
  if (isSeq(node)) return readList(node, path, walk);
  if (!isScalar(node)) return bareLeaf(null, value);
  const isBare = typeof node.value === "number" || typeof node.value === "boolean";
  const written = isBare ? node.source ?? null : null;
  return bareLeaf(readScalar(node.value, value, path, walk), value, written);
}

function readScalar(value: unknown, at: number, path: Path, walk: Walk): unknown {
  if (typeof value !== "string") return value;
  const expanded = expand(value, walk.variables);
  if (expanded.problem !== null) walk.notes.problems.push({ path, text: expanded.problem, at });
  for (const name of expanded.missing) {
    walk.notes.warnings.push({
      path,
      text: `the variable ${name} is not set, so it is replaced by empty text`,
      at,
    });
  }
  return expanded.text;
}

function readAlias(name: string, at: number, path: Path, walk: Walk): Leaf {
  const anchor = walk.anchors.get(name);
  const cost = anchor === undefined ? 0 : costOf(anchor);
  if (anchor !== undefined && cost <= walk.left) {
    walk.left -= cost;
    const { leaf, unreported } = anchor;
    // A problem under an ignored key is reported where an alias uses the value.
    const here = (note: Problem) => {
      return { ...note, path: [...path, ...note.path.slice(anchor.path.length)] };
    };
    walk.notes.problems.push(...unreported.problems.map(here));
    walk.notes.warnings.push(...unreported.warnings.map(here));
    return { ...leaf, mark: { ...leaf.mark, key: null, value: at } };
  }
  const text = anchor === undefined
    ? "is an alias of an anchor that is not set before it"
    : "exceeds the limit of aliases: the aliases of this file repeat too many values";
  walk.notes.problems.push({ path, text, at });
  return bareLeaf(undefined, at);
}

function costOf({ leaf, unreported }: Anchor): number {
  return leaf.size + unreported.problems.length + unreported.warnings.length;
}

function readList(node: YAMLSeq, path: Path, walk: Walk): Leaf {
  const values: unknown[] = [];
  const inside = new Map<number, Mark>();
  let size = 1;
  for (const [index, item] of node.items.entries()) {
    const leaf = readNode(item, [...path, index], walk);
    values.push(leaf.value);
    inside.set(index, leaf.mark);
    size += leaf.size;
  }
  return { value: values, mark: { key: null, value: offset(node), inside, written: null }, size };
}

function readMap(node: YAMLMap, path: Path, walk: Walk): Leaf {
  const members = new Map<string, Leaf>();
  const merged: Leaf[] = [];
  for (const pair of node.items) {
    const at = offset(pair.key);
    const key = keyText(pair.key);
    const problem = key === null
      ? "contains a key that is not plain text"
      : keyProblem(key, members);
    if (key === null || problem !== null) {
      const place = key === null ? path : [...path, key];
      walk.notes.problems.push({ path: place, text: problem ?? "", at });
      continue;
    }
    // A key without a colon has no value with a position, so the position of the key is reported.
    const leaf = pair.value === null
      ? bareLeaf(null, at)
      : readMember(pair.value, [...path, key], walk);
    if (key === "<<") merged.push(leaf);
    else members.set(key, { ...leaf, mark: { ...leaf.mark, key: at } });
  }
  for (const leaf of merged) addMerged(leaf, members, path, walk);
  return objectLeaf(path.length === 0 ? withoutIgnored(members) : members, offset(node));
}

function readMember(node: unknown, path: Path, walk: Walk): Leaf {
  const [key] = path;
  const isIgnored = path.length === 1 && typeof key === "string" && key.startsWith(IGNORED);
  if (!isIgnored) return readNode(node, path, walk);
  const { notes } = walk;
  walk.notes = { problems: [], warnings: [] };
  walk.isIgnored = true;
  const leaf = readNode(node, path, walk);
  walk.notes = notes;
  walk.isIgnored = false;
  return leaf;
}

function withoutIgnored(members: ReadonlyMap<string, Leaf>): ReadonlyMap<string, Leaf> {
  return new Map([...members].filter(([key]) => !key.startsWith(IGNORED)));
}

function keyText(node: unknown): string | null {
  if (!isScalar(node)) return null;
  if (typeof node.value === "string") return node.value;
  return node.source ?? null;
}

function keyProblem(key: string, members: ReadonlyMap<string, Leaf>): string | null {
  // Some object parsers skip this name, so it would be accepted and ignored.
  if (key === "__proto__") return "is named __proto__, which is not allowed";
  return members.has(key) ? "is set twice" : null;
}

/** Adds merged members; members of the mapping itself win (YAML merge key, type registry). */
function addMerged(leaf: Leaf, members: Map<string, Leaf>, path: Path, walk: Walk): void {
  const sources = Array.isArray(leaf.value) ? leaf.value : [leaf.value];
  for (const [index, source] of sources.entries()) {
    const mark = Array.isArray(leaf.value) ? leaf.mark.inside.get(index) : leaf.mark;
    if (!isObject(source) || mark === undefined) {
      const text = "contains a << whose value is not a mapping";
      walk.notes.problems.push({ path, text, at: leaf.mark.value });
      continue;
    }
    for (const [key, value] of Object.entries(source)) {
      const inner = mark.inside.get(key);
      if (members.has(key) || inner === undefined) continue;
      members.set(key, { value, mark: inner, size: leaf.size });
    }
  }
}
