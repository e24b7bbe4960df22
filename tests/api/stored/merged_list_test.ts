import type { JsonObject } from "../../../src/core/json/json.ts";
import { isObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { answers, got } from "../../support/chat_call.ts";
import { heldTurns } from "../../support/held_turns.ts";
import { type PoolGateway, poolGateway, refusal } from "../../support/pool_gateway.ts";

const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up", api_keys: [{name: a, value: sk-a}, {name: b, value: sk-b}], capabilities: {relay: [files, batches]}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;

/** The time at which each file of an account was created. */
type Files = Readonly<Record<string, number>>;

/** Returns the list of an account as a provider pages it, or one of its files. */
function pageOf(files: Files, url: URL): JsonObject | null {
  const [, , id] = url.pathname.split("/");
  const fileOf = (one: string) => ({ id: one, object: "file", created_at: files[one] ?? 0 });
  if (id !== undefined) return files[id] === undefined ? null : fileOf(id);
  const sign = url.searchParams.get("order") === "asc" ? 1 : -1;
  const ids = Object.keys(files).toSorted((one, other) =>
    sign * ((files[one] ?? 0) - (files[other] ?? 0))
  );
  const start = ids.indexOf(url.searchParams.get("after") ?? "") + 1;
  const limit = Number(url.searchParams.get("limit") ?? 3);
  const data = ids.slice(start, start + limit).map(fileOf);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ids.length,
  };
}

/** A gateway with two accounts that have these files. */
function gateway(accounts: Readonly<Record<string, Files>>, config = CONFIG): PoolGateway {
  const pool = poolGateway(config);
  for (const [key, files] of Object.entries(accounts)) {
    pool.answer(key, ({ url, method }) => {
      if (method === "POST") return answers(200, { id: `${key}-made`, object: "file" });
      const page = pageOf(files, new URL(`http://${url}`));
      return page === null ? answers(404, { error: { message: "none" } }) : answers(200, page);
    });
  }
  return pool;
}

/**
 * Reads a list to its end as an SDK does: each page begins after the last object of the one before.
 */
async function readAll(pool: PoolGateway, query: string, headers = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let after = "";;) {
    const page = await pool.get(`/files?${query}${after}`, headers);
    assertEquals(page.status, 200, page.text);
    const data = Array.isArray(page.json.data) ? page.json.data.filter(isObject) : [];
    ids.push(...data.map(({ id }) => String(id)));
    assert(ids.length < 100);
    if (page.json.has_more !== true || data.length === 0) return ids;
    after = `&after=${ids.at(-1)}`;
  }
}

const EACH = { "sk-a": { a1: 1, a4: 4, a6: 6, a7: 7 }, "sk-b": { b2: 2, b3: 3, b5: 5 } };
const ALL = ["a7", "a6", "b5", "a4", "b3", "b2", "a1"];

for (const limit of ["", "limit=1", "limit=2", "limit=100"]) {
  Deno.test(`the files of several accounts are listed in one order, each once, and to their end (${limit})`, async () => {
    assertEquals(await readAll(gateway(EACH), limit), ALL);
    assertEquals(await readAll(gateway(EACH), `${limit}&order=asc`), ALL.toReversed());
  });
}

Deno.test("the files that two accounts of one project both have are listed once", async () => {
  const files = { f1: 1, f2: 2, f3: 2, f4: 2, f5: 5 };
  for (const limit of ["limit=1", "limit=2", "limit=9"]) {
    assertEquals(await readAll(gateway({ "sk-a": files, "sk-b": files }), limit), [
      "f5",
      "f2",
      "f3",
      "f4",
      "f1",
    ]);
  }
});

Deno.test("files of the same second are all listed, in the order of the accounts", async () => {
  const pool = { "sk-a": { a1: 1, a2: 1 }, "sk-b": { b1: 1, b2: 1 } };
  assertEquals(await readAll(gateway(pool), "limit=1"), ["a1", "a2", "b1", "b2"]);
});

Deno.test("large pages of several accounts are read, and put together, in a turn each", async () => {
  const pool = gateway({});
  const file = { id: "x", object: "file", filename: "x".repeat(256 * 1024) };
  for (const key of Object.keys(EACH)) {
    pool.answer(key, () => answers(200, { object: "list", data: [file], has_more: false }));
  }
  const held = heldTurns();
  Object.assign(pool.gateway.state, { turns: held.turns });
  assertEquals((await pool.get("/files")).status, 200);
  const turns = held.kinds.filter((kind) => kind === "large" || kind === "entering").length;
  // Each page is parsed and cut into objects.
  assertEquals(turns, 2 * 2 + 1);
});

Deno.test("the pages of a client that has left are neither read nor put together", async () => {
  // Each page is parsed in a turn, and cut into objects in another one.
  for (const cut of [2, 5]) {
    const pool = gateway({});
    const file = { id: "x", object: "file", filename: "x".repeat(256 * 1024) };
    for (const key of Object.keys(EACH)) {
      pool.answer(key, () => answers(200, { object: "list", data: [file], has_more: false }));
    }
    const held = heldTurns("large", "entering");
    Object.assign(pool.gateway.state, { turns: held.turns });
    const client = new AbortController();
    const url = "http://localhost/v1/files";
    const answer = pool.app(new Request(url, { signal: client.signal }));
    for (let turn = 1; turn < cut; turn++) {
      await held.waits(1);
      held.begin();
    }
    await held.waits(1);
    client.abort();
    assertEquals(held.waiting(), 0, `turn ${cut}`);
    assertEquals((await got(await answer)).status, 499);
    const turns = held.kinds.filter((kind) => kind === "large" || kind === "entering").length;
    assertEquals(turns, cut);
  }
});

