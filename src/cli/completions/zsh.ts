import { type CompletedCommand, FILE, firstWords, quoted } from "./completed_command.ts";

/** Returns the completion script for zsh. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const [general, ...named] = commands.toSorted((a, b) => a.words.length - b.words.length);
  if (general === undefined) return "";
  const groups = named.filter(({ words }) => words.length > 1);
  const first = firstWords(named).map(({ word, about }) => quoted(`${word}:${about}`));
  return `#compdef switchyard
# zsh completion of switchyard: source <(switchyard completions zsh)
_switchyard() {
  local -a found
  case "\${(j: :)words[2,CURRENT-1]} " in
    ' ')
      if [[ $words[CURRENT] != -* ]]; then
        found=(${first.join(" ")})
        _describe command found
        return
      fi
      ${argumentsOf(general)}
      ;;
${groups.map(groupBranch).join("")}${named.map(branch).join("")}    *) ${argumentsOf(general)} ;;
  esac
}
# The file is the function where zsh loads it from its fpath.
if [[ $funcstack[1] == _switchyard ]]; then _switchyard "$@"; else compdef _switchyard switchyard; fi
`;
}

function groupBranch({ words: [word = "", next = ""], about }: CompletedCommand): string {
  const found = quoted(`${next}:${about}`);
  return `    ${quoted(`${word} `)}) found=(${found}); _describe command found ;;\n`;
}

function branch(command: CompletedCommand): string {
  const { words } = command;
  return `    ${quoted(`${words.join(" ")} `)}*)
      shift ${words.length} words
      (( CURRENT -= ${words.length} ))
      ${argumentsOf(command)}
      ;;
`;
}

/** Returns the call that completes the options and the argument of a command. */
function argumentsOf({ argument, choices, options }: CompletedCommand): string {
  const named = Object.entries(options).map(([name, option]) => {
    const { value, about, isRepeatable } = option;
    const repeated = isRepeatable === true ? "*" : "";
    const explained = `[${about.replaceAll(/[\\[\]]/g, "\\$&")}]`;
    const offered = value === FILE ? "_files" : listed(option.choices ?? []);
    return value === null
      ? `--${name}${explained}`
      : `${repeated}--${name}=${explained}:${value}:${offered}`;
  });
  const first = argument === null ? [] : [`1:${argument}:${listed(choices)}`];
  return ["_arguments", ...[...named, ...first].map(quoted)].join(" ");
}

function listed(choices: readonly string[]): string {
  return choices.length === 0 ? " " : `(${choices.join(" ")})`;
}
