import { LineCounter, parseDocument, type YAMLError } from "yaml";
import type { Variables } from "./expand.ts";
import { coerce } from "./coerce.ts";
import { type Names, namesOf } from "./display_names.ts";
import { describe, type Path, type Problem } from "./problems.ts";
import type { Mark } from "./leaf.ts";
import { readTree } from "./yaml_tree.ts";

/** A file that was read: its plain value, what is to be said so far, and where everything stands. */
export interface Source {
  /** Undefined when the text is no YAML at all; else with each value as its place means it. */
  readonly value: unknown;
  readonly names: Names;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** One line for each, in the order of the file. */
  lines(problems: readonly Problem[]): string[];
}

const LARGEST = 1024 * 1024;

/** Reads YAML 1.2 (JSON is a part of it); a text beyond 1 MiB, tags and several documents are problems. */
export function readSource(text: string, variables: Variables): Source {
  const counter = new LineCounter();
  if (text.length > LARGEST) {
    return unreadable([{ path: [], text: "is larger than 1 MiB", at: 0 }], counter);
  }
  // Messages of the parser may quote the text, and with it a secret: only its codes are used.
  // Repeated keys are found by readTree, which knows their path.
  const document = parseDocument(text, {
    lineCounter: counter,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) return unreadable(faultProblems(faults, text), counter);
  const { value, mark, problems, warnings } = readTree(document.contents, variables);
  // Names are hidden by what the file really holds.
  const names = namesOf(value);
  return {
    value: coerce(value, mark),
    names,
    problems,
    warnings,
    lines: lines(counter, names, mark),
  };
}

/** The first fault of each kind: the others mostly follow from it. */
function faultProblems(faults: readonly YAMLError[], text: string): Problem[] {
  const deep = faults.filter(({ code }) => code === "RESOURCE_EXHAUSTION");
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const { code, pos: [at] } of deep.length > 0 ? deep : faults) {
    const isVariable = text.slice(at - 1, at + 1) === "${";
    const fault = isVariable ? "holds a ${…} that must stand in quotes here" : faultText(code);
    if (!seen.has(code)) problems.push({ path: [], text: fault, at });
    seen.add(code);
  }
  return problems;
}

function unreadable(problems: readonly Problem[], counter: LineCounter): Source {
  const names = namesOf(undefined);
  return { value: undefined, names, problems, warnings: [], lines: lines(counter, names, null) };
}

function lines(
  counter: LineCounter,
  names: Names,
  mark: Mark | null,
): (problems: readonly Problem[]) => string[] {
  return (problems) => {
    const placed = problems.map((problem) => ({ problem, at: offsetOf(problem, mark) }));
    placed.sort((one, other) => one.at - other.at);
    const written = placed.map(({ problem, at }) => {
      const { line, col } = counter.linePos(at);
      // Nothing was counted in a text that was not parsed.
      const position = { line: Math.max(line, 1), column: Math.max(col, 1) };
      return describe(names.pathText(problem.path), problem.text, position);
    });
    return [...new Set(written)];
  };
}

function offsetOf({ path, at }: Problem, root: Mark | null): number {
  if (typeof at === "number") return at;
  const { mark, isExact } = find(path, root);
  if (mark === null) return 0;
  // What is missing is told at the key of the mapping that lacks it.
  return at === "value" && isExact ? mark.value : mark.key ?? mark.value;
}

/** The place of a path, or the innermost one around it. */
function find(path: Path, root: Mark | null): { mark: Mark | null; isExact: boolean } {
  let mark = root;
  for (const step of path) {
    const inner = mark?.inside.get(step);
    if (inner === undefined) return { mark, isExact: false };
    mark = inner;
  }
  return { mark, isExact: true };
}

function faultText(code: YAMLError["code"]): string {
  switch (code) {
    case "TAB_AS_INDENT":
      return "is not valid YAML: a tab is used as indentation";
    case "BAD_INDENT":
      return "is not valid YAML: the indentation does not fit";
    case "MISSING_CHAR":
      return "is not valid YAML: a quote, bracket, comma or colon is missing";
    case "BAD_DQ_ESCAPE":
      return 'is not valid YAML: a \\ within "…" is followed by what is no escape';
    case "BAD_SCALAR_START":
      return "is not valid YAML: text that begins with this character must stand in quotes";
    case "BLOCK_AS_IMPLICIT_KEY":
    case "MULTILINE_IMPLICIT_KEY":
    case "KEY_OVER_1024_CHARS":
      return "is not valid YAML: a key must be a single short line that ends with a colon";
    case "TAG_RESOLVE_FAILED":
    case "MULTIPLE_TAGS":
      return "holds a tag; tags are not supported, and text that begins with ! must stand in quotes";
    case "MULTIPLE_DOCS":
      return "holds more than one YAML document";
    case "ALIAS_PROPS":
    case "BAD_ALIAS":
    case "MULTIPLE_ANCHORS":
      return "is not valid YAML: an anchor or an alias is wrong; text that begins with & or * must stand in quotes";
    case "RESOURCE_EXHAUSTION":
      return "is nested too deeply";
    case "BAD_COLLECTION_TYPE":
    case "BAD_DIRECTIVE":
    case "BAD_PROP_ORDER":
    case "BLOCK_IN_FLOW":
    case "DUPLICATE_KEY":
    case "IMPOSSIBLE":
    case "NON_STRING_KEY":
    case "UNEXPECTED_TOKEN":
      return "is not valid YAML: this does not belong here";
  }
}
