import { dirname } from "node:path";
import type { ResponseStore } from "../../../src/store/object_store.ts";
import { newEncryptingCodec } from "../../../src/store/records/encrypting_codec.ts";
import { openingProblem } from "../../../src/store/sqlite/problems.ts";
import { problemOf } from "../../../src/store/sqlite/errors.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { damageOf, execute, query } from "./inspect.ts";
import { linesOf, startProcess } from "./process.ts";
import { newTestFile, type TestFile, withFile } from "./store.ts";
import { RECORD_TABLES_4 } from "./version_4.ts";

/** Statements that remove the tables of records. */
const RECORD_TABLES_REMOVED = [
  "name",
  "holds",
  "part",
  "record",
  "record_total",
  "share",
  "counter",
]
  .map((table) => `drop table ${table};`).join("");

/** Tables with the content of records. */
const CONTENT_TABLES = ["record", "part", "name", "holds"];

/** Statements that bring the records of a file into the tables of version 4. */
const TO_VERSION_4 = [
  ...CONTENT_TABLES.map((table) => `create temp table new_${table} as select * from ${table};`),
  RECORD_TABLES_REMOVED,
  RECORD_TABLES_4,
  ...CONTENT_TABLES.map((table) => `insert into ${table} select * from new_${table};`),
  "update counter set last = (select max(version) from record); pragma user_version = 4;",
].join("");

/**
 * Statements that create the tables of objects of versions 1 and 2, with those columns that are
 * counted.
 */
const OBJECT_TABLES = `
create table binding (type text, id text, seq integer, body text, bytes integer, changed integer);
create table response (key integer primary key, bytes integer);
create table item (key integer primary key, bytes integer);
create table response_item (
  response integer not null references response on delete cascade deferrable initially deferred,
  item integer not null references item
);
create table conversation (key integer primary key, bytes integer);
create table conversation_item (
  conversation integer not null references conversation on delete cascade
);
create table reasoning (key text, bytes integer);
create table reasoning_creator (creator text);
create table reasoning_calls (calls text);
create table cached_response (key text, bytes integer);
insert into total (name) values ('responses'), ('conversations'), ('response_bindings');
create trigger binding_added after insert on binding begin
  update total set entries = entries + 1 where name = new.type || '_bindings';
end;
create trigger response_unbound after delete on binding begin
  delete from response where key = old.seq;
end;
`;

const SECRET = { core: "qzbadofikumapolosi", label: "email", value: "bob.miller@example.com" };

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

const CALLER = { name: null, isIsolated: false };

/** Stores a response and one that continues it. */
async function storeDialogue(responses: ResponseStore): Promise<void> {
  const input = [{ id: "i1" }];
  const output = [{ id: "o1" }];
  const first = { resource: { id: "r1", output }, input };
  const response = { owner: OWNER, snapshot: first, isNative: false };
  await stored(responses.store("r1", response, CALLER));
  const next = { resource: { id: "r2", output: [] }, input: [...input, ...output, { id: "i2" }] };
  await stored(responses.store("r2", { ...response, snapshot: next }, CALLER));
}

/** Returns the sentence of a start that fails. */
async function problem(file: Pick<TestFile, "tryOpen" | "path">): Promise<string> {
  const opened = await file.tryOpen();
  assert(!opened.ok, "the store was opened");
  const sentence = opened.problem;
  assert(sentence.includes(file.path) && sentence.includes("state.sqlite.path"), sentence);
  assertMatch(sentence, /^[A-Z][^\n]*\.$/);
  return sentence;
}

Deno.test("a new database is readable by its user only, with its write-ahead log", async () => {
  await withFile(async ({ folder, path, open }) => {
    const store = await open();
    await stored(store.objects.responses.bind("r", OWNER));
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();
    assertEquals(names, ["state.db", "state.db-wal"]);
    for (const name of names) {
      assertEquals((Deno.statSync(`${folder}/${name}`).mode ?? 0) & 0o777, 0o600, name);
    }
    await store.close();
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["state.db"]);
    const [mode] = query(path, "pragma auto_vacuum");
    assertEquals({ ...mode }, { auto_vacuum: 2 });
    // A file that is there is opened as it is.
    await (await open()).close();
  });
});

Deno.test("a path that SQLite would take for memory or for an address is a file like any other", async () => {
  for (const path of [":memory:", "file:state.db?mode=memory"]) {
    await withFile(async ({ folder }) => {
      const lines = await linesOf(startProcess(["open", path], ["--allow-all"], { cwd: folder }));
      assertEquals(lines, ["open"]);
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), [path]);
      const { size, mode } = Deno.statSync(`${folder}/${path}`);
      assert(size > 0, path);
      assertEquals((mode ?? 0) & 0o777, 0o600);
    });
  }
});

