import { quoted } from "../../record/curl.ts";
import { type CompletedCommand, FILE, firstWords, groupsOf, ordered } from "./completed_command.ts";

/** Returns the completion script for bash 3.2 or newer; files are completed from bash 4 on. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const [general, ...named] = ordered(commands);
  if (general === undefined) return "";
  const first = firstWords(commands).map(({ word }) => word);
  return `# bash completion of switchyard: eval "$(switchyard completions bash)"
_switchyard() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words='' options='' files=''
  # "=" is a word of its own in --option=value.
  if [ "$cur" = = ]; then cur=''; elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
    ' ') words=${quoted(first.join(" "))} options=${quoted(optionNames(general))} ;;
${
    groupsOf(commands).map(({ word, next, alone }) => {
      const words = quoted(next.map(({ word }) => word).join(" "));
      const options = alone === undefined ? "" : ` options=${quoted(optionNames(alone))}`;
      return `    ${quoted(`${word} `)}) words=${words}${options} ;;\n`;
    }).join("")
  }${named.map((one) => branch(`${quoted(`${one.words.join(" ")} `)}*`, one)).join("")}${
    branch("*", general)
  }  esac
  COMPREPLY=()
  # Files are the value of an option, or an argument, unless that is an option.
  case "$files$cur" in
    yes* | argument | argument[!-]*)
      compopt -o default 2>/dev/null
      return
      ;;
  esac
  case "$cur" in -*) words=$options ;; esac
  COMPREPLY=($(compgen -W "\${words:-$options}" -- "$cur"))
}
complete -F _switchyard switchyard
`;
}

/** Returns the branch of a `case` with the values of each option, and else the arguments. */
function branch(pattern: string, command: CompletedCommand): string {
  const valued = Object.entries(command.options).filter(([, { value }]) => value !== null);
  const groups = Map.groupBy(
    valued,
    ([, { value, choices = [] }]) =>
      value === FILE
        ? "files=yes"
        : choices.length === 0
        ? ""
        : `words=${quoted(choices.join(" "))}`,
  );
  const words = command.argument === FILE
    ? "files=argument "
    : command.choices.length === 0
    ? ""
    : `words=${quoted(command.choices.join(" "))} `;
  const usual = `${words}options=${quoted(optionNames(command))}`;
  if (groups.size === 0) return `    ${pattern}) ${usual} ;;\n`;
  const lines = [...groups].map(([set, options]) => {
    const names = options.map(([name]) => `--${name}`).join(" | ");
    return `        ${names})${set === "" ? "" : ` ${set}`} ;;\n`;
  });
  return `    ${pattern})
      case "$prev" in
${lines.join("")}        *) ${usual} ;;
      esac
      ;;
`;
}

function optionNames({ options }: CompletedCommand): string {
  return Object.keys(options).map((name) => `--${name}`).join(" ");
}
