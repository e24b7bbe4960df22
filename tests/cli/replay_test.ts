import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { newRecord } from "../support/records.ts";
import { recordOf } from "../support/replay.ts";
import { run } from "../../src/cli/run.ts";
import { openRecordFile } from "../../src/record/record_file.ts";
import { fileOptions, recordSection, withFolder, written } from "../record/support.ts";
import { configFile, ran, testTerminal } from "./test_terminal.ts";

const BASE = `
providers:
  openai: {type: compat, base_url: "https://api.openai.com/v1", api_key: sk-secret-key}
  claude: {type: messages, base_url: "https://api.anthropic.com", api_key: sk-other-key}
routing:
  routes:
    - name: main
      targets: [{provider: openai}]
`;

const RECORDS = [
  recordOf("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [{ role: "user", content: "a secret question" }],
    logit_bias: { "5": 1 },
  }, { id: "call-1", at: "2026-11-22T10:00:00.000Z", head: { key: "team-a" } }),
  recordOf("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [{ role: "user", content: "a secret question" }],
  }, { id: "call-2", at: "2026-11-23T10:00:00.000Z" }),
];

/** Runs the command with these files. */
async function replay(
  after: string,
  args: readonly string[] = [],
  lines = RECORDS.map((one) => JSON.stringify(one)),
) {
  using before = await configFile(BASE);
  using next = await configFile(after);
  using records = await configFile(lines.map((line) => `${line}\n`).join(""));
  const files = ["--config", before.path, "--against", next.path, "--records", records.path];
  return await ran(["replay", ...files, ...args]);
}

const MOVED = BASE.replace("targets: [{provider: openai}]", "targets: [{provider: claude}]");

Deno.test("the same file has exit code 0, a refused call 1, and a difference of another kind 0", async () => {
  assertEquals(await replay(BASE), {
    code: 0,
    out: "2 records, 2 replayed\nsame 2   different 0\n",
    err: "",
  });
  const moved = await replay(MOVED);
  assertEquals([moved.code, moved.err], [1, ""]);
  assertStringIncludes(moved.out, "same 0   different 2:  refused 1  targets 1");
  assertEquals((await replay(MOVED, ["--fail-on", "none"])).code, 0);
  assertEquals((await replay(MOVED, ["--fail-on", "route"])).code, 0);
  assertEquals((await replay(MOVED, ["--fail-on", "targets"])).code, 1);
});

Deno.test("nothing to compare, a file with problems and a file that is not there have exit code 1", async () => {
  const empty = await replay(BASE, [], []);
  assertEquals([empty.code, empty.err], [1, "No record was replayed, so nothing was compared.\n"]);
  const broken = await replay(BASE.replace("provider: openai", "provider: nobody"));
  assertEquals([broken.code, broken.out], [1, ""]);
  using file = await configFile(BASE);
  for (const path of ["/nowhere", "/"]) {
    const args = ["replay", "--config", file.path, "--against", file.path, "--records", path];
    assertEquals(await ran(args), {
      code: 1,
      out: "",
      err: `The file ${path} cannot be read.\n`,
    });
  }
});

Deno.test("wrong arguments have exit code 2", async () => {
  const cases: readonly (readonly [args: readonly string[], problem: string])[] = [
    [["--fail-on", "refuse"], "--fail-on must be any, none, or kinds with commas, also cost:+10%."],
    [["--format", "xml"], "--format must be text or json."],
    [["--seed", "-1"], "--seed needs a value: --seed NUMBER."],
    [["--seed", "1.5"], "--seed must be a whole number up to 2147483648."],
    [["--jobs", "0"], "--jobs must be a whole number from 1 to 64."],
    [["--jobs", "65"], "--jobs must be a whole number from 1 to 64."],
    [["--since", "soon"], "--since must be a day, a time, or such as 2h or 1d."],
  ];
  for (const [args, problem] of cases) {
    const { code, out, err } = await replay(BASE, args);
    assertEquals([code, out, err], [2, "", `${problem} See "switchyard replay --help".\n`]);
  }
  assertEquals(
    (await ran(["replay"])).err,
    '--against is missing. See "switchyard replay --help".\n',
  );
});

Deno.test("no report has content or a key unless content is wanted, and keys never", async () => {
  const worded =
    `${BASE}models: {gpt-4o: {system: "a secret instruction", targets: [{provider: openai, model: gpt-4o}]}}\n`;
  for (const format of ["text", "json"]) {
    const hidden = await replay(worded, ["--format", format, "--fail-on", "none"]);
    assertStringIncludes(hidden.out, "messages[]");
    for (const secret of ["a secret", "sk-secret-key"]) {
      assert(!hidden.out.includes(secret), hidden.out);
    }
    const shown = await replay(worded, ["--format", format, "--fail-on", "none", "--show-content"]);
    assertStringIncludes(shown.out, "a secret instruction");
    assert(!shown.out.includes("sk-secret-key"));
  }
});

Deno.test("the report for programs has totals, groups and digests", async () => {
  const { out } = await replay(MOVED, ["--format", "json"]);
  const { format, config, totals, skipped, groups } = JSON.parse(out);
  assertEquals(format, "switchyard.replay/1");
  assertEquals(Object.keys(config), ["before", "after"]);
  assert(config.before !== config.after);
  assertEquals(totals, {
    records: 2,
    replayed: 2,
    same: 0,
    different: 2,
    kinds: { refused: 1, targets: 1, cost: 1 },
  });
  assertEquals(skipped, {});
  assertEquals(groups[0], {
    kind: "refused",
    paths: ["logit_bias"],
    before: "main -> openai/gpt-4o",
    after: "400 unsupported_feature, logit_bias",
    count: 1,
    records: ["call-1"],
  });
});

