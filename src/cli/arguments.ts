import { parseArgs } from "node:util";
import { nearest } from "../config/problems.ts";

/** An option of a command. */
export interface Option {
  /** Placeholder of the value in the help; null for a flag. */
  readonly value: string | null;
  readonly about: string;
  /** The values that a shell offers; absent if any value is possible. */
  readonly choices?: readonly string[];
  /** True if the option may be repeated. */
  readonly isRepeatable?: boolean;
}

/** The options of a command by name, without the leading `--`. */
export type Options = Readonly<Record<string, Option>>;

/** Values of the options on the command line, in order; a flag has an empty list. */
export type OptionValues = ReadonlyMap<string, readonly string[]>;

/** Parsed arguments, or the problem with them as a sentence. */
export type Parsed =
  | { readonly ok: true; readonly values: OptionValues }
  | { readonly ok: false; readonly trouble: string };

/**
 * Parses `--name value` and `--name=value`, and one positional argument if the command has one; its
 * value is stored under the name `word`. Any other argument is a problem.
 */
export function parseArguments(
  args: readonly string[],
  options: Options,
  word: string | null = null,
): Parsed {
  const found = new Map<string, string[]>();
  for (const token of parseTokens(args, options)) {
    if (token.kind === "positional" && word !== null && !found.has(word)) {
      found.set(word, [token.value]);
      continue;
    }
    if (token.kind !== "option") {
      return wrong(
        token.kind === "positional"
          ? `"${token.value}" is one argument too many.`
          : "-- has no meaning here.",
      );
    }
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) return wrong(unknownOption(rawName, options));
    const values = found.get(name) ?? [];
    if (option.value === null) {
      if (value !== undefined) return wrong(`${rawName} takes no value.`);
    } else if (value === undefined || (!inlineValue && value !== "-" && value.startsWith("-"))) {
      return wrong(`${rawName} needs a value: ${rawName} ${option.value}.`);
    } else {
      if (values.length > 0 && option.isRepeatable !== true) {
        return wrong(`${rawName} is set twice.`);
      }
      values.push(value);
    }
    found.set(name, values);
  }
  return { ok: true, values: found };
}

/** Returns the value of an option that is not repeatable. */
export function optionValue(values: OptionValues, name: string): string | undefined {
  return values.get(name)?.[0];
}

/** Returns the port in an argument; null if the text is not a port. */
export function parsePort(text: string): number | null {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port <= 65_535 ? port : null;
}

function parseTokens(args: readonly string[], options: Options) {
  const types = Object.entries(options).map(([name, { value }]) => {
    const type: "boolean" | "string" = value === null ? "boolean" : "string";
    return [name, { type, ...(name === "help" ? { short: "h" } : {}) }] as const;
  });
  // Strict parsing throws its own messages; the tokens allow better ones.
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return tokens;
}

function unknownOption(written: string, options: Options): string {
  const likely = nearest(written.replace(/^-+/, ""), Object.keys(options));
  const hint = likely === null ? "" : `; did you mean --${likely}?`;
  return `There is no option ${written}${hint || "."}`;
}

function wrong(trouble: string): Parsed {
  return { ok: false, trouble };
}
