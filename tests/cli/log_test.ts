import { run } from "../../src/cli/run.ts";
import { parseRecord } from "../../src/record/record.ts";
import { openRecordFile } from "../../src/record/record_file.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import {
  allRecords,
  fileOptions,
  recordSection,
  withFolder,
  written,
  WRITTEN_KEY,
} from "../record/support.ts";
import { blocksIn } from "../docs/pages.ts";
import { execute, query } from "../store/sqlite/inspect.ts";
import { testTerminal } from "./test_terminal.ts";

const HOSTILE = "\u001b[31mred\u0007 \u009b31m \u{e0041}\u202egnp.exe";

/** Runs commands over a file with two records. */
async function withRecords(
  test: (
    command: (...args: readonly string[]) => Promise<readonly [number, string, string]>,
    folder: string,
  ) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder, { keepMs: 86_400_000 }));
    const body = JSON.stringify({ messages: [{ role: "user", content: `find me ${HOSTILE}` }] });
    file.write([
      written("id-1", Date.now() - 7_200_000, { head: { key: "ada" }, body }),
      written("id-2", Date.now(), {
        head: { session: HOSTILE, key: HOSTILE, status: 502 },
        body: null,
      }),
    ], Date.now());
    file.close();
    const config = `${folder}/config.yaml`;
    await Deno.writeTextFile(config, recordSection(folder) + oneProvider("http://up"));
    await test(async (...args) => {
      const terminal = testTerminal();
      const status = await run([...args, "--config", config], terminal);
      return [status, terminal.written.out, terminal.written.err];
    }, folder);
  });
}

Deno.test("records are listed with the newest first, and without their content", () =>
  withRecords(async (command) => {
    const [status, out] = await command("log");
    assertEquals(status, 0);
    const [head = "", first = "", second = ""] = out.split("\n");
    assertMatch(head, /^time \(UTC\) +status +key/);
    assertMatch(first, / 502 .* id-2$/);
    assertMatch(second, / 200 +ada .* id-1$/);
    assert(!out.includes("find me"));
    const [, filtered] = await command("log", "--since", "1h");
    assert(filtered.includes("id-2") && !filtered.includes("id-1"));
    assertEquals((await command("log", "--key", "none"))[1], "No recorded call matches.\n");
    const [, limited] = await command("log", "--limit", "1");
    assertMatch(limited, /More with --cursor 2\.\n$/);
    const [, whole] = await command("log", "--limit", "2");
    assert(whole.includes("id-1") && !whole.includes("More"), whole);
  }));

Deno.test("content is printed only by the options that say so, and nothing of it acts on a terminal", () =>
  withRecords(async (command) => {
    const [, found] = await command("log", "--text", "FIND  me");
    assert(found.includes("id-1") && !found.includes("find me"));
    const [, shown] = await command("log", "--text", "find me", "--show-text");
    assert(shown.includes("find me"));
    const [, head] = await command("log", "show", "id-1");
    assert(head.includes("attempts") && !head.includes("find me"));
    const [, text] = await command("log", "show", "id-1", "--text");
    assertMatch(text, /^user:\n {2}find me /);
    const views = ["--request", "--text", "--json", "--curl"];
    const [, json] = await command("log", "show", "id-2", "--json");
    assertEquals(JSON.parse(json).head.session, HOSTILE);
    const listed = await Promise.all(
      ["json", "jsonl"].map((one) => command("log", "--format", one)),
    );
    const printed = [shown, (await command("log"))[1], (await command("log", "show", "id-2"))[1]];
    printed.push(json, (await command("log", "--export"))[1], ...listed.map(([, out]) => out));
    for (const view of views) printed.push((await command("log", "show", "id-1", view))[1]);
    for (const one of printed) {
      // deno-lint-ignore no-control-regex
      assert(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(one), one);
    }
  }));

Deno.test("exported lines are records of the printed schema, whole or without content", () =>
  withRecords(async (command) => {
    const [status, out] = await command("log", "--export");
    assertEquals(status, 0);
    const lines = out.trimEnd().split("\n").map(parseRecord);
    assertEquals(lines.map((line) => line.ok && line.record.id), ["id-2", "id-1"]);
    const [, , last] = [0, 0, lines[1]];
    assert(last?.ok && last.record.request?.body?.includes("find me"));
    const [, bare] = await command("log", "--export", "--content", "none");
    assertEquals(bare.trimEnd().split("\n").map((line) => parseRecord(line).ok), [true, true]);
    assert(!bare.includes("find me"));
    const [, list] = await command("log", "--format", "json");
    assertEquals(
      JSON.parse(list).map(({ id, request }: { id: string; request?: unknown }) => [id, request]),
      [["id-2", undefined], ["id-1", undefined]],
    );
    assertEquals((await command("log", "--format", "json", "--key", "none"))[1], "[]\n");
  }));

