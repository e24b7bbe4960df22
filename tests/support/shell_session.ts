import { findInPath } from "../../scripts/tools/find_in_path.ts";

/** Shells that tests type into, each with the arguments that start it without files of the user. */
const SHELLS: Readonly<Record<string, string>> = {
  bash: "bash --noprofile --norc -i",
  zsh: "zsh -f -i",
};

const PROMPT = "ready>";
const END = "<end>";

/** Returns why this machine cannot type into a shell; null if it can. */
export function missingShell(shell: string): string | null {
  if (Deno.build.os !== "linux") return "only the Linux command script gives a shell a terminal";
  const missing = [shell, "script"].find((name) => findInPath([name]) === null);
  return missing === undefined ? null : `there is no ${missing} in the path`;
}

/**
 * Types each line, with its tabs, into an interactive shell of a terminal that has run `setup`.
 * Returns the words that the command `switchyard` received from each line, after completion.
 */
export async function typeInto(
  shell: string,
  setup: string,
  lines: readonly string[],
  folder: string,
): Promise<readonly (readonly string[])[]> {
  await using process = new Deno.Command("script", {
    args: ["--quiet", "--flush", "--command", SHELLS[shell] ?? shell, "/dev/null"],
    cwd: folder,
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", TERM: "dumb", HOME: folder, LC_ALL: "C.UTF-8" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keyboard = process.stdin.getWriter();
  const screen = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const encoder = new TextEncoder();
  let text = "";

  async function until(mark: string): Promise<string> {
    while (!text.includes(mark)) {
      const { done, value } = await screen.read();
      if (done) throw new Error(`the shell has ended: ${text}`);
      text += value;
    }
    const [before = ""] = text.split(mark);
    text = text.slice(before.length + mark.length);
    return before;
  }

  const file = `${folder}/setup`;
  // The marks are put together in the shell: what it echoes must not look like them.
  await Deno.writeTextFile(
    file,
    `${setup}
switchyard() { printf '<%s' begin "$@"; printf '%s' '<en' 'd>'; }
PS1='${PROMPT}'`,
  );
  await keyboard.write(encoder.encode(`. ${file}\n`));
  const received: (readonly string[])[] = [];
  for (const line of lines) {
    await until(PROMPT);
    await keyboard.write(encoder.encode(`${line}\n`));
    const [, words = ""] = (await until(END)).split("<begin");
    received.push(words.split("<").slice(1));
  }
  await until(PROMPT);
  await keyboard.write(encoder.encode("exit\n"));
  await keyboard.close();
  await screen.cancel();
  return received;
}
