import manifest from "../../deno.json" with { type: "json" };
import { readOptions } from "../../scripts/packaging/compile.ts";

const ROOT = new URL("../../", import.meta.url);
const TASKS: Readonly<Record<string, string>> = manifest.tasks;

/**
 * Returns the problem of these arguments of `scripts/deno`; null if they name a task with options
 * that its script has, or a script that exists.
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
  const text = await textOf(script);
  // What an option is given may be a name that the script knows, a number, or a path.
  const unknown = args.map((arg) => arg.replace(/^--/, ""))
    .filter((word) => !word.includes("/") && !/^\d+$/.test(word))
    .find((word) => !new RegExp(`(?<![\\w-])${RegExp.escape(word)}(?![\\w-])`).test(text));
  return unknown === undefined ? null : `${script} does not know ${unknown}`;
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(new URL(path, ROOT)).then(({ isFile }) => isFile, () => false);
}

/** Returns the text of a script and of the files next to it, which have some of its names. */
async function textOf(script: string): Promise<string> {
  const folder = new URL("./", new URL(script, ROOT));
  const files = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".ts"));
  return (await Promise.all(files.map(({ name }) => Deno.readTextFile(new URL(name, folder)))))
    .join("\n");
}
