/** Name of the environment variable with the folder into which groups write their costs. */
export const COSTS_FOLDER = "SWITCHYARD_TEST_COSTS";

/** Dearest files that are listed. */
const LISTED_FILES_COUNT = 40;

/** Costs of one test file, in milliseconds. */
interface FileCosts {
  readonly file: string;
  /** Processor time of the isolate's own thread, without child processes and other threads. */
  processorMs: number;
  realMs: number;
  /** Real time of loading the modules that no earlier file of the group imports. */
  loadMs: number;
}

/** Costs of a group of files that shared an isolate, with the times at which it began and ended. */
interface GroupCosts {
  readonly group: string;
  readonly beginMs: number;
  readonly endMs: number;
  readonly files: readonly FileCosts[];
}

const now = performance.now.bind(performance);

/** Returns the processor time of this thread; 0 where the system has no such file. */
function threadMs(): number {
  try {
    const [nanoseconds] = Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}

const files: FileCosts[] = [];
const loaded = now();
const last = { realMs: loaded, processorMs: threadMs() };

/** Adds the time since the last lap to a file. */
function lap(file: FileCosts | undefined, isLoading = false): void {
  const real = now();
  const processor = threadMs();
  if (file !== undefined) {
    file.processorMs += processor - last.processorMs;
    file.realMs += real - last.realMs;
    if (isLoading) file.loadMs += real - last.realMs;
  }
  last.realMs = real;
  last.processorMs = processor;
}

/** Counts what is loaded, and each test that is registered, for this file from now on. */
export function beginFile(file: string): void {
  lap(files.at(-1), true);
  files.push({ file, processorMs: 0, realMs: 0, loadMs: 0 });
}

/** Measures the tests that are registered from now on. */
export function measureTests(): void {
  const measured = new Proxy(Deno.test, {
    apply(register, self, args: unknown[]) {
      const file = files.at(-1);
      const definition = args.at(-1) as Deno.TestDefinition | Deno.TestDefinition["fn"];
      const run = typeof definition === "function" ? definition : definition.fn;
      const fn: typeof run = async (context) => {
        lap(undefined);
        try {
          await run(context);
        } finally {
          lap(file);
        }
      };
      const test = typeof definition === "function" ? fn : { ...definition, fn };
      Reflect.apply(register, self, [...args.slice(0, -1), test]);
    },
  });
  Reflect.set(Deno, "test", measured);
}

/** Ends the last file; the costs of the group are written after its tests. */
export function endFiles(group: string): void {
  lap(files.at(-1), true);
  const folder = Deno.env.get(COSTS_FOLDER);
  if (folder === undefined) return;
  Deno.test.afterAll(() => {
    const { timeOrigin } = performance;
    const costs = { group, beginMs: timeOrigin + loaded, endMs: timeOrigin + now(), files };
    Deno.writeTextFileSync(`${folder}/${group}.json`, JSON.stringify(costs));
  });
}

/** Returns a table of the groups in the order in which they began, and of the dearest files. */
export function formatCosts(folder: string): string {
  const groups = [...Deno.readDirSync(folder)]
    .map(({ name }): GroupCosts => JSON.parse(Deno.readTextFileSync(`${folder}/${name}`)))
    .toSorted((a, b) => a.beginMs - b.beginMs);
  const begin = groups[0]?.beginMs ?? 0;
  const dearest = groups.flatMap((group) => group.files)
    .toSorted((a, b) => b.processorMs - a.processorMs).slice(0, LISTED_FILES_COUNT);
  return [
    "begins    ends  processor  loading  group, in seconds",
    ...groups.map(({ group, beginMs, endMs, files }) =>
      row([beginMs - begin, endMs - begin, sum(files, "processorMs"), sum(files, "loadMs")], group)
    ),
    "  real  processor  loading  file, in seconds",
    ...dearest.map(({ file, realMs, processorMs, loadMs }) =>
      row([realMs, processorMs, loadMs], file.split("/tests/").at(-1) ?? "")
    ),
  ].join("\n");
}

function sum(files: readonly FileCosts[], of: "processorMs" | "loadMs"): number {
  return files.reduce((all, file) => all + file[of], 0);
}

function row(times: readonly number[], name: string): string {
  return [...times.map((ms) => (ms / 1000).toFixed(1).padStart(7)), name].join("  ");
}
