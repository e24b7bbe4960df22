import { dirname, join } from "node:path";
import { type ConfigWatch, isRelevant, newDebounce, watchConfig } from "../../src/config/watch.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

/** A watched `config.yaml` in its own directory. */
interface Watched extends AsyncDisposable {
  path(name: string): string;
  /** Resolves with the next reported change that no earlier call has received. */
  changed(): Promise<void>;
}

async function watched(prepare: (path: Watched["path"]) => Promise<void>): Promise<Watched> {
  const directory = await Deno.makeTempDir();
  const path = (name: string) => join(directory, name);
  await prepare(path);
  const watch = opened(path("config.yaml"));
  const waiting: (() => void)[] = [];
  let count = 0;
  let given = 0;
  watch.each(() => {
    count++;
    waiting.shift()?.();
  });
  return {
    path,
    changed() {
      given++;
      if (given <= count) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    async [Symbol.asyncDispose]() {
      await watch.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

function opened(path: string): ConfigWatch {
  const watch = watchConfig(path);
  assert(watch !== null);
  return watch;
}

async function plain(path: Watched["path"]) {
  await Deno.writeTextFile(path("config.yaml"), "one");
}

/**
 * Events of `act` in a directory with a `config.yaml`, up to that of a file that is written after
 * it. The runtime also reports those of other directories that are watched in the process.
 */
async function eventsOf(act: (path: Watched["path"]) => Promise<void>): Promise<Deno.FsEvent[]> {
  const directory = await Deno.makeTempDir();
  const path = (name: string) => join(directory, name);
  await plain(path);
  await Deno.writeTextFile(path("gateway.log"), "");
  const watcher = Deno.watchFs(directory, { recursive: false });
  await act(path);
  await Deno.writeTextFile(path("last"), "");
  const events: Deno.FsEvent[] = [];
  for await (const event of watcher) {
    if (event.paths.includes(path("last"))) break;
    if (event.paths.some((one) => dirname(one) === directory)) events.push(event);
  }
  await Deno.remove(directory, { recursive: true });
  return events;
}

const NAMES = new Set(["config.yaml", ".env"]);

Deno.test("writing, replacing, removing and recreating the file are each a change", async () => {
  await using file = await watched(plain);
  const config = file.path("config.yaml");
  await Deno.writeTextFile(config, "two");
  await file.changed();
  await Deno.writeTextFile(file.path(".config.yaml.swp"), "three");
  await Deno.rename(file.path(".config.yaml.swp"), config);
  await file.changed();
  assertEquals(await Deno.readTextFile(config), "three");
  await Deno.remove(config);
  await file.changed();
  await Deno.writeTextFile(config, "four");
  await file.changed();
  assertEquals(await Deno.readTextFile(config), "four");
});

Deno.test("a half-written file is reported again once it is complete", async () => {
  await using file = await watched(plain);
  const config = file.path("config.yaml");
  await Deno.writeTextFile(config, "tw");
  await file.changed();
  assertEquals(await Deno.readTextFile(config), "tw");
  await Deno.writeTextFile(config, "o", { append: true });
  await file.changed();
  assertEquals(await Deno.readTextFile(config), "two");
});

Deno.test("the swap of a mounted volume is a change", async () => {
  async function version(path: Watched["path"], name: string) {
    await Deno.mkdir(path(name));
    await Deno.writeTextFile(path(`${name}/config.yaml`), name);
  }
  await using file = await watched(async (path) => {
    await version(path, "..one");
    await Deno.symlink("..one", path("..data"));
    await Deno.symlink("..data/config.yaml", path("config.yaml"));
  });
  await version(file.path, "..two");
  await Deno.symlink("..two", file.path("..data_tmp"));
  await Deno.rename(file.path("..data_tmp"), file.path("..data"));
  await file.changed();
  assertEquals(await Deno.readTextFile(file.path("config.yaml")), "..two");
});

Deno.test("a replaced symbolic link is a change", async () => {
  await using file = await watched(async (path) => {
    await Deno.writeTextFile(path("one.yaml"), "one");
    await Deno.writeTextFile(path("two.yaml"), "two");
    await Deno.symlink("one.yaml", path("config.yaml"));
  });
  await Deno.remove(file.path("config.yaml"));
  await Deno.symlink("two.yaml", file.path("config.yaml"));
  await file.changed();
  assertEquals(await Deno.readTextFile(file.path("config.yaml")), "two");
});

Deno.test("a change of .env is a change", async () => {
  await using file = await watched(plain);
  await Deno.writeTextFile(file.path(".env"), "KEY=1");
  await file.changed();
});

Deno.test("reading the watched files is no change", async () => {
  const events = await eventsOf(async (path) => {
    await Deno.readTextFile(path("config.yaml"));
  });
  assertEquals(events.filter((event) => isRelevant(event, NAMES)), []);
});

Deno.test("a log that is written next to the file is no change", async () => {
  const events = await eventsOf((path) =>
    Deno.writeTextFile(path("gateway.log"), "line\n", { append: true })
  );
  assert(events.length > 0);
  assertEquals(events.filter((event) => isRelevant(event, NAMES)), []);
});

/** A debounce over a scripted clock, and the times at which its task ran. */
function debounced() {
  const world = scriptedWorld();
  const ranAtMs: number[] = [];
  return { world, ranAtMs, ...newDebounce(() => void ranAtMs.push(world.now()), world) };
}

Deno.test("writes in quick succession are one change, 100 ms after the last one", async () => {
  const { event, world, ranAtMs } = debounced();
  for (let count = 0; count < 10; count++) {
    event();
    await world.advance(99);
  }
  assertEquals(ranAtMs, []);
  await world.advance(2_000);
  assertEquals(ranAtMs, [991]);
});

Deno.test("a file that changes without a pause is reported once a second", async () => {
  const { event, world, ranAtMs } = debounced();
  for (let ms = 0; ms <= 2_050; ms += 50) {
    event();
    await world.advance(50);
  }
  assertEquals(ranAtMs, [1_000, 2_000]);
});

Deno.test("a change that is cancelled is not reported", async () => {
  const { event, cancel, world, ranAtMs } = debounced();
  event();
  cancel();
  await world.advance(2_000);
  assertEquals(ranAtMs, []);
});

Deno.test("a change is not missed while the file is still being read at the start", async () => {
  const directory = await Deno.makeTempDir();
  const path = join(directory, "config.yaml");
  await Deno.writeTextFile(path, "one");
  const watch = opened(path);
  await Deno.writeTextFile(path, "two");
  await new Promise<void>((resolve) => watch.each(resolve));
  await watch.close();
  await watch.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a file that cannot be watched is reported", () => {
  assertEquals(watchConfig("/no/such/directory/config.yaml"), null);
});
