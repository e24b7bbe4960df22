import fc from "fast-check";
import { DatabaseSync } from "node:sqlite";
import { deflateRawSync } from "node:zlib";
import { openRecordFile, type RecordFileOptions } from "../../src/record/record_file.ts";
import type { RecordHead } from "../../src/record/record.ts";
import { newSealer } from "../../src/record/seal.ts";
import type { WrittenRecord } from "../../src/record/written_record.ts";
import { problemOf } from "../../src/store/sqlite/errors.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { allRecords, fileOptions, recordsIn, scanned, withFolder, written } from "./support.ts";

Deno.test("a record is read as it was written, with the facts of its content", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    const body = JSON.stringify({
      tools: [{ type: "function", function: { name: "Bash" } }, { type: "web_search" }],
      previous_response_id: "resp_1",
    });
    const answer = JSON.stringify({
      choices: [{
        message: { tool_calls: [{ function: { name: "Bash", arguments: "{}" } }] },
        finish_reason: "tool_calls",
      }],
    });
    const result = file.write([written("a", 5_000, { body, answer })], 5_000);
    assertEquals(result.ok && [result.all, result.heads, result.unredacted], [1, 0, 0]);
    const [record] = allRecords(file);
    file.close();
    assertEquals(record?.id, "a");
    assertEquals(record?.at, "1970-01-01T00:00:05.000Z");
    assertEquals(record?.request?.body, body);
    assertEquals(record?.response?.body, answer);
    assertEquals(record?.previous, { response: "resp_1", record: null });
    assertEquals(record?.head.tools_offered, ["Bash", "web_search"]);
    assertEquals(record?.head.tools_called, ["Bash"]);
    assertEquals(record?.head.finish, "tool_calls");
  }));

Deno.test("the file as bytes has no content, name, model or key", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    const head: Partial<RecordHead> = {
      key: "team-marker",
      session: "session-marker",
      model_requested: "model-marker",
      labels: { team: "label-marker" },
    };
    const body = JSON.stringify({ prompt: "prompt-marker", tools: [{ name: "tool-marker" }] });
    file.write([written("id-marker", 1, { head, body, answer: "answer-marker" })], 1);
    const bytes = ["", "-wal"].map((end) => {
      return new TextDecoder("latin1").decode(Deno.readFileSync(`${folder}/record.db${end}`));
    }).join("");
    file.close();
    assert(!bytes.includes("marker"));
    assert(
      !new TextDecoder("latin1").decode(Deno.readFileSync(`${folder}/record.db`)).includes(
        "marker",
      ),
    );
    assertEquals((Deno.statSync(`${folder}/record.db`).mode ?? 0) & 0o777, 0o600);
  }));

/** Records of one write, whose texts have what a text can have. */
function batch(): WrittenRecord[] {
  const texts = ["", "\ufeffmarked", "a\nb\0c", "🚂 é", '{"a":"\\ud83d"}', "x".repeat(70_000)];
  return Array.from({ length: 40 }, (_, at) => {
    const body = at % 3 === 0 ? null : texts[at % texts.length] ?? "";
    return written(String(at), 1_000 + at, { body, answer: `${at} ${body}` });
  });
}

Deno.test("records that were written together are read as they were written, from anywhere on", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    const records = batch();
    assert(file.write(records, 5_000).ok);
    const expected = records.toReversed().map(({ id, request, response }) => ({
      id,
      request,
      response,
    }));
    const found = allRecords(file).map(({ id, request, response }) => ({ id, request, response }));
    assertEquals(found, expected);
    const ids: string[] = [];
    for (let before: number | null = null;;) {
      const part = scanned(file, { filter: {}, before, limit: 7, withContent: false });
      ids.push(...part.hits.map((hit) => "record" in hit ? hit.record.id : "unreadable"));
      before = part.next;
      if (before === null) break;
    }
    assertEquals(ids, expected.map(({ id }) => id));
    const filter = { since: 1_010, until: 1_012 };
    const { hits } = scanned(file, { filter, before: null, limit: 10, withContent: false });
    assertEquals(hits.map((hit) => "record" in hit && hit.record.id), ["12", "11", "10"]);
    assertEquals([file.info().readable, file.totals().records], [40, 40]);
    // Although the last row has the time of its first record.
    assertEquals(file.info().newest, 1_039);
    file.close();
  }));

Deno.test("a call of more than a minute takes no other record with it when it is too old", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder, { keepMs: 3_600_000 }));
    const now = 10_000_000;
    const starts = [now - 1_000, now - 3_500_000, now, now - 59_000];
    file.write(starts.map((at, index) => written(String(index), at)), now);
    assertEquals(allRecords(file).map(({ id }) => id), ["3", "2", "1", "0"]);
    assertEquals(file.expire(now + 200_000).records, 3);
    assertEquals(allRecords(file).map(({ id }) => id), ["3", "2", "0"]);
    // Of those that began within a minute, the oldest decides: none is ever older.
    assertEquals(file.expire(now + 3_599_500).records, 0);
    file.close();
  }));

