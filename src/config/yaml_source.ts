import { LineCounter, parseDocument, type YAMLError } from "yaml";
import type { Variables } from "./expand.ts";
import { coerce, type Mark } from "./coerce.ts";
import { type Names, newNames } from "./display_names.ts";
import { describe, type Path, type Problem } from "./problems.ts";
import { parseTree } from "./yaml_tree.ts";

/**
 * A parsed file: its plain value, its problems and warnings so far, and the positions of its
 * values.
 */
export interface Source {
  /** The value, converted to the types of its keys; undefined if the text is not valid YAML. */
  readonly value: unknown;
  readonly names: Names;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Returns one line for each problem, in the order of the file. */
  lines(problems: readonly Problem[]): string[];
}

/** Maximum length of a configuration file. */
const MAX_FILE_CHARS = 1024 * 1024;

/**
 * Parses YAML 1.2, which includes JSON. Text beyond 1 MiB, tags and several documents are problems.
 */
export function parseSource(text: string, variables: Variables): Source {
  const counter = new LineCounter();
  if (text.length > MAX_FILE_CHARS) {
    return unreadable([{ path: [], text: "is larger than 1 MiB", at: 0 }], counter);
  }
  // Messages of the parser may quote the text, which can contain a secret: only the codes are used.
  // parseTree finds repeated keys, because it knows their paths.
  const document = parseDocument(text, {
    lineCounter: counter,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) return unreadable(faultProblems(faults, text), counter);
  const { value, mark, problems, warnings } = parseTree(document.contents, variables);
  // Names are hidden according to the values before conversion.
  const names = newNames(value);
  return {
    value: coerce(value, mark),
    names,
    problems,
    warnings,
    lines: lines(counter, names, mark),
  };
}

/** Returns the first fault of each kind: further ones mostly follow from it. */
export function faultProblems(faults: readonly YAMLError[], text: string): Problem[] {
  const deep = faults.filter(({ code }) => code === "RESOURCE_EXHAUSTION");
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const { code, pos: [at] } of deep.length > 0 ? deep : faults) {
    const isVariable = text.slice(at - 1, at + 1) === "${";
    const fault = isVariable ? "contains a ${…} that must be quoted here" : faultText(code);
    if (!seen.has(code)) problems.push({ path: [], text: fault, at });
    seen.add(code);
  }
  return problems;
}

function unreadable(problems: readonly Problem[], counter: LineCounter): Source {
  const names = newNames(undefined);
  return { value: undefined, names, problems, warnings: [], lines: lines(counter, names, null) };
}

function lines(
  counter: LineCounter,
  names: Names,
  mark: Mark | null,
): (problems: readonly Problem[]) => string[] {
  return (problems) => {
    const placed = problems.map((problem) => ({ problem, at: findOffset(problem, mark) }));
    placed.sort((one, other) => one.at - other.at);
    const written = placed.map(({ problem, at }) => {
      const { line, col } = counter.linePos(at);
      // Lines are not counted in a text that was not parsed.
      const position = { line: Math.max(line, 1), column: Math.max(col, 1) };
      return describe(names.pathText(problem.path), problem.text, position);
    });
    return [...new Set(written)];
  };
}

function findOffset({ path, at }: Problem, root: Mark | null): number {
  if (typeof at === "number") return at;
  const { mark, isExact } = find(path, root);
  if (mark === null) return 0;
  // A missing key is reported at the key of its mapping.
  return at === "value" && isExact ? mark.value : mark.key ?? mark.value;
}

/** Returns the position of a path, or of the innermost existing value around it. */
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
      return "is not valid YAML: the indentation does not match";
    case "MISSING_CHAR":
      return "is not valid YAML: a quote, bracket, comma or colon is missing";
    case "BAD_DQ_ESCAPE":
      return 'is not valid YAML: a \\ within "…" does not begin a valid escape';
    case "BAD_SCALAR_START":
      return "is not valid YAML: text that begins with this character must be quoted";
    case "BLOCK_AS_IMPLICIT_KEY":
    case "MULTILINE_IMPLICIT_KEY":
    case "KEY_OVER_1024_CHARS":
      return "is not valid YAML: a key must be a single short line that ends with a colon";
    case "TAG_RESOLVE_FAILED":
    case "MULTIPLE_TAGS":
      return "contains a tag; tags are not supported, and text that begins with ! must be quoted";
    case "MULTIPLE_DOCS":
      return "contains more than one YAML document";
    case "ALIAS_PROPS":
    case "BAD_ALIAS":
    case "MULTIPLE_ANCHORS":
      return "is not valid YAML: an anchor or an alias is wrong; text that begins with & or * must be quoted";
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
      return "is not valid YAML: unexpected text";
  }
}
