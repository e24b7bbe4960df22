import { quoted } from "../../record/curl.ts";
import {
  type CommandGroup,
  type CompletedCommand,
  FILE,
  firstWords,
  groupsOf,
  ordered,
} from "./completed_command.ts";

/** Returns the completion script for zsh. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const [general, ...named] = ordered(commands);
  if (general === undefined) return "";
  return `#compdef switchyard
# zsh completion of switchyard: source <(switchyard completions zsh)
_switchyard() {
  local -a found
  case "\${(j: :)words[2,CURRENT-1]} " in
    ' ')
      if [[ $words[CURRENT] != -* ]]; then
        found=(${described(firstWords(commands))})
        _describe command found
        return
      fi
      ${argumentsOf(general)}
      ;;
${groupsOf(commands).map(groupBranch).join("")}${named.map(branch).join("")}    *) ${
    argumentsOf(general)
  } ;;
  esac
}
# The file is the function where zsh loads it from its fpath.
if [[ $funcstack[1] == _switchyard ]]; then _switchyard "$@"; else compdef _switchyard switchyard; fi
`;
}

function groupBranch({ word, next, alone }: CommandGroup): string {
  const options = alone === undefined ? "" : `
      if [[ $words[CURRENT] == -* ]]; then
        shift words
        (( CURRENT -= 1 ))
        ${argumentsOf(alone)}
        return
      fi`;
  return `    ${quoted(`${word} `)})${options}
      found=(${described(next)})
      _describe command found
      ;;
`;
}

function described(words: readonly { readonly word: string; readonly about: string }[]): string {
  return words.map(({ word, about }) => quoted(`${word}:${about}`)).join(" ");
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
  const first = argument === null ? [] : [
    `1:${argument}:${argument === FILE ? "_files" : listed(choices)}`,
  ];
  return ["_arguments", ...[...named, ...first].map(quoted)].join(" ");
}

/** Returns the action for these values. With a blank for none zsh would not offer options. */
function listed(choices: readonly string[]): string {
  return `(${choices.join(" ")})`;
}
