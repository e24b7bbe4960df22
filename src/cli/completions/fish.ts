import { type CompletedCommand, FILE, firstWords, quoted } from "./completed_command.ts";

/** Returns the completion script for fish 3 or newer. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const groups = commands.filter(({ words }) => words.length > 1);
  return `# fish completion of switchyard: switchyard completions fish | source
function __switchyard_before --description 'True if the words before the cursor match'
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    string match --quiet -- $argv[1] "$words[2..-1] "
end
complete --command switchyard --no-files
${
    firstWords(commands).map(({ word, about }) =>
      line(" ", "--arguments", quoted(word), "--description", text(about))
    ).join("")
  }${
    groups.map(({ words: [word, next = ""], about }) =>
      line(`${word} `, "--arguments", quoted(next), "--description", text(about))
    ).join("")
  }${commands.flatMap(commandLines).join("")}`;
}

/** Returns the lines for the argument and the options of a command. */
function commandLines({ words, choices, options }: CompletedCommand): string[] {
  // The default command has no word: its first argument is an option, or is still to come.
  const patterns = words.length === 0 ? [" ", "-*"] : [`${words.join(" ")} *`];
  return patterns.flatMap((pattern) => [
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
  const condition = `__switchyard_before ${quoted(pattern)}`;
  return ["complete --command switchyard --condition", text(condition), ...words].join(" ") + "\n";
}

/** Returns a text in double quotes, where single quotes need no escape. */
function text(content: string): string {
  return `"${content.replaceAll(/["\\$]/g, "\\$&")}"`;
}
