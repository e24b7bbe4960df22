import { assertEquals } from "../../support/assert.ts";

const BENCH = new URL("../../../scripts/bench/bench.ts", import.meta.url).pathname;

/**
 * Starts the benchmark, sends a signal to it alone once a file with this name is in its temporary folder, and
 * returns its exit code with the files and the processes that it leaves.
 */
async function interrupt(
  args: readonly string[],
  { file, signal }: { readonly file: string; readonly signal: Deno.Signal },
) {
  const folder = await Deno.makeTempDir();
  try {
    using watcher = Deno.watchFs(folder, { recursive: true });
    const bench = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", BENCH, ...args],
      env: { TMPDIR: folder },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const over = bench.status.then(() => watcher.close());
    for await (const { paths } of watcher) {
      if (paths.some((path) => path.endsWith(`/${file}`))) break;
    }
    bench.kill(signal);
    const { code } = await bench.status;
    await over.catch(() => {});
    const left = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
    return { code, left, processes: processesWith(folder) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
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

const NOTHING_LEFT = { left: [], processes: [] };

Deno.test("an interrupted benchmark leaves no temporary folder, and neither servers nor the command of a peer", async () => {
  if (Deno.build.os !== "linux") return;
  const args = ["--only", "small", "--peer", "rival=echo > {folder}/begun; sleep 1000; :"];
  for (const [signal, code] of [["SIGINT", 130], ["SIGHUP", 129]] as const) {
    assertEquals(await interrupt(args, { file: "begun", signal }), { code, ...NOTHING_LEFT });
  }
});

Deno.test("an interrupted benchmark ends the programs whose start, memory or workers it measures", async () => {
  if (Deno.build.os !== "linux") return;
  // The first program listens before the configuration of the second one is written.
  const interrupted = interrupt(["--only", "workers"], {
    file: "program-2.yaml",
    signal: "SIGTERM",
  });
  assertEquals(await interrupted, { code: 143, ...NOTHING_LEFT });
});
