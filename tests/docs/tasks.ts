import manifest from "../../deno.json" with { type: "json" };
import { readOptions } from "../../scripts/packaging/compile.ts";

const ROOT = new URL("../../", import.meta.url);
const TASKS: Readonly<Record<string, string>> = manifest.tasks;

/**
 * What is wrong with these arguments of `scripts/deno`; null when nothing is: a task that there is,
 * with options that its script knows, or a script that there is.
 */
export async function taskProblem(
  [first = "", ...rest]: readonly string[],
): Promise<string | null> {
  if (first === "run") {
    const [flag, script = "", ...others] = rest;
    const isFit = flag === "-A" && others.length === 0 && await isFile(script);
    return isFit ? null : `no script is run by: ${rest.join(" ")}`;
  }
  const [name = "", ...args] = rest;
  const task = TASKS[name];
  if (first !== "task" || task === undefined) return `there is no task ${name}`;
  if (args.length === 0) return null;
  if (name === "compile") return readOptions(args, "linux-x64") === null ? "wrong options" : null;
  const script = /\bscripts\/\S+\.ts\b/.exec(task)?.[0] ?? "";
  const text = await Deno.readTextFile(new URL(script, ROOT));
  // What an option is given may be a name that the script knows, or a path.
  const unknown = args.map((arg) => arg.replace(/^--/, ""))
    .find((word) => !word.includes("/") && !new RegExp(`\\b${RegExp.escape(word)}\\b`).test(text));
  return unknown === undefined ? null : `${script} does not know ${unknown}`;
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(new URL(path, ROOT)).then(({ isFile }) => isFile, () => false);
}