Deno.test("--since and --key choose records; a time such as 2h is before the newest one", async () => {
  const first = async (...args: string[]) => (await replay(BASE, args)).out.split("\n")[0];
  assertEquals(await first("--key", "team-a"), "1 record, 1 replayed");
  assertEquals(await first("--since", "2h"), "1 record, 1 replayed");
  assertEquals(await first("--since", "1d"), "2 records, 2 replayed");
  assertEquals(await first("--since", "2026-11-23"), "1 record, 1 replayed");
});

Deno.test("a time such as 2h is before the newest record also where the gateway's file is read", () =>
  withFolder(async (folder) => {
    const base = Date.UTC(2026, 10, 1, 12);
    const options = fileOptions(folder, { keepMs: 1e12 });
    const file = openRecordFile(options);
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
    for (const [id, hours] of [["a", 0], ["b", 3], ["c", 4]] as const) {
      file.write([written(id, base + hours * 3_600_000, { body })], base);
    }
    file.close();
    using config = await configFile(recordSection(folder) + BASE);
    const first = async (...args: string[]) => {
      const own = ["--config", config.path, "--against", config.path];
      return (await ran(["replay", ...own, ...args])).out.split("\n")[0];
    };
    assertEquals(await first("--since", "2h"), "2 records, 2 replayed");
    assertEquals(await first("--since", "1d"), "3 records, 3 replayed");
    assertEquals(await first("--since", "2026-11-01T16:00"), "1 record, 1 replayed");
    assertEquals(await first(), "3 records, 3 replayed");
  }));

Deno.test("--all lists each record, and characters that a terminal would obey are shown as text", async () => {
  const hostile = RECORDS.map((one) =>
    newRecord({ ...one, head: { ...one.head, model_requested: "\x1b[2J\u202e" } })
  );
  const { out } = await replay(
    BASE.replace("name: main", "name: other"),
    ["--all"],
    hostile.map((one) => JSON.stringify(one)),
  );
  assertStringIncludes(
    out,
    "          call-1  10:00:00  team-a  /v1/chat/completions  \\u001b[2J\\u202e\n",
  );
});

Deno.test("a report as JSON has characters that a terminal would obey as their codes", async () => {
  const hostile = newRecord({
    head: { path: "/v1/messages", api: "messages" },
    request: {
      body:
        '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x","no\u009b31m":1}]}',
    },
  });
  const { out } = await replay(
    BASE.replace(/targets: \[.*\]/, "targets: [{provider: openai, model: own}]"),
    ["--format", "json", "--fail-on", "none"],
    [JSON.stringify(hostile)],
  );
  assertStringIncludes(out, "\\u009b31m");
  assert(!/[\u007f-\u009f]/.test(out), out);
  assertEquals(JSON.parse(out).totals.records, 1);
});

Deno.test("records are read without the right to write files, start processes and open connections", async () => {
  using file = await configFile(BASE);
  using records = await configFile(`${JSON.stringify(RECORDS[1])}\n`);
  const terminal = testTerminal();
  const args = ["--config", file.path, "--against", file.path, "--records", records.path];
  assertEquals(await run(["replay", ...args, "--out", "report.txt"], terminal), 0);
  assertEquals([terminal.mayWrite, terminal.mayRun, terminal.mayConnect], [false, false, false]);
  assertEquals(terminal.written.out, "");
  assertStringIncludes(terminal.files.get("report.txt") ?? "", "1 record, 1 replayed");
  assertEquals(await run(["replay", ...args, "--out", "report.txt"], terminal), 1);
  assertEquals(terminal.written.err, "The file report.txt exists already.\n");
});

Deno.test("the file of a report that cannot be made says so, and is not empty", async () => {
  using file = await configFile(BASE);
  using records = await configFile(`${JSON.stringify(RECORDS[1])}\n`);
  const args = ["--config", file.path, "--against", file.path, "--records", records.path];
  const problem = "The replay has ended early, so there is no report.";
  const { seekSync } = Deno.FsFile.prototype;
  // A disk that fails while the records are read.
  Deno.FsFile.prototype.seekSync = () => {
    throw new Error("Input/output error");
  };
  try {
    for (
      const [format, text] of [["text", `${problem}\n`], [
        "json",
        `{"error":"${problem}"}\n`,
      ]] as const
    ) {
      const terminal = testTerminal();
      const out = ["--format", format, "--out", "report"];
      assertEquals(await run(["replay", ...args, ...out], terminal), 1);
      assertEquals([terminal.files.get("report"), terminal.written.err], [text, `${problem}\n`]);
    }
  } finally {
    Deno.FsFile.prototype.seekSync = seekSync;
  }
});

Deno.test("each skipped record is counted by its reason and named, ten of them or all", async () => {
  const body = { model: "gpt-4o", input: "Hi.", conversation: "conv_1" };
  const records = Array.from(
    { length: 12 },
    (_, at) => recordOf("/v1/responses", body, { id: `turn-${String(at).padStart(2, "0")}` }),
  );
  const lines = records.map((one) => JSON.stringify(one));
  const { code, out } = await replay(BASE, [], lines);
  const ids = records.map(({ id }) => id);
  assertEquals(code, 1);
  assertEquals(
    out,
    "12 records, 0 replayed, 12 skipped (12 conversation_not_recorded)\n" +
      "same 0   different 0\n" +
      `skipped   conversation_not_recorded  ${ids.slice(0, 10).join(", ")}, 2 more\n`,
  );
  const all = await replay(BASE, ["--all", "--format", "json"], lines);
  const { skipped, skipped_records } = JSON.parse(all.out);
  assertEquals(skipped, { conversation_not_recorded: 12 });
  assertEquals(skipped_records, { conversation_not_recorded: ids });
});