Deno.test("a list with a limit below one, which some providers accept, is one without a limit", async () => {
  const pool = gateway({});
  for (const [key, files] of Object.entries(EACH)) {
    pool.answer(key, () => answers(200, pageOf(files, new URL("http://up/files?limit=9")) ?? {}));
  }
  for (const limit of ["-1", "-Infinity", "0.5", "0", "x"]) {
    const page = await pool.get(`/files?limit=${limit}`);
    const data = Array.isArray(page.json.data) ? page.json.data.filter(isObject) : [];
    assertEquals(data.map(({ id }) => id), ALL, limit);
  }
});

Deno.test("a list of several accounts has the bytes of each object", async () => {
  const pool = gateway(EACH);
  const file = '{"id":"b9", "created_at":9,"n":1.0}';
  pool.answer("sk-b", () => answers(200, `{"object":"list","data":[ ${file} ]}`));
  const page = await pool.get("/files?limit=1");
  assertEquals(
    page.text,
    `{"object":"list","data":[${file}],"first_id":"b9","last_id":"b9","has_more":true}`,
  );
});

Deno.test("the pages of all accounts count in server.max_response_memory while others are read", async () => {
  const pool = gateway({}, CONFIG.replace("value: sk-b}", "value: sk-b}, {name: c, value: sk-c}"));
  const { admission } = pool.gateway.state;
  const heldBytes: number[] = [];
  for (const key of ["sk-a", "sk-b", "sk-c"]) {
    pool.answer(key, () => {
      heldBytes.push(admission.responseBytes());
      const data = [{ id: key, object: "file", created_at: 1, filename: "x".repeat(100_000) }];
      return answers(200, { object: "list", data, has_more: false });
    });
  }
  assertEquals((await pool.get("/files")).status, 200);
  assertEquals([heldBytes.length, heldBytes[0]], [3, 0]);
  assert((heldBytes[2] ?? 0) > 200_000, String(heldBytes));
  assertEquals(admission.responseBytes(), 0);
});

Deno.test("a key sees the files of another key on no page of the list of several accounts", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`a${at}`, 100 + at]));
  const pool = gateway(
    { "sk-a": { ...many, "sk-a-made": 1 }, "sk-b": { "sk-b-made": 2 } },
    twoKeys() + CONFIG,
  );
  const form = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n';
  const type = { "content-type": "multipart/form-data; boundary=b" };
  for (let count = 0; count < 2; count++) {
    assertEquals((await pool.post("/files", form, { ...type, ...keyOf("ada") })).status, 200);
  }
  const ids = await readAll(pool, "limit=1", keyOf("bob"));
  assertEquals(ids.filter((id) => id.endsWith("made")), []);
});

Deno.test("a list of several accounts without objects of the key on 100 pages of each can be continued", async () => {
  const pool = gateway({ "sk-b": {} }, twoKeys() + CONFIG);
  let pages = 0;
  pool.answer("sk-a", ({ method }) => {
    if (method === "POST") return answers(200, { id: "made", object: "file" });
    pages += 1;
    const data = [{ id: `a${pages}`, object: "file", created_at: 1_000 - pages }];
    return answers(200, { object: "list", data, has_more: true });
  });
  const page = await pool.get("/files?limit=1", keyOf("bob"));
  assertEquals([page.json.data, page.json.last_id, page.json.has_more], [[], `a${pages}`, true]);
  assert(pages >= 100 && pages <= 200, String(pages));
});

Deno.test("a list leaves out the account of a refused key, and waits for one that is over its rate", async () => {
  const refused = gateway(EACH);
  refused.answer("sk-a", refusal(401));
  assertEquals(await readAll(refused, "limit=2"), ["b5", "b3", "b2"]);
  refused.answer("sk-b", refusal(401));
  assertEquals((await refused.get("/files")).status >= 400, true);
  const throttled = gateway(EACH);
  throttled.answer("sk-a", refusal(429, { "retry-after": "9" }));
  const reply = await throttled.get("/files");
  assertEquals([reply.status, reply.headers.get("retry-after")], [429, "9"]);
});

Deno.test("a cursor that must not become a part of a path is sent in the query alone", async () => {
  const pool = gateway(EACH);
  await pool.get("/files?after=..%2Fmodels");
  assert(pool.requests.length > 0);
  assert(pool.requests.every(({ url }) => new URL(`http://${url}`).pathname === "/files"));
});

Deno.test("a list of 10,000 objects of two accounts is put together", async () => {
  const data = Array.from({ length: 10_000 }, (_, at) => `{"id":"f${at}"}`).join(",");
  const pool = poolGateway(CONFIG);
  for (const key of ["sk-a", "sk-b"]) {
    pool.answer(key, () => answers(200, `{"object":"list","has_more":false,"data":[${data}]}`));
  }
  const { status, json } = await pool.get("/files");
  assertEquals([status, Array.isArray(json.data) && json.data.length], [200, 10_000]);
});
