import { RE2JS } from "re2js";
import type { CheckBudget } from "../../prompt/response_promise.ts";
import { STEP_CHARS } from "./check_budget.ts";

/** Check of a text against a `pattern` of a strict schema. */
export interface PatternCheck {
  /** True if a part of the text matches. False, too, if the steps of the budget do not suffice. */
  matches(text: string, budget: CheckBudget): boolean;
}

/** The patterns of one request: each distinct one is compiled once, for all schemas and targets. */
export interface Patterns {
  /** Returns the check of an ECMAScript pattern, or as a sentence why it has none. */
  parse(source: string): PatternCheck | string;
}

/** Maximum length of a pattern in characters, and its maximum number of states. */
const MAX_PATTERN_CHARS = 2_000, MAX_PATTERN_STATES = 1_000;

/**
 * Maximum estimated time to compile all patterns of one request. The estimate was fitted to the
 * processor time of both engines on two shared cores, for patterns of 30 shapes (literals,
 * repetitions, alternatives, classes, properties, each alone and combined): as many as permitted
 * took 2 to 21 ms, and 37 ms in the first milliseconds of the process. So all of them stay below 50
 * ms in one piece.
 */
const MAX_COMPILE_MS = 25;

/**
 * Estimated time to compile a state, and to parse a character of any kind and an element of a
 * class.
 */
const STATE_MS = 0.005, CHAR_MS = 0.0002, CLASS_ITEM_MS = 0.003;

/** Estimated number of ranges of a Unicode property such as `\p{L}`: few have more. */
const PROPERTY_RANGE_COUNT = 700;

/**
 * Estimated time to parse a range of a property, and to copy one into a state: repetitions copy.
 */
const PARSED_RANGE_MS = 0.00075, COPIED_RANGE_MS = 0.00025;

/**
 * Maximum number of properties that add to the ranges of a class: of more, most ranges are equal.
 */
const MAX_CLASS_PROPERTIES = 3;

/** Factor of the time for a pattern that ignores case: each range is folded. */
const FOLD_RATIO = 3;

/** Estimated time to fold a written range beyond ASCII: each of its up to 125,000 characters. */
const FOLDED_RANGE_MS = 4 / FOLD_RATIO;

/**
 * Returns the patterns of a request. A pattern is refused if it is none, if it is too large or too
 * slow to compile, or if its check could take a time that grows faster than the text: with
 * lookarounds and back references it could. The engine is that of RE2, in which `\s` is only the
 * white space of ASCII.
 */
export function newPatterns(): Patterns {
  const known = new Map<string, PatternCheck | string>();
  let spentMs = 0;

  function compile(source: string): PatternCheck | string {
    if (source.length > MAX_PATTERN_CHARS) {
      return `It has more than ${MAX_PATTERN_CHARS} characters.`;
    }
    const { states, ms } = estimate(source);
    if (!(states <= MAX_PATTERN_STATES)) {
      return `It has more than ${MAX_PATTERN_STATES} states; use smaller repetitions.`;
    }
    if (!(spentMs + ms <= MAX_COMPILE_MS)) {
      return "The patterns of the request take too long to compile; send fewer or simpler ones.";
    }
    spentMs += ms;
    return compilePattern(source);
  }

  return {
    parse(source) {
      const check = known.get(source) ?? compile(source);
      known.set(source, check);
      return check;
    },
  };
}

function compilePattern(source: string): PatternCheck | string {
  // Both engines refuse a pattern by an exception. RE2 also reads what ECMAScript does not have.
  try {
    new RegExp(source, "u");
  } catch (error) {
    const [, why = "invalid"] = /: ([\w ]+)$/.exec(error instanceof Error ? error.message : "") ??
      [];
    return `It is no pattern of ECMAScript with the flag 'u' (${why}).`;
  }
  try {
    return newPatternCheck(RE2JS.compile(RE2JS.translateRegExp(source)));
  } catch {
    return "It has a part that cannot be checked in linear time, such as a lookaround or back reference.";
  }
}

/**
 * Maximum number of states of an automaton whose table is reused for certain: it is emptied when it
 * takes 8 MiB, and none with so few states does.
 */
const MAX_REUSED_STATES = 200;