Deno.test("a file of the first version, with a row for each record, is read and continues", () =>
  withFolder((folder) => {
    const options = fileOptions(folder);
    const sealer = newSealer(options.keys);
    const encoder = new TextEncoder();
    const database = new DatabaseSync(options.path);
    database.exec(`
      create table record (seq integer primary key autoincrement, at integer not null,
        bytes integer not null, head blob not null, body blob) strict;
      create index record_at on record (at);
      pragma application_id = ${0x53575952}; pragma user_version = 1;
    `);
    for (const [index, id] of ["a", "b"].entries()) {
      const seq = index + 1;
      const { at, head, request, response } = written(id, seq, { body: `"${id}"` });
      const body = encoder.encode(JSON.stringify({ request, response }));
      database.prepare("insert into record values (?, ?, ?, ?, ?)").run(
        ...[seq, at, 500],
        sealer.seal("record_head", seq, encoder.encode(JSON.stringify({ id, at, head }))),
        sealer.seal("record_body", seq, new Uint8Array(deflateRawSync(body, { level: 1 }))),
      );
    }
    database.close();
    const file = openRecordFile(options);
    file.write([written("c", 3, { body: '"c"' }), written("d", 4, { body: '"d"' })], 4);
    const found = allRecords(file).map(({ id, request }) => [id, request?.body]);
    assertEquals(found, [["d", '"d"'], ["c", '"c"'], ["b", '"b"'], ["a", '"a"']]);
    assertEquals([file.info().readable, file.totals().records], [4, 4]);
    assertEquals(file.expire(options.keepMs + 2).records, 3);
    file.close();
  }));

Deno.test("a part that was moved to another row is unreadable, and ends no search", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    for (const [at, id] of ["a", "b", "c"].entries()) file.write([written(id, at)], 3);
    file.close();
    const database = new DatabaseSync(`${folder}/record.db`);
    database.exec("update record set head = (select head from record where seq = 1) where seq = 2");
    database.exec("update record set body = (select body from record where seq = 1) where seq = 3");
    database.close();
    const again = openRecordFile(fileOptions(folder));
    const { hits } = scanned(again, { filter: {}, before: null, limit: 10, withContent: true });
    assertEquals(hits.map((hit) => "record" in hit ? hit.record.id : "unreadable"), [
      "unreadable",
      "unreadable",
      "a",
    ]);
    assertEquals(again.info().readable, 2);
    again.close();
  }));

Deno.test("a part of several records that was moved or whose number was changed is unreadable", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    for (const first of ["a", "c", "e"]) {
      file.write([written(first, 1), written(`${first}2`, 1)], 1);
    }
    file.close();
    const database = new DatabaseSync(`${folder}/record.db`);
    database.exec("update record set head = (select head from record where seq = 4) where seq = 2");
    database.exec("update record set body = (select body from record where seq = 2) where seq = 4");
    database.exec("update record set records = 30 where seq = 6");
    database.close();
    const again = openRecordFile(fileOptions(folder));
    const { hits } = scanned(again, { filter: {}, before: null, limit: 50, withContent: true });
    assert(hits.length > 6 && hits.every((hit) => !("record" in hit)));
    const bare = scanned(again, { filter: {}, before: null, limit: 50, withContent: false });
    assertEquals(bare.hits.flatMap((hit) => "record" in hit ? hit.record.id : []), ["c2", "c"]);
    again.close();
  }));

Deno.test("a changed time or an empty part is unreadable, and ends no search", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    for (const [at, id] of ["a", "b", "c", "d"].entries()) file.write([written(id, at)], 3);
    file.close();
    const database = new DatabaseSync(`${folder}/record.db`);
    database.exec("update record set at = 7 where seq = 2");
    database.exec("update record set head = x'' where seq = 3");
    // No date is that late.
    database.exec("update record set at = 9000000000000000 where seq = 4");
    database.close();
    const again = openRecordFile(fileOptions(folder));
    const { hits } = scanned(again, { filter: {}, before: null, limit: 10, withContent: true });
    assertEquals(hits.map((hit) => "record" in hit ? hit.record.id : hit.seq), [3, 2, "a"]);
    assertEquals(again.info().readable, 1);
    again.close();
  }));

