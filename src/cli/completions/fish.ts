import { quoted } from "../../record/curl.ts";
import { type CompletedCommand, FILE, firstWords, groupsOf } from "./completed_command.ts";

/** Returns the completion script for fish 3 or newer. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  return `# fish completion of switchyard: switchyard completions fish | source
function __switchyard_before --description 'True if the words before the cursor match, and the second is none of the others'
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    string match --quiet -- $argv[1] "$words[2..-1] "
    and not contains -- "$words[3]" $argv[2..-1]
end
complete --command switchyard --no-files
${
    firstWords(commands).map(({ word, about }) =>
      line(" ", "--arguments", quoted(word), "--description", text(about))
    ).join("")
  }${
    groupsOf(commands).flatMap(({ word, next }) =>
      next.map(({ word: second, about }) =>
        line(`${word} `, "--arguments", quoted(second), "--description", text(about))
      )
    ).join("")
  }${commands.flatMap((one) => commandLines(one, commands)).join("")}`;
}

/** Returns the lines for the argument and the options of a command. */
function commandLines(
  { words, argument, choices, options }: CompletedCommand,
  commands: readonly CompletedCommand[],
): string[] {
  // The default command has no word: its first argument is an option, or is still to come.
  const patterns = words.length === 0 ? [" ", "-*"] : [`${words.join(" ")} *`];
  const others = words.length !== 1
    ? []
    : commands.flatMap(({ words: [first, second] }) =>
      first === words[0] && second !== undefined ? [second] : []
    );
  const line = (pattern: string, ...more: readonly string[]) =>
    lineUnless(others, pattern, ...more);
  return patterns.flatMap((pattern) => [
    ...(argument === FILE ? [line(pattern, "--force-files")] : []),
    ...(choices.length === 0 ? [] : [line(pattern, "--arguments", quoted(choices.join(" ")))]),
    ...Object.entries(options).map(([name, { value, about, choices: offered = [] }]) => {
      const values = value === null
        ? []
        : value === FILE
        ? ["--require-parameter", "--force-files"]
        : [
          "--exclusive",
          ...(offered.length === 0 ? [] : ["--arguments", quoted(offered.join(" "))]),
        ];
      return line(pattern, "--long-option", name, ...values, "--description", text(about));
    }),
  ]);
}

function line(pattern: string, ...words: readonly string[]): string {
  return lineUnless([], pattern, ...words);
}

/** Returns a line that does not hold where the second word is one of these. */
function lineUnless(
  others: readonly string[],
  pattern: string,
  ...words: readonly string[]
): string {
  const condition = ["__switchyard_before", quoted(pattern), ...others].join(" ");
  return ["complete --command switchyard --condition", text(condition), ...words].join(" ") + "\n";
}

/** Returns a text in double quotes, where single quotes need no escape. */
function text(content: string): string {
  return `"${content.replaceAll(/["\\$]/g, "\\$&")}"`;
}