/**
 * Returns the check by a compiled pattern. The engine fills the table of an automaton on the way:
 * an entry takes up to one step for each instruction of the pattern, and is paid once. A text is
 * not begun unless the budget covers an entry for each of its characters.
 */
function newPatternCheck(compiled: RE2JS): PatternCheck {
  const program = compiled.re2();
  const entrySteps = program.onepass === null ? compiled.programSize() : 1;
  let paidEntries = 0;

  /** Returns the number of entries that the check of a text may have added to the table. */
  function countEntries({ length }: string): number {
    const automaton = program.onepass === null ? program.lazyDFA : null;
    if (automaton === null || automaton.stateCount > MAX_REUSED_STATES) return length;
    const entries = automaton.stateCount * (automaton.numClasses + 1);
    return Math.min(length, entries - paidEntries);
  }

  return {
    matches(text, budget) {
      budget.steps -= Math.ceil(text.length / STEP_CHARS);
      if (budget.steps < text.length * entrySteps) budget.steps = -1;
      if (budget.steps < 0) return false;
      const isMatch = compiled.test(text);
      const added = countEntries(text);
      paidEntries += added;
      budget.steps -= added * entrySteps;
      return isMatch;
    },
  };
}

/** Estimated size of a part of a pattern. */
interface Size {
  readonly states: number;
  /** Time to compile the states; a repetition compiles each copy. */
  readonly ms: number;
}

const NO_SIZE: Size = { states: 0, ms: 0 };

const COUNTED = /\{(\d+)(?:,(\d*))?\}/y;

const PROPERTY = /\\p\{/gi;

/** Matches a class that may have a range beyond ASCII. */
const BEYOND_ASCII = /\\u|[^\0-\x7f]/;

/**
 * Returns the estimated size of a pattern: each character and class is one state, and a counted
 * repetition repeats the states before it. A class costs the time for its elements and ranges.
 */
function estimate(source: string): Size {
  const open = [NO_SIZE];
  /** Size of the last character, class or group. */
  let last = NO_SIZE;
  let parseMs = source.length * CHAR_MS;
  const ignoresCase = /\(\?[a-z]*i/.test(source);

  function add(size: Size): void {
    last = size;
    open.push(sum(open.pop() ?? NO_SIZE, size));
  }

  /**
   * Adds the state of a character or class, in which `items` characters and the properties of a
   * text are.
   */
  function addState(text: string, items = 0): void {
    const properties = text.match(PROPERTY)?.length ?? 0;
    parseMs += properties * PROPERTY_RANGE_COUNT * PARSED_RANGE_MS + items * CLASS_ITEM_MS;
    if (ignoresCase && BEYOND_ASCII.test(text)) {
      parseMs += (text.split("-").length - 1) * FOLDED_RANGE_MS;
    }
    const ranges = Math.min(properties, MAX_CLASS_PROPERTIES) * PROPERTY_RANGE_COUNT + items;
    add({ states: 1, ms: STATE_MS + ranges * COPIED_RANGE_MS });
  }

  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at);
    if (character === "\\") {
      addState(source.slice(at, at + 3));
      at += 1;
    } else if (character === "[") {
      const end = endOfClass(source, at);
      addState(source.slice(at, end), end - at);
      at = end;
    } else if (character === "(") open.push(NO_SIZE);
    else if (character === ")") {
      add(sum(open.length > 1 ? open.pop() ?? NO_SIZE : NO_SIZE, { states: 1, ms: STATE_MS }));
    } else {
      COUNTED.lastIndex = at;
      const [counted, least = "", most = ""] = COUNTED.exec(source) ?? [];
      if (counted === undefined) addState(character);
      else {
        const copies = Math.max(Number(least), Number(most));
        add({ states: last.states * copies, ms: last.ms * copies });
        at += counted.length - 1;
      }
    }
  }
  const { states, ms } = open.reduce(sum, NO_SIZE);
  const factor = ignoresCase ? FOLD_RATIO : 1;
  return { states, ms: (ms + parseMs) * factor };
}

function sum(one: Size, other: Size): Size {
  return { states: one.states + other.states, ms: one.ms + other.ms };
}

/** Returns the index of the end of a class that starts at an index, or of the pattern's end. */
function endOfClass(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source.charAt(at) !== "]") at += source.charAt(at) === "\\" ? 2 : 1;
  return at;
}