Deno.test("an export is masked by a policy, heads and content, or by what finds credentials", () =>
  withFolder(async (folder) => {
    const secret = `sk-${"a1B2".repeat(8)}`;
    const file = openRecordFile(fileOptions(folder, { keepMs: 86_400_000 }));
    const mail = "ann@example.com";
    const body = JSON.stringify({ input: `${mail} ${secret}`, tools: [{ name: mail }] });
    file.write([written("id-1", Date.now(), { head: { session: mail }, body, answer: mail })], 1);
    file.close();
    const privacy = `
privacy:
  max_search_time: 1s
  rules: [{name: mail, find: [email], action: refuse}]
  policies: [{name: mails, rules: [mail]}]
`;
    const config = `${folder}/config.yaml`;
    await Deno.writeTextFile(config, recordSection(folder) + oneProvider("http://up") + privacy);
    const exported = async (...args: readonly string[]) => {
      const terminal = testTerminal();
      const all = ["log", "--config", config, ...args];
      return [await run(all, terminal), terminal.written.out, terminal.written.err] as const;
    };
    const [status, out, err] = await exported("--export", "--redact", "mails");
    assertEquals([status, err], [0, ""]);
    assert(!out.includes("ann@") && out.includes(secret), out);
    const line = parseRecord(out.trimEnd());
    assert(line.ok);
    const { head, request, response } = line.record;
    assertEquals([head.session, head.tools_offered], ["[email]", ["[email]"]]);
    const masked = JSON.stringify({ input: `[email] ${secret}`, tools: [{ name: "[email]" }] });
    assertEquals([request?.body, response?.body], [masked, "[email]"]);
    const [, keys] = await exported("--export", "--redact", "credentials");
    assert(keys.includes(mail) && !keys.includes(secret));
    assertEquals((await exported("--export", "--redact", "other"))[0], 2);
    assertEquals((await exported("--redact", "mails"))[0], 2);
  }));

/** Runs a task while the monotonic clock moves by a second each time that it is read. */
async function withFastClock<Result>(task: () => Promise<Result>): Promise<Result> {
  const real = performance.now;
  let ms = 0;
  performance.now = () => ms += 1_000;
  try {
    return await task();
  } finally {
    performance.now = real;
  }
}

Deno.test("an export whose masking takes too long ends with a sentence, from the file and from a gateway that runs", () =>
  withFolder(async (folder) => {
    const privacy = `
privacy:
  max_search_time: 2500ms
  rules: [{name: mail, find: [email], action: mask}]
  policies: [{name: mails, rules: [mail]}]
`;
    const config = `${folder}/config.yaml`;
    await Deno.writeTextFile(config, recordSection(folder) + oneProvider("http://up") + privacy);
    const short = written("id-1", 1_000, { body: "short" });
    const long = written("id-2", 2_000, { body: "ann@example.com ".repeat(100_000) });
    const file = openRecordFile(fileOptions(folder, { keepMs: 1e15 }));
    file.write([long, short], 2_000);
    const records = allRecords(file);
    file.close();
    const exported = async (...args: readonly string[]) => {
      const terminal = testTerminal();
      const all = ["log", "--config", config, "--export", "--redact", "mails", ...args];
      const status = await withFastClock(() => run(all, terminal));
      return [status, terminal.written.out, terminal.written.err] as const;
    };
    await using listener = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
      const lines = records.map((record, seq) => `${JSON.stringify({ seq, record })}\n`);
      return new Response(lines.join(""));
    });
    for (const place of [[], ["--url", `http://127.0.0.1:${listener.addr.port}`]]) {
      const [status, out, err] = await exported(...place);
      assertEquals([status, err], [
        1,
        "Masking a record takes longer than privacy.max_search_time, so the export has ended.\n",
      ]);
      assertEquals(out.trimEnd().split("\n").map((line) => JSON.parse(line).id), ["id-1"]);
    }
  }));

Deno.test("wrong options end with status 2, and a missing record or file with 1 and a sentence", () =>
  withRecords(async (command, folder) => {
    for (
      const args of [
        ["--since", "soon"],
        ["--limit", "0"],
        ["--format", "csv"],
        ["--content", "none"],
        ["--export", "--format", "json"],
        ["--show-text"],
        ["--show-text", "--text", "me", "--format", "jsonl"],
      ]
    ) {
      assertEquals((await command("log", ...args))[0], 2, args.join(" "));
    }
    assertEquals((await command("log", "show"))[0], 2);
    const [status, , err] = await command("log", "show", "other");
    assertEquals([status, err], [1, "There is no record of this call.\n"]);
    const [missing, , trouble] = await command("log", "--file", `${folder}/none.db`);
    assertEquals([missing, trouble], [1, `There is no file ${folder}/none.db (record.path).\n`]);
  }));

