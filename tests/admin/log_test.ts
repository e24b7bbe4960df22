import { openRecordFile, type ScanResult } from "../../src/record/record_file.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testAdmin } from "../support/admin.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { fileOptions, withFolder, written } from "../record/support.ts";

const PASSWORD = "a long password";
const RIGHT = { authorization: `Basic ${btoa(`me:${PASSWORD}`)}` };
const SETTINGS = `{enabled: true, password: ${PASSWORD}}`;

const SIZES = { isOn: true, bytes: 1, oldestMs: 1, queueChars: 0, dropped: 0 };

/** A listener over a file with three records, and what it has logged. */
async function withListener(
  settings: string,
  test: (
    get: ReturnType<typeof testAdmin>["get"],
    lines: readonly string[],
    scans: { count: number },
  ) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const file = openRecordFile(fileOptions(folder));
    file.write([
      written("id-1", 1_000, { head: { key: "ada" }, body: '{"prompt":"secret question"}' }),
      written("id-2", 2_000, { head: { status: 502, end: "upstream_status" }, body: null }),
      written("id-3", 3_000, { head: { key: "ada" }, body: '{"prompt":"<b>other</b>"}' }),
    ], 3_000);
    const lines: string[] = [];
    const scans = { count: 0 };
    const { get } = testAdmin(oneProvider("http://up"), scriptedWorld(), settings, {
      recorder: {
        scan(request) {
          scans.count++;
          return Promise.resolve(file.scan(request));
        },
        sizes: () => SIZES,
      },
      log: { info: (text, fields) => void lines.push(`${text} ${JSON.stringify(fields)}`) },
    });
    await test(get, lines, scans);
    file.close();
  });
}

async function linesOf(response: Response): Promise<readonly Record<string, unknown>[]> {
  const text = await response.text();
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

Deno.test("records are 404 without a password, and 401 without the right one, on loopback too", async () => {
  await withListener("{enabled: true}", async (get) => {
    for (const path of ["/log", "/log/id-1"]) {
      const response = await get(path);
      assertEquals(response.status, 404, path);
      await response.body?.cancel();
    }
  });
  await withListener(SETTINGS, async (get) => {
    for (const path of ["/log", "/log/id-1"]) {
      for (const headers of [{}, { authorization: `Basic ${btoa("me:wrong")}` }]) {
        const response = await get(path, { headers });
        assertEquals(response.status, 401, path);
        await response.body?.cancel();
      }
    }
  });
});

Deno.test("a search answers with JSON lines, the newest first, with content only if it is requested", () =>
  withListener(SETTINGS, async (get, lines) => {
    const response = await get("/log?key=ada&limit=5", { headers: RIGHT });
    assertEquals(response.headers.get("content-type"), "application/x-ndjson");
    const hits = await linesOf(response);
    const records = hits.map(({ record }) => record as Record<string, unknown>);
    assertEquals(records.map(({ id, request }) => [id, request]), [
      ["id-3", undefined],
      ["id-1", undefined],
    ]);
    assertEquals(lines, []);
    const whole = await linesOf(await get("/log?content=true", { headers: RIGHT }));
    assert(JSON.stringify(whole).includes("secret question"));
    assertEquals(lines.map((line) => line.replace(/ .*/, "")), ["records"]);
  }));

Deno.test("a look at one record is logged with its ID, and never with its content", () =>
  withListener(SETTINGS, async (get, lines) => {
    const response = await get("/log/id-1", { headers: RIGHT });
    const { record, dialogue, curl } = await response.json();
    assertEquals(record.request.body, '{"prompt":"secret question"}');
    assertEquals(dialogue[0], { role: "user", text: "secret question" });
    assert(curl.includes("$SWITCHYARD_KEY"));
    assertEquals(lines, ['record read {"id":"id-1","address":""}']);
    const none = await get("/log/nothing", { headers: RIGHT });
    assertEquals([none.status, await none.text()], [404, "There is no record of this call.\n"]);
  }));

Deno.test("a wrong parameter is 400 with its name", () =>
  withListener(SETTINGS, async (get) => {
    for (
      const query of [
        "since=soon",
        "limit=0",
        "limit=2000",
        "cursor=x",
        "min-ms=a",
        "in=tools",
        "any=1",
      ]
    ) {
      const response = await get(`/log?${query}`, { headers: RIGHT });
      const [name = ""] = query.split("=");
      assertEquals([response.status, (await response.text()).split(" ")[0]], [400, name]);
    }
  }));

Deno.test("an export has no limit, with content and without, whatever a list has", () =>
  withListener(SETTINGS, async (get, lines) => {
    for (const limit of ["Infinity", "2000"]) {
      for (const content of ["true", "none"]) {
        const found = await linesOf(
          await get(`/log?limit=${limit}&content=${content}`, { headers: RIGHT }),
        );
        assertEquals(found.length, 3);
        assertEquals(JSON.stringify(found).includes("secret question"), content === "true");
      }
    }
    assertEquals(lines.length, 2);
  }));

Deno.test("a search ends when its reader leaves, and at most five run at a time", () =>
  withListener(SETTINGS, async (get, _lines, scans) => {
    const open = [];
    for (let search = 0; search < 5; search++) open.push(await get("/log", { headers: RIGHT }));
    const sixth = await get("/log", { headers: RIGHT });
    assertEquals(sixth.status, 503);
    await sixth.body?.cancel();
    assertEquals(scans.count, 0);
    for (const { body } of open) await body?.cancel();
    assertEquals(scans.count, 0);
    assertEquals((await linesOf(await get("/log", { headers: RIGHT }))).length, 3);
  }));

Deno.test("a search that finds nothing ends when its reader leaves, and counts once", async () => {
  const scans: PromiseWithResolvers<ScanResult>[] = [];
  const { get } = testAdmin(oneProvider("http://up"), scriptedWorld(), SETTINGS, {
    recorder: {
      scan() {
        const scan = Promise.withResolvers<ScanResult>();
        scans.push(scan);
        return scan.promise;
      },
      sizes: () => SIZES,
    },
  });
  for (let search = 1; search <= 6; search++) {
    const { body, status } = await get("/log?text=nothing", { headers: RIGHT });
    assertEquals(status, 200);
    const reader = body?.getReader();
    const read = reader?.read();
    const left = reader?.cancel();
    // It would go on before the record with this number.
    scans.at(-1)?.resolve({ hits: [], next: 1, closed: 0 });
    assertEquals((await read)?.done, true);
    await left;
    assertEquals(scans.length, search);
  }
  const open = [];
  for (let search = 0; search < 5; search++) open.push(await get("/log", { headers: RIGHT }));
  const sixth = await get("/log", { headers: RIGHT });
  assertEquals(sixth.status, 503);
  for (const { body } of [...open, sixth]) await body?.cancel();
});

Deno.test("a search says at its end how many records it has passed by because they cannot be opened", async () => {
  const parts = [{ hits: [], next: 9, closed: 2 }, { hits: [], next: null, closed: 1 }];
  const { get } = testAdmin(oneProvider("http://up"), scriptedWorld(), SETTINGS, {
    recorder: { scan: () => Promise.resolve(parts.shift() ?? null), sizes: () => SIZES },
  });
  assertEquals(await linesOf(await get("/log?key=ada", { headers: RIGHT })), [{ closed: 3 }]);
});