Deno.test("records of a removed key are listed as unreadable with its number", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    file.write([written("a", 1)], 1);
    file.close();
    const other = new Uint8Array(32).fill(1);
    const again = openRecordFile(fileOptions(folder, { keys: [other] }));
    again.write([written("b", 2)], 2);
    const { hits } = scanned(again, { filter: {}, before: null, limit: 10, withContent: false });
    assertEquals(hits.map((hit) => "record" in hit), [true, false]);
    const { readable, unreadable, records } = again.info();
    assertEquals([readable, records, Object.values(unreadable)], [1, 2, [1]]);
    again.close();
  }));

/** Why a file is refused; null if it is opened. */
function problemOpening(options: RecordFileOptions): string | null {
  try {
    openRecordFile(options).close();
    return null;
  } catch (error) {
    return problemOf(error);
  }
}

Deno.test("a file of a newer version, of another program or in use is refused and not changed", () =>
  withFolder((folder) => {
    const options = fileOptions(folder);
    const file = openRecordFile(options);
    if (Deno.build.os === "linux") assertEquals(problemOpening(options), "locked");
    file.close();
    const database = new DatabaseSync(options.path);
    database.exec("pragma user_version = 99");
    database.close();
    const newer = Deno.readFileSync(options.path);
    assertEquals(problemOpening(options), "newer");
    assertEquals(Deno.readFileSync(options.path), newer);
    const state = { ...options, path: `${folder}/other.db` };
    const other = new DatabaseSync(state.path);
    other.exec("create table t (a)");
    other.close();
    const foreign = Deno.readFileSync(state.path);
    assertEquals(problemOpening(state), "foreign");
    assertEquals(Deno.readFileSync(state.path), foreign);
  }));

Deno.test("the file keeps the newest records that have room, and none that is too old", () =>
  withFolder((folder) => {
    let files = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 900_000 })), {
          minLength: 1,
          maxLength: 25,
        }),
        (steps) => {
          const maxBytes = 1024 * 1024;
          const options = fileOptions(folder, { maxBytes, path: `${folder}/${++files}.db` });
          const file = openRecordFile(options);
          let now = 10_000_000;
          const model: { id: string; at: number }[] = [];
          for (const [index, [records, pause]] of steps.entries()) {
            now += pause;
            const ids = Array.from({ length: records }, (_, at) => `${index}-${at}`);
            // Random digits do not become smaller.
            const batch = ids.map((id) =>
              written(id, now, { body: crypto.getRandomValues(new Uint8Array(3_000)).toHex() })
            );
            const result = file.write(batch, now);
            assert(result.ok);
            for (const id of ids) model.push({ id, at: now });
            const found = allRecords(file).map(({ id }) => id).toReversed();
            assertEquals(result.totals.records, found.length);
            // The newest ones, in order, as many as there are.
            assertEquals(found, model.slice(model.length - found.length).map(({ id }) => id));
            const young = model.filter(({ at }) => at >= now - options.keepMs);
            assert(found.length <= young.length, "too old");
            assert(result.totals.bytes <= maxBytes, "too large");
            // Nothing young is deleted while it has room.
            assert(found.length === young.length || result.totals.bytes > maxBytes / 3);
            const sizes = ["", "-wal"].map((end) => Deno.statSync(`${options.path}${end}`).size);
            assert(
              (sizes[0] ?? 0) <= maxBytes + 8 * 1024 * 1024 && (sizes[1] ?? 0) <= 8 * 1024 * 1024,
            );
          }
          file.close();
        },
      ),
      { numRuns: 8 },
    );
  }));

Deno.test("the file does not become larger than its bound while records are written", () =>
  withFolder((folder) => {
    const maxBytes = 4 * 1024 * 1024;
    const file = openRecordFile(fileOptions(folder, { maxBytes }));
    const body = () => crypto.getRandomValues(new Uint8Array(50_000)).toHex();
    for (let batch = 0; batch < 8; batch++) {
      const ids = Array.from({ length: 40 }, (_, at) => `${batch}-${at}`);
      assert(file.write(ids.map((id) => written(id, batch, { body: body() })), batch).ok);
      const { size } = Deno.statSync(`${folder}/record.db`);
      assert(size <= maxBytes, `${size} bytes`);
    }
    file.close();
  }));

Deno.test("on a full disk the oldest records make room for new ones", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder, { maxPages: 300 }));
    const body = () => crypto.getRandomValues(new Uint8Array(2_000)).toHex();
    for (let at = 0; at < 400; at++) {
      assert(file.write([written(String(at), at, { body: body() })], at).ok, String(at));
    }
    const found = allRecords(file).map(({ id }) => Number(id));
    const { records } = file.totals();
    file.close();
    assertEquals([found[0], found.length], [399, records]);
    assert(found.length > 100 && found.length < 400);
    // A record that has no room at all is not written, and the file remains as it is.
    const small = openRecordFile(fileOptions(folder, { maxPages: 300 }));
    const huge = crypto.getRandomValues(new Uint8Array(60_000)).toHex();
    const all = Array.from({ length: 40 }, (_, at) => written(String(at), at, { body: huge + at }));
    assertEquals(small.write(all, 400), { ok: false, problem: "full" });
    assert(allRecords(small).length > 100);
    small.close();
  }));