Deno.test("content that cannot be opened is counted where it was wanted, whatever chose its record", () =>
  withRecords(async (command, folder) => {
    execute(`${folder}/record.db`, "update record set body = zeroblob(100) where body is not null");
    const err = "Not printed, because they cannot be opened: 1 records.\n";
    assertEquals(await command("log", "--key", "ada", "--export"), [0, "", err]);
    assertEquals((await command("log", "show", "id-1"))[0], 0);
    assertEquals(await command("log", "show", "id-1", "--request"), [
      1,
      "",
      "The content of this record cannot be opened.\n",
    ]);
  }));

Deno.test("record info counts the records of a file, and names keys that are gone", () =>
  withRecords(async (command, folder) => {
    const [status, out] = await command("record", "info");
    assertEquals(status, 0);
    assertMatch(
      out,
      /^path +.*record\.db\nrecords +2\nbytes +\d+\noldest .*\nnewest .*\nreadable +2\n$/,
    );
    const config = `${folder}/config.yaml`;
    const text = await Deno.readTextFile(config);
    await Deno.writeTextFile(config, text.replace(WRITTEN_KEY, "B".repeat(43)));
    assertMatch((await command("record", "info"))[1], /readable +0\nunreadable +2 with key \d+\n$/);
    const [, listed] = await command("log");
    assertMatch(listed, /unreadable \(key \d+\)/);
    assertEquals(await command("log", "--export"), [
      0,
      "",
      "Not printed, because they cannot be opened: 2 records.\n",
    ]);
    assertEquals((await command("record"))[0], 2);
    assertEquals(await command("log", "--key", "ada"), [
      0,
      "No recorded call matches.\n",
      "Not looked at, because they cannot be opened: 2 records.\n",
    ]);
    assertEquals(await command("log", "show", "id-1"), [
      1,
      "",
      "There is no record of this call among those that can be opened; 2 cannot.\n",
    ]);
    assertEquals(await command("replay", "--against", config, "--key", "ada"), [
      1,
      "2 records, 0 replayed, 2 skipped (2 unreadable)\nsame 0   different 0\n" +
      "skipped   unreadable  no ID, no ID\n",
      "No record was replayed, so nothing was compared.\n",
    ]);
  }));

Deno.test("record info says what is wrong with a time that somebody has changed", () =>
  withRecords(async (command, folder) => {
    query(`${folder}/record.db`, "update record set at = 9000000000000000");
    const [status, out] = await command("record", "info");
    assertEquals(status, 0);
    assertMatch(out, /\noldest +no time\nnewest +no time\nreadable +0\n/);
  }));

Deno.test("check says what is recorded, of whom and for how long", () =>
  withRecords(async (command, folder) => {
    const [, out] = await command("check");
    assert(
      out.includes(
        `\nRecords into ${folder}/record.db for 168h, masking credentials: all of all other calls.\n`,
      ),
      out,
    );
  }));

Deno.test("explain says whether a request would be recorded, and why", () =>
  withRecords(async (command) => {
    assertMatch(
      (await command("explain", "--model", "m"))[1],
      /\nRecorded: its figures and its content, by its default\.\n$/,
    );
    const header = ["--header", "X-Gateway-No-Record: true"];
    assertMatch(
      (await command("explain", "--model", "m", ...header))[1],
      /\nNot recorded: the X-Gateway-No-Record header is set\.\n$/,
    );
  }));

Deno.test("a file that a gateway has open is read from its admin listener, or one sentence says so", () =>
  withRecords(async (command, folder) => {
    if (Deno.build.os !== "linux") return;
    const file = openRecordFile(fileOptions(folder));
    const [status, , err] = await command("log");
    file.close();
    assertEquals(status, 1);
    assertMatch(
      err,
      /^A gateway has .*record\.db open, so records are read from its admin listener\.\nThe admin page is off/,
    );
  }));

Deno.test("each command of the page runs over the file", () =>
  withRecords(async (command) => {
    const page = blocksIn("bash").filter(({ section }) =>
      section.startsWith("docs/operate/record.md")
    );
    const lines = page.flatMap(({ text }) => text.trim().split("\n"));
    assertEquals(lines.length, 8);
    for (const line of lines) {
      const [words = ""] = line.replace(/[\da-f]{8}-[\da-f-]{27}/, "id-1").split(" > ");
      const [, ...args] = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([word, quoted]) =>
        quoted ?? word
      );
      const [status, out, err] = await command(...args);
      assertEquals([status, err], [0, ""], line);
      assert(out !== "", line);
    }
  }));
