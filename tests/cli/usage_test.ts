import { parseArguments } from "../../src/cli/arguments.ts";
import { openStateStore } from "../../src/store/open_store.ts";
import { newUsageCommand } from "../../src/cli/usage.ts";
import { success } from "../../src/core/failure/result.ts";
import { type UsageRow, userRowName } from "../../src/core/usage_row.ts";
import type { OpenedStore } from "../../src/store/state_store.ts";
import { storeUnavailable } from "../../src/store/store_failure.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { newSwitchedStore } from "../support/switched_store.ts";
import { usageRow } from "../store/conformance/usage.ts";
import { configFile, type Ran, testTerminal } from "./test_terminal.ts";

const SERVER = "state: {store: valkey, usage_days: 3}\nsecurity: {time_zone: Europe/Berlin}\n";

function fileOf(state: string): string {
  return `${state}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`;
}

/** Late in the evening of 22 November in UTC, when it is the 23rd in Berlin. */
const NOW = Date.parse("2026-11-22T23:30:00Z");

interface Store {
  readonly rows?: readonly UsageRow[] | null;
  readonly problem?: string;
}

/** Runs the command over a store with these rows; null as rows is a store that does not answer. */
async function runOver(args: readonly string[], store: Store, state = SERVER) {
  using file = await configFile(fileOf(state));
  const { rows = [], problem } = store;
  const asked: string[] = [];
  const opened: OpenedStore = problem !== undefined ? { ok: false, problem } : {
    ok: true,
    store: {
      ...newSwitchedStore(() => 0),
      usage: {
        add: () => Promise.resolve(success(undefined)),
        read(days) {
          asked.push(...days);
          return Promise.resolve(rows === null ? storeUnavailable() : success(rows));
        },
      },
    },
  };
  const command = newUsageCommand(() => Promise.resolve(opened), () => NOW);
  const parsed = parseArguments([...args, "--config", file.path], command.options, null);
  assert(parsed.ok);
  const terminal = testTerminal();
  const code = await command.run(parsed.values, terminal);
  const ran: Ran = { code, ...terminal.written };
  return { ...ran, asked };
}

const ROWS = [usageRow(), usageRow({ key: "bob", model: "a\u001b[2J" })];

Deno.test("switchyard usage adds up the stored days by one column, up to today in the time zone", async () => {
  const text = await runOver(["--by", "key"], { rows: ROWS });
  assertEquals([text.code, text.err], [0, ""]);
  assertEquals(text.asked, ["2026-11-23", "2026-11-22", "2026-11-21"]);
  assertEquals(text.out.split("\n"), [
    "Usage from 2026-11-21 to 2026-11-23:",
    "",
    "key  calls  input_tokens  output_tokens  cached_tokens  cost_usd  estimated_calls",
    "ada  1      10            4              2              0.000024  0",
    "bob  1      10            4              2              0.000024  0",
    "",
  ]);
  const days = await runOver(["--days", "2"], { rows: [] });
  assertEquals([days.out, days.asked.length], [
    "Usage from 2026-11-22 to 2026-11-23: none.\n",
    2,
  ]);
  assertEquals((await runOver(["--days", "900"], {})).asked.length, 3);
});

Deno.test("switchyard usage adds up the end users of one key, and only with --by user", async () => {
  const rows = [...ROWS, usageRow({ key: userRowName("ada", "0a1b2c3d4e5f") })];
  const users = await runOver(["--by", "user", "--key", "ada", "--format", "csv"], { rows });
  assertEquals(users.out.split("\r\n").map((line) => line.split(",").slice(0, 3)), [
    ["key", "user", "calls"],
    ["ada", "", "1"],
    ["ada", "0a1b2c3d4e5f", "1"],
    [""],
  ]);
  const all = await runOver(["--format", "csv", "--key", "ada"], { rows });
  assertMatch(all.out, /^key,provider,model,day,calls.*\r\nada,[^,]*,[^,]*,[^,]*,2,.*\r\n$/);
});

Deno.test("switchyard usage prints JSON and CSV, and no control characters to a terminal", async () => {
  const json = await runOver(["--format", "json", "--by", "model"], { rows: ROWS });
  assertEquals(JSON.parse(json.out).data.length, 2);
  const csv = await runOver(["--format", "csv"], { rows: ROWS });
  assertMatch(csv.out, /^key,provider,model,day,calls/);
  const text = await runOver([], { rows: ROWS });
  assertEquals([text.out.includes("\u001b"), text.out.includes("a\\u001b[2J")], [false, true]);
  // The end of a name that is written from right to left would stand before it.
  const rows = [usageRow({ key: "corp/a\u202enimda" })];
  assertStringIncludes((await runOver([], { rows })).out, "corp/a\\u202enimda");
});

Deno.test("switchyard usage refuses options that it does not know", async () => {
  for (const args of [["--by", "hour"], ["--format", "xml"], ["--days", "0"], ["--days", "x"]]) {
    assertEquals((await runOver(args, {})).code, 2, args.join(" "));
  }
});

Deno.test("switchyard usage says why it cannot read a store, and where the sums are", async () => {
  const memory = await runOver([], {}, "");
  assertEquals([memory.code, memory.out], [1, ""]);
  assertMatch(memory.err, /in the process of the gateway.*gateway_client_tokens_total/);
  const none = await runOver([], {}, "state: {store: none}");
  assertEquals([none.code, none.out], [1, ""]);
  assertMatch(none.err, /state\.store is none.*gateway_client_tokens_total/);
  const away = await runOver([], { rows: null });
  assertEquals(away.code, 1);
  assertMatch(away.err, /does not answer/);
  await using _folder = await temporaryFile();
  const locked = await runOver(
    [],
    { problem: "state.sqlite.path: another process uses the file" },
    `state: {store: sqlite, sqlite: {path: "${_folder.path}"}}\n`,
  );
  assertEquals(locked.code, 1);
  assertMatch(locked.err, /another process uses the file\nA gateway that runs holds its database/);
  const absent = await runOver([], {}, "state: {store: sqlite, sqlite: {path: /nowhere/x.db}}\n");
  assertEquals(absent.code, 0);
  assertMatch(absent.err, /does not exist/);
});

async function temporaryFile() {
  const path = await Deno.makeTempFile();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}

Deno.test("switchyard usage keeps write access, without which no SQLite database opens", () => {
  assertEquals(newUsageCommand(openStateStore, () => 0).writesFiles, true);
});