Deno.test("a smaller bound is applied to the file when it is opened", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    const body = () => crypto.getRandomValues(new Uint8Array(50_000)).toHex();
    for (let at = 0; at < 60; at++) file.write([written(String(at), at, { body: body() })], at);
    file.close();
    assert(Deno.statSync(`${folder}/record.db`).size > 3 * 1024 * 1024);
    const options = fileOptions(folder, { maxBytes: 1024 * 1024 });
    const again = openRecordFile(options);
    again.expire(60);
    const { records } = again.totals();
    again.close();
    assert(Deno.statSync(`${folder}/record.db`).size <= 1024 * 1024);
    assert(records > 5);
    assertEquals(recordsIn(options)[0]?.id, "59");
  }));

Deno.test("credentials are masked before a record is sealed, unless the policy is none", () =>
  withFolder((folder) => {
    const secret = `sk-${"a1B2".repeat(8)}`;
    for (const [policy, expected] of [["credentials", "[api_key]"], ["none", secret]] as const) {
      const file = openRecordFile(fileOptions(folder, { policy, path: `${folder}/${policy}.db` }));
      file.write([written("a", 1, { body: `{"a":"${secret}"}`, answer: secret })], 1);
      const [record] = allRecords(file);
      file.close();
      assertEquals(record?.request?.body, `{"a":"${expected}"}`);
      assertEquals(record?.response?.body, expected);
    }
  }));

Deno.test("records that are written count as such, also if deleting old ones fails", () =>
  withFolder((folder) => {
    const options = fileOptions(folder);
    openRecordFile(options).close();
    const database = new DatabaseSync(options.path);
    database.exec(
      "create trigger kept before delete on record begin select raise(abort, 'kept'); end",
    );
    database.close();
    const file = openRecordFile(options);
    const [old, now] = [1_000, 10 * options.keepMs];
    assertEquals(file.write([written("a", old)], old).ok, true);
    const { ok, ...rest } = file.write([written("b", now)], now);
    assertEquals([ok, "all" in rest && rest.all], [true, 1]);
    assertEquals(allRecords(file).map(({ id }) => id), ["b", "a"]);
    file.close();
  }));

Deno.test("a record names the record that made the response it continues, as far as the process knows it", () =>
  withFolder((folder) => {
    const file = openRecordFile(fileOptions(folder));
    const turn = (id: string, previous: string | null, made: string, isStream = false) => {
      const body = JSON.stringify({ model: "m", previous_response_id: previous ?? undefined });
      const response = { id: made, object: "response", status: "completed", output: [] };
      const head = { api: "responses", path: "/v1/responses" };
      const one = written(id, 1_000, { head, body, answer: JSON.stringify(response) });
      const events = `data: ${JSON.stringify({ type: "response.completed", response })}\n\n`;
      return isStream ? { ...one, response: { headers: {}, body: null, events } } : one;
    };
    file.write([turn("1", null, "resp_1"), turn("2", "resp_1", "resp_2", true)], 1_000);
    file.write([turn("3", "resp_2", "resp_3"), turn("4", "resp_x", "resp_4")], 1_000);
    assertEquals(allRecords(file).map(({ id, previous }) => [id, previous ?? null]), [
      ["4", { response: "resp_x", record: null }],
      ["3", { response: "resp_2", record: "2" }],
      ["2", { response: "resp_1", record: "1" }],
      ["1", null],
    ]);
    file.close();
  }));

Deno.test("a damaged page takes the content of its row, and ends no search", () =>
  withFolder(async (folder) => {
    const options = fileOptions(folder);
    const file = openRecordFile(options);
    for (const id of ["a", "b", "c"]) {
      const body = crypto.getRandomValues(new Uint8Array(40_000)).toHex();
      file.write([written(id, 1_000, { body })], 1_000);
    }
    file.close();
    const bytes = await Deno.readFile(options.path);
    const page = Math.floor(bytes.length / 4_096 / 2) * 4_096;
    // The number of the page that continues the content.
    bytes.fill(0xff, page, page + 4);
    await Deno.writeFile(options.path, bytes);
    const again = openRecordFile(options);
    const { hits } = scanned(again);
    assertEquals(hits.map((hit) => "record" in hit ? hit.record.id : "unreadable"), [
      "c",
      "unreadable",
      "a",
    ]);
    again.close();
  }));
