import type { Options } from "../arguments.ts";
import type { Command } from "../command.ts";
import { COMMON_OPTIONS } from "../help.ts";

/** A command as completion scripts see it. */
export interface CompletedCommand {
  /** Words of its name; none for the default command. */
  readonly words: readonly string[];
  readonly about: string;
  /** Placeholder of the positional argument. */
  readonly argument: string | null;
  /** Values of the positional argument; empty if any is possible. */
  readonly choices: readonly string[];
  /** Its options and those of every command. */
  readonly options: Options;
}

/** Placeholder of options and arguments whose value is the path of a file. */
export const FILE = "FILE";

/** Returns the commands of the program with the values that a shell offers. */
export function completedCommands(
  commands: readonly Command[],
): Promise<readonly CompletedCommand[]> {
  return Promise.all(commands.map(async (command) => ({
    words: command.name.split(" ").filter(Boolean),
    about: command.about,
    argument: command.word ?? null,
    choices: await command.choices?.() ?? [],
    options: { ...command.options, ...COMMON_OPTIONS },
  })));
}

/**
 * Returns what may be the first argument: each first word of a command, with the description of the
 * command, or those of all commands that begin with it.
 */
export function firstWords(
  commands: readonly CompletedCommand[],
): readonly { readonly word: string; readonly about: string }[] {
  const groups = Map.groupBy(commands, ({ words: [first = ""] }) => first);
  return [...groups].filter(([word]) => word !== "")
    .map(([word, found]) => ({ word, about: found.map(({ about }) => about).join(" ") }));
}

/** The commands that have their first word in common with others, such as `key new`. */
export interface CommandGroup {
  readonly word: string;
  /** The second words, with the descriptions of their commands. */
  readonly next: readonly { readonly word: string; readonly about: string }[];
  /** The command that is the first word alone; undefined if there is none. */
  readonly alone: CompletedCommand | undefined;
}

/** Returns the groups of the commands with two words. */
export function groupsOf(commands: readonly CompletedCommand[]): readonly CommandGroup[] {
  const found = Map.groupBy(commands, ({ words: [first = ""] }) => first);
  return [...found].map(([word, members]) => ({
    word,
    next: members.flatMap(({ words: [, next], about }) =>
      next === undefined ? [] : [{ word: next, about }]
    ),
    alone: members.find(({ words }) => words.length === 1),
  })).filter(({ next }) => next.length > 0);
}

/** Returns the default command, then all with names, where `log show` comes before `log`. */
export function ordered(
  commands: readonly CompletedCommand[],
): readonly [CompletedCommand | undefined, ...CompletedCommand[]] {
  const named = commands.filter(({ words }) => words.length > 0);
  const general = commands.find(({ words }) => words.length === 0);
  return [general, ...named.toSorted((a, b) => b.words.length - a.words.length)];
}
