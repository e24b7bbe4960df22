import { join } from "node:path";
import { type ConfigWatch, watchConfig } from "../../src/config/watch.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A watched `config.yaml` in its own directory. */
interface Watched extends AsyncDisposable {
  path(name: string): string;
  /** The number of reported changes. */
  readonly count: number;
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
    get count() {
      return count;
    },
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

/** Resolves when a change in another directory is reported: an earlier change here is reported by then. */
async function laterChange() {
  await using elsewhere = await watched(plain);
  await Deno.writeTextFile(elsewhere.path("config.yaml"), "two");
  await elsewhere.changed();
}

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

Deno.test("a change of .env is a change, and reading the file is none", async () => {
  await using file = await watched(plain);
  await Deno.writeTextFile(file.path(".env"), "KEY=1");
  await file.changed();
  await Deno.readTextFile(file.path(".env"));
  await Deno.readTextFile(file.path("config.yaml"));
  await laterChange();
  assertEquals(file.count, 1);
});

Deno.test("a log that is written beside the file is no change", async () => {
  await using file = await watched(async (path) => {
    await plain(path);
    await Deno.writeTextFile(path("gateway.log"), "");
  });
  for (let line = 0; line < 20; line++) {
    await Deno.writeTextFile(file.path("gateway.log"), "line\n", { append: true });
  }
  await laterChange();
  assertEquals(file.count, 0);
});

Deno.test("writes in quick succession are one change", async () => {
  await using file = await watched(plain);
  for (let count = 0; count < 20; count++) {
    Deno.writeTextFileSync(file.path("config.yaml"), String(count));
  }
  await file.changed();
  await laterChange();
  assertEquals(file.count, 1);
});

Deno.test("a file that changes without a pause is reported within the maximum delay", async () => {
  await using file = await watched(plain);
  const told = file.changed();
  let writes = 0;
  while (file.count === 0) await Deno.writeTextFile(file.path("config.yaml"), String(writes++));
  await told;
  assert(writes > 1);
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
