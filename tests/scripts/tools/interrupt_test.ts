import { assertEquals } from "../../support/assert.ts";

const SCRIPTS = new URL("../../../scripts/", import.meta.url).pathname;

/**
 * Starts a script, sends a signal to it alone once a file with this name is in its temporary folder
 * or its output has this text, and returns its exit code with the files and the processes that it
 * leaves.
 */
async function interrupt(
  script: string,
  args: readonly string[],
  { file, text, signal }: {
    readonly file?: string;
    readonly text?: string;
    readonly signal: Deno.Signal;
  },
) {
  const folder = await Deno.makeTempDir();
  try {
    using watcher = Deno.watchFs(folder, { recursive: true });
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", `${SCRIPTS}${script}`, ...args],
      env: { TMPDIR: folder },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const over = child.status.then(() => watcher.close());
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    if (text !== undefined) {
      for (let read = ""; !read.includes(text);) {
        const { done, value = "" } = await output.read();
        if (done) throw new Error(`${script} ended with ${JSON.stringify(read)}`);
        read += value;
      }
    }
    const rest = readToEnd(output);
    if (file !== undefined) {
      for await (const { paths } of watcher) {
        if (paths.some((path) => path.endsWith(`/${file}`))) break;
      }
    }
    child.kill(signal);
    const [{ code }] = await Promise.all([child.status, rest]);
    await over.catch(() => {});
    const left = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
    return { code, left, processes: processesWith(folder) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readToEnd(output: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await output.read()).done);
}

/** Returns the command lines of all processes that have a text in them. */
function processesWith(text: string): readonly string[] {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => /^\d+$/.test(name))
    .flatMap(({ name }) => {
      try {
        return Deno.readTextFileSync(`/proc/${name}/cmdline`);
      } catch {
        return [];
      }
    }).filter((line) => line.includes(text));
}

const BENCH = "bench/bench.ts", SOAK = "soak/main.ts";
const NOTHING_LEFT = { left: [], processes: [] };

Deno.test("an interrupted benchmark leaves no temporary folder, and neither servers nor the command of a peer", async () => {
  if (Deno.build.os !== "linux") return;
  const args = ["--only", "small", "--peer", "rival=echo > {folder}/begun; sleep 1000; :"];
  const interrupted = interrupt(BENCH, args, { file: "begun", signal: "SIGINT" });
  assertEquals(await interrupted, { code: 130, ...NOTHING_LEFT });
});

Deno.test("an interrupted benchmark ends the programs whose start, memory or workers it measures", async () => {
  if (Deno.build.os !== "linux") return;
  // The first program listens before the configuration of the second one is written.
  const interrupted = interrupt(BENCH, ["--only", "workers"], {
    file: "program-2.yaml",
    signal: "SIGHUP",
  });
  assertEquals(await interrupted, { code: 129, ...NOTHING_LEFT });
});

Deno.test("an interrupted soak ends its gateway, also under load, and leaves no temporary folder", async () => {
  if (Deno.build.os !== "linux") return;
  const interrupted = interrupt(SOAK, ["--rate", "50"], { text: "Soak of", signal: "SIGTERM" });
  assertEquals(await interrupted, { code: 143, ...NOTHING_LEFT });
});