Deno.test("a start names the folder of the database that does not exist", async () => {
  await withFile(async ({ folder }) => {
    const file = newTestFile(`${folder}/none`);
    const sentence = await problem(file);
    assertMatch(sentence, /there is no folder/);
    assert(sentence.includes(`"${dirname(file.path)}"`), sentence);
  });
});

Deno.test("a start names a database path that is a folder or a pipe", async () => {
  await withFile(async (file) => {
    await Deno.mkdir(file.path);
    assertMatch(await problem(file), /is a folder, a pipe or a device; set the path of a file/);
    await Deno.remove(file.path);
    await new Deno.Command("mkfifo", { args: [file.path] }).output();
    // With a reader, without which opening it would wait.
    using _reader = await Deno.open(file.path, { read: true, write: true });
    assertMatch(await problem(file), /is a folder, a pipe or a device; set the path of a file/);
  });
});

Deno.test("a start names a file that is not a database, and does not change it", async () => {
  await withFile(async (file) => {
    const text = "providers: {}\n".repeat(100);
    await Deno.writeTextFile(file.path, text);
    assertMatch(await problem(file), /is not a database; move the file away/);
    assertEquals(await Deno.readTextFile(file.path), text);
  });
});

Deno.test("a start names a database of another program, and does not change its tables", async () => {
  await withFile(async (file) => {
    execute(file.path, "create table song (name text)");
    assertMatch(await problem(file), /was written by another program/);
    const names = query(file.path, "select name from sqlite_schema").map(({ name }) => name);
    assertEquals(names, ["song"]);
  });
});

Deno.test("a start names a database that a newer version has written", async () => {
  await withFile(async (file) => {
    await (await file.open()).close();
    execute(file.path, "pragma user_version = 6");
    assertMatch(await problem(file), /written by a newer version.*start that version/);
    execute(file.path, "pragma user_version = 5");
    await (await file.open()).close();
  });
});

for (const version of [1, 2]) {
  Deno.test(`a database of version ${version} loses its objects; its sums and its usage stay`, async () => {
    await withFile(async (file) => {
      await (await file.open()).close();
      execute(file.path, RECORD_TABLES_REMOVED + OBJECT_TABLES);
      execute(file.path, `pragma user_version = ${version}`);
      execute(file.path, "insert into binding values ('response', 'r', 1, '{}', 10, 0)");
      execute(file.path, "insert into spent values ('key a', 'usd d:1', 5, 12, 1, 9e15)");
      const store = await file.open();
      const { types } = await stored(store.stats());
      assertEquals(types.map(({ type, entries }) => [type, entries]), [["quotas", 1]]);
      await stored(store.objects.owners.relayed_object.bind("file/1", OWNER));
      await store.close();
      assertEquals({ ...query(file.path, "pragma user_version")[0] }, { user_version: 5 });
      assertEquals(query(file.path, "select name from sqlite_schema where name = 'binding'"), []);
      assertEquals(damageOf(file.path), []);
    });
  });
}

Deno.test("a database of version 3 keeps its objects, and counts the values of privacy rules from then on", async () => {
  const run = async (file: TestFile) => {
    const before = await file.open();
    await stored(before.objects.responses.bind("r", OWNER));
    await before.close();
    execute(file.path, TO_VERSION_4);
    execute(file.path, "delete from record_total where type = 'privacy_values'");
    execute(file.path, "pragma user_version = 3");
    const store = await file.open();
    assert(await stored(store.objects.responses.findBinding("r")) !== null);
    const values = store.privacyValues;
    await stored(
      values?.add({ creator: null, id: "r" }, { values: [SECRET], isJsonText: false }) ??
        Promise.reject(),
    );
    const { types } = await stored(store.stats());
    assertEquals(types.find(({ type }) => type === "privacy_values")?.entries, 1);
    await store.close();
    assertEquals({ ...query(file.path, "pragma user_version")[0] }, { user_version: 5 });
  };
  await withFile(run, newEncryptingCodec([new Uint8Array(32).fill(7)]));
});

Deno.test("a database of version 4 keeps its objects, the names of their items and its sums", async () => {
  await withFile(async (file) => {
    const before = await file.open();
    await storeDialogue(before.objects.responses);
    const sizes = (await stored(before.stats())).types;
    await before.close();
    execute(file.path, TO_VERSION_4);
    assertEquals(damageOf(file.path), []);
    const { objects, ...store } = await file.open();
    assertEquals((await stored(store.stats())).types, sizes);
    const found = await stored(objects.responses.find("r2"));
    assertEquals(found?.snapshot?.input.map(({ id }) => id), ["i1", "o1", "i2"]);
    const items = await stored(objects.responses.findItems(new Set(["i1"])));
    assertEquals(items.map(({ item }) => item.id), ["i1", "i1"]);
    for (const id of ["r1", "r2"]) await stored(objects.responses.unbind(id, "a", CALLER));
    await store.close();
    assertEquals(damageOf(file.path), []);
    for (const table of CONTENT_TABLES) {
      assertEquals(query(file.path, `select * from ${table}`), [], table);
    }
  });
});

Deno.test("values of privacy rules are in no file in clear, and without a key in none", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    assertEquals(store.privacyValues, null);
    await store.close();
  });
  const run = async (file: TestFile) => {
    const store = await file.open();
    await stored(
      store.privacyValues?.add({ creator: null, id: "r" }, {
        values: [SECRET],
        isJsonText: false,
      }) ?? Promise.reject(),
    );
    for (const { name } of Deno.readDirSync(file.folder)) {
      const text = new TextDecoder("latin1").decode(Deno.readFileSync(`${file.folder}/${name}`));
      assert(!text.includes(SECRET.value) && !text.includes(SECRET.core), name);
    }
    await store.close();
  };
  await withFile(run, newEncryptingCodec([new Uint8Array(32).fill(7)]));
});

Deno.test("a start names a damaged database", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    await stored(store.objects.responses.bind("r", OWNER));
    await store.close();
    // The first page has the header, which is intact, and the names of the tables, which are not.
    const bytes = await Deno.readFile(file.path);
    bytes.fill(0xa5, 100, 4096);
    await Deno.writeFile(file.path, bytes);
    assertMatch(await problem(file), /is damaged; move the file away/);
  });
});

Deno.test("a start names a database that another process has open", async () => {
  await withFile(async (file) => {
    const other = startProcess(["hold", file.path]);
    assert(await other.out.until(/^open\n/) !== null);
    assertMatch(await problem(file), /is in use by another process; stop that process/);
    assertEquals(await linesOf(other), ["open"]);
    await (await file.open()).close();
  });
});

Deno.test({
  name: "a database stays locked although its process opens and closes the file elsewhere too",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await withFile(async (file) => {
      const store = await file.open();
      // The kernel releases all record locks of the process here.
      Deno.openSync(file.path).close();
      const lines = await linesOf(startProcess(["open", file.path]));
      assertEquals(lines, [openingProblem("locked", file.path)]);
      assertMatch(await problem(file), /is in use by another process/);
      await stored(store.objects.responses.bind("r", OWNER));
      await store.close();
      assertEquals(await linesOf(startProcess(["open", file.path])), ["open"]);
    });
  },
});

Deno.test("a start names a database that the user of the process may not write", async () => {
  await withFile(async ({ folder, path, open }) => {
    await (await open()).close();
    await Deno.chmod(path, 0o444);
    const options = Deno.uid() === 0 ? await asOtherUser(folder) : {};
    const lines = await linesOf(startProcess(["open", path], ["--allow-all"], options));
    assertEquals(lines, [openingProblem("no_permission", path)]);
    assertMatch(lines[0] ?? "", /may not be written by the user of this process; make the file/);
  });
});

/**
 * Returns the options of a process of another user, because file modes do not hold for root. That
 * user may not be allowed to run the Deno of root, so it gets one in the folder.
 */
async function asOtherUser(folder: string): Promise<Deno.CommandOptions & { command: string }> {
  await Deno.chmod(folder, 0o777);
  const command = `${folder}/deno`;
  await Deno.link(Deno.execPath(), command).catch(() => Deno.copyFile(Deno.execPath(), command));
  return { command, uid: 65534, gid: 65534, cwd: folder, env: { DENO_DIR: folder, HOME: folder } };
}

Deno.test("a start names a database that the runtime may not write", async () => {
  await withFile(async ({ path }) => {
    const lines = await linesOf(startProcess(["open", path], ["--allow-read", "--allow-env"]));
    assertEquals(lines, [openingProblem("not_permitted_by_runtime", path)]);
    assertMatch(lines[0] ?? "", /start it with --allow-read and --allow-write for the file/);
  });
});

Deno.test("a start names a read-only file system and a full disk", () => {
  const errno = (code: string) => Object.assign(new Error(`${code}: open 'x'`), { code });
  assertEquals(problemOf(errno("EROFS")), "read_only");
  assertEquals(problemOf(errno("ENOSPC")), "full");
  assertMatch(
    openingProblem("read_only", "/x"),
    /"\/x".*is on a read-only file system, or in a folder that .* may not write; set a path/,
  );
  assertMatch(openingProblem("full", "/x"), /"\/x".*the disk is full; free some space/);
  const sqlite = (errcode: number) => Object.assign(new Error("constraint: secret"), { errcode });
  const problems = [8, 776, 10, 4874, 13, 11, 5, 19].map((code) => problemOf(sqlite(code)));
  const expected = ["read_only", "read_only", "io", "io", "full", "damaged", "locked", "other"];
  assertEquals(problems, expected);
});

Deno.test("the right to write the database alone is enough, and may be given back after the start", async () => {
  await withFile(async ({ path }) => {
    const permissions = ["--allow-read", "--allow-env", `--allow-write=${path}`];
    const lines = await linesOf(startProcess(["revoke", path], permissions));
    assertEquals(lines, ["open", "prompt", "3000"]);
  });
});
