import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { heldTurns } from "../../support/held_turns.ts";
import {
  naming,
  nativeConfig,
  nativeGateway,
  type SentRequest,
} from "../../support/native_gateway.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { withOutage } from "../../support/outage.ts";
import { refusalOf } from "../../support/state_call.ts";

const CAN = ["relay: [files, batches]"];
const TWO = nativeConfig({ first: { can: CAN }, second: { can: CAN } });
const ONCE = TWO.replace("{initial_delay: 1ms, max_attempts: 2}", "{enabled: false}");
const FORM = { "content-type": "multipart/form-data; boundary=b" };
const FILE = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n';
const JSON_TYPE = "application/json";
const BATCH = { endpoint: "/v1/embeddings", completion_window: "24h" };

/**
 * Upstreams that store one file, one batch and one upload each, whose IDs begin with their names.
 */
function stored({ host, method, path }: SentRequest): { readonly body: JsonObject } {
  const [, kind = "", id, act] = path.split("/");
  const object = kind === "files" ? "file" : kind === "batches" ? "batch" : "upload";
  if (method === "DELETE") return { body: { id: id ?? "", object, deleted: true } };
  if (method === "GET" && id === undefined) {
    return { body: { object: "list", data: [{ id: `${host}-${object}` }], has_more: false } };
  }
  const body = { id: id ?? `${host}-${object}`, object };
  if (act === "complete") {
    return { body: { ...body, file: { id: `${host}-made`, object: "file" } } };
  }
  return { body: object === "batch" ? { ...body, output_file_id: `${host}-out` } : body };
}

testOverStores("later requests go to the provider that has made the object", async () => {
  const calls = nativeGateway(TWO, stored);
  const made = await calls.post("/files", FILE, { ...FORM, ...naming("second") });
  assertEquals([made.status, made.json.id], [200, "second-file"]);
  await calls.get("/files/second-file");
  assertEquals(calls.lastRequest(), "second GET /files/second-file");
  await calls.post("/batches", { ...BATCH, input_file_id: "second-file" });
  assertEquals(calls.lastRequest(), "second POST /batches");
  await calls.get("/files/second-out/content");
  assertEquals(calls.lastRequest(), "second GET /files/second-out/content");
  await calls.post("/batches/second-batch/cancel");
  assertEquals(calls.lastRequest(), "second POST /batches/second-batch/cancel");
  await calls.delete("/files/second-file");
  assertEquals(calls.lastRequest(), "second DELETE /files/second-file");
  const gone = await calls.get("/files/second-file");
  assertEquals(refusalOf(gone), [404, "object_not_found", "file_id"]);
});

testOverStores(
  "the results of a batch belong to its account and its key as soon as a list names them",
  async () => {
    const ada = keyOf("ada"), bob = keyOf("bob");
    const page = {
      object: "list",
      data: [{ id: "b", output_file_id: "out", error_file_id: "bad" }],
    };
    const calls = nativeGateway(twoKeys() + TWO, ({ method, path }) => ({
      body: path.startsWith("/files/")
        ? { id: path.slice("/files/".length), object: "file" }
        : method === "GET"
        ? page
        : { id: "b", object: "batch" },
    }));
    await calls.post("/batches", BATCH, { ...ada, ...naming("second") });
    await calls.get("/batches", { ...bob, ...naming("second") });
    assertEquals((await calls.get("/files/out", ada)).status, 404);
    await calls.get("/batches", { ...ada, ...naming("second") });
    for (const id of ["out", "bad"]) {
      assertEquals((await calls.get(`/files/${id}`, ada)).status, 200);
      assertEquals(calls.lastRequest(), `second GET /files/${id}`);
      assertEquals((await calls.get(`/files/${id}`, bob)).status, 404);
    }
  },
);

Deno.test("a list binds the results of a batch once, however often it names the batch", async () => {
  const data = Array.from({ length: 400 }, () => ({ id: "b", output_file_id: "out" }));
  const { calls, outage } = await withOutage((optionsIn) =>
    nativeGateway(
      TWO,
      ({ method }) => ({
        body: method === "GET" ? { object: "list", data } : { id: "b", object: "batch" },
      }),
      optionsIn,
    )
  );
  await calls.post("/batches", BATCH, naming("second"));
  assertEquals((await calls.get("/batches", naming("second"))).json.data, data);
  const binds = outage.raw.operations.filter((operation) => operation === "owner_bind");
  assertEquals(binds.length, 2, "the batch, then its file");
});

Deno.test("each of many batches of a list has its results bound in a turn of the event loop", async () => {
  async function turnsOf(count: number): Promise<number> {
    let made = 0;
    const data = Array.from(
      { length: count },
      (_, at) => ({ id: `b${at}`, output_file_id: `o${at}` }),
    );
    const calls = nativeGateway(TWO, ({ method }) => ({
      body: method === "GET" ? { object: "list", data } : { id: `b${made++}`, object: "batch" },
    }));
    for (let at = 0; at < count; at++) await calls.post("/batches", BATCH, naming("second"));
    const held = heldTurns();
    Object.assign(calls.state, { turns: held.turns });
    assertEquals((await calls.get("/batches", naming("second"))).json, { object: "list", data });
    return held.kinds.filter((kind) => kind === "rest").length;
  }
  assertEquals(await turnsOf(500) - await turnsOf(499), 500);
});

testOverStores("the file that an upload becomes belongs to the account of the upload", async () => {
  const calls = nativeGateway(TWO, stored);
  await calls.post("/uploads", { filename: "x" }, naming("second"));
  await calls.post("/uploads/second-upload/complete", { part_ids: [] });
  await calls.get("/files/second-made");
  assertEquals(calls.lastRequest(), "second GET /files/second-made");
});

Deno.test("new objects and lists go to the only capable provider, or to the named one", async () => {
  const two = nativeGateway(TWO, stored);
  assertEquals(refusalOf(await two.get("/files")), [400, "ambiguous_provider", "provider"]);
  assertEquals((await two.get("/batches?limit=2", naming("second"))).status, 200);
  assertEquals(two.lastRequest(), "second GET /batches?limit=2");
  const one = nativeGateway(nativeConfig({ first: {}, second: { can: CAN } }), stored);
  assertEquals((await one.get("/files")).status, 200);
  assertEquals((await one.post("/files", FILE, FORM)).status, 200);
  assertEquals(one.requests.map(({ host }) => host), ["second", "second"]);
});

testOverStores("an object with the same ID as one of another kind has an owner apart", async () => {
  const calls = nativeGateway(TWO, ({ path }) => ({
    body: { id: "same", object: path.startsWith("/files") ? "file" : "upload" },
  }));
  await calls.post("/files", FILE, { ...FORM, ...naming("first") });
  await calls.post("/uploads", { filename: "x" }, naming("second"));
  await calls.get("/files/same");
  assertEquals(calls.lastRequest(), "first GET /files/same");
  await calls.post("/uploads/same/cancel");
  assertEquals(calls.lastRequest(), "second POST /uploads/same/cancel");
});

testOverStores("a key sees neither the files of another key nor batches over them", async () => {
  const ada = keyOf("ada"), bob = keyOf("bob");
  const calls = nativeGateway(twoKeys() + nativeConfig({ first: { can: CAN } }), stored);
  await calls.post("/files", FILE, { ...FORM, ...ada });
  const file = await calls.get("/files/first-file", bob);
  assertEquals(refusalOf(file), [404, "object_not_found", "file_id"]);
  const named = await calls.get("/files/first-file", { ...bob, ...naming("first") });
  assertEquals(refusalOf(named), [404, "object_not_found", "file_id"]);
  for (const headers of [bob, { ...bob, ...naming("first") }]) {
    const batch = await calls.post("/batches", { ...BATCH, input_file_id: "first-file" }, headers);
    assertEquals(refusalOf(batch), [404, "object_not_found", "input_file_id"]);
  }
  assertEquals((await calls.get("/files", bob)).json.data, []);
  assertEquals((await calls.get("/files", ada)).json.data, [{ id: "first-file" }]);
});

testOverStores(
  "an object that is created with status 201 is the client's with that status, and has its owner",
  async () => {
    const calls = nativeGateway(TWO, (sent) => ({
      status: sent.method === "POST" ? 201 : 200,
      ...stored(sent),
    }));
    const made = await calls.post("/files", FILE, { ...FORM, ...naming("second") });
    assertEquals([made.status, made.json.id], [201, "second-file"]);
    assertEquals((await calls.get("/files/second-file")).status, 200);
    assertEquals(calls.lastRequest(), "second GET /files/second-file");
  },
);

Deno.test("a creation without its object is a fault, whatever its status of success", async () => {
  for (const status of [201, 204]) {
    const calls = nativeGateway(
      nativeConfig({ first: { can: CAN } }),
      () => ({ status, body: {} }),
    );
    const made = await calls.post("/files", FILE, FORM);
    assertEquals(refusalOf(made), [502, "invalid_upstream_response", null]);
    assertEquals(calls.requests.length, 1);
  }
});

Deno.test("a change is repeated only if it was certainly not taken, a read always", async () => {
  const cases = [
    ["POST", 503, 2],
    ["POST", 500, 1],
    ["GET", 500, 2],
  ] as const;
  for (const [method, status, requests] of cases) {
    const calls = nativeGateway(
      nativeConfig({ first: { can: CAN } }),
      () => ({ status, body: {} }),
    );
    const called = method === "GET" ? calls.get("/files") : calls.post("/files", FILE, FORM);
    for (let wait = 0; wait < 3; wait++) await calls.world.advance(60_000);
    assertEquals((await called).status, status);
    assertEquals(calls.requests.length, requests, `${method} ${status}`);
  }
});

Deno.test("an ID that no provider has returned must not lead to another path", async () => {
  const calls = nativeGateway(nativeConfig({ first: { can: CAN } }), stored);
  const answer = await calls.get("/files/..%2Fmodels", naming("first"));
  assertEquals(refusalOf(answer), [400, "invalid_value", "file_id"]);
  assertEquals(calls.requests.length, 0);
});

Deno.test("a hostile multipart body reaches no provider", async () => {
  const calls = nativeGateway(nativeConfig({ first: { can: CAN } }), stored);
  for (
    const [body, type] of [[FILE, "text/plain"], [FILE.replace("--b--", ""), FORM["content-type"]]]
  ) {
    const answer = await calls.post("/files", body, { "content-type": type ?? "" });
    assertEquals(refusalOf(answer), [400, "invalid_multipart", null]);
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("an upload above server.max_upload is 413, and one above server.max_body_memory 503", async () => {
  const providers = nativeConfig({ first: { can: CAN } });
  const small = nativeGateway(`server: {max_upload: 64}\n${providers}`, stored);
  assertEquals(refusalOf(await small.post("/files", FILE, FORM)), [413, "request_too_large", null]);
  const full = nativeGateway(`server: {max_body_memory: 64}\n${providers}`, stored);
  assertEquals(refusalOf(await full.post("/files", FILE, FORM)), [503, "overloaded", null]);
});

Deno.test("an upload may be a part of 64 MiB of the Python SDK with its form, by default", async () => {
  const calls = nativeGateway(nativeConfig({ first: { can: CAN } }), stored);
  const codeFor = async (bytes: number) => {
    const headers = { ...FORM, "content-length": String(bytes) };
    return (await calls.post("/files", FILE, headers)).error?.code;
  };
  const mib = 1024 * 1024;
  assertEquals(await codeFor(64 * mib + 4_096), undefined);
  assertEquals(await codeFor(68 * mib + 1), "request_too_large");
});

Deno.test("a batch is refused for a key with some models only, with budgets or with a rate of tokens", async () => {
  const cases = [
    ["models: [m]", [403, "model_not_allowed", null]],
    ["budgets: [{per: day, tokens: 5}]", [400, "unsupported_feature", null]],
    ["tokens_per_minute: 5", [400, "unsupported_feature", null]],
    ["requests_per_minute: 5, providers: [first]", [200, undefined, undefined]],
  ] as const;
  for (const [limits, expected] of cases) {
    const security = twoKeys().replace("value: key-of-ada", `value: key-of-ada, ${limits}`);
    const calls = nativeGateway(security + nativeConfig({ first: { can: CAN } }), stored);
    const ada = keyOf("ada");
    assertEquals((await calls.post("/files", FILE, { ...FORM, ...ada })).status, 200);
    const batch = await calls.post("/batches", { ...BATCH, input_file_id: "first-file" }, ada);
    assertEquals(refusalOf(batch), expected, limits);
    assertEquals(calls.requests.length, expected[0] === 200 ? 2 : 1);
  }
});

Deno.test("a list that no provider has is refused without a parameter unless the client names a provider", async () => {
  const calls = nativeGateway(nativeConfig({ first: {} }), stored);
  assertEquals(refusalOf(await calls.get("/files")), [400, "unsupported_feature", null]);
  const named = await calls.get("/files", naming("first"));
  assertEquals(refusalOf(named), [400, "unsupported_feature", "provider"]);
});

Deno.test("a deletion that the provider confirms without a body is the deletion object for the client", async () => {
  const calls = nativeGateway(
    nativeConfig({ first: { can: CAN } }),
    (request) => request.method === "DELETE" ? { status: 204, body: "" } : stored(request),
  );
  await calls.post("/files", FILE, FORM);
  const deleted = await calls.delete("/files/first-file");
  assertEquals([deleted.status, deleted.json], [
    200,
    { id: "first-file", object: "file", deleted: true },
  ]);
  await calls.get("/files/first-file");
  assertEquals(calls.lastRequest(), "first GET /files/first-file");
});

Deno.test("the content of a stored file may be an HTML page, which is delivered as it is", async () => {
  const headers = { "content-type": "text/html" };
  const calls = nativeGateway(ONCE, () => ({ headers, body: "<!doctype html>" }));
  const got = await calls.get("/files/f/content", naming("second"));
  assertEquals([got.status, got.text], [200, "<!doctype html>"]);
  assertEquals(got.headers.get("content-type"), "text/html");
});

Deno.test("a part of a file's content is the response to a requested range alone", async () => {
  const part: Record<string, string> = {
    "content-type": "application/jsonl",
    "content-range": "bytes 2-3/9",
  };
  const calls = nativeGateway(ONCE, ({ headers }) => ({
    status: headers.get("range") === "bytes=90-" ? 416 : 206,
    headers: headers.get("range") === "bytes=90-" ? { "content-range": "bytes */9" } : part,
    body: "cd",
  }));
  const content = "/files/f/content";
  const ranged = { ...naming("second"), range: "bytes=2-3", "if-range": '"v1"' };
  const got = await calls.get(content, ranged);
  assertEquals([got.status, got.text], [206, "cd"]);
  assertEquals(got.headers.get("content-range"), "bytes 2-3/9");
  assertEquals(calls.requests.at(-1)?.headers.get("if-range"), '"v1"');
  const beyond = await calls.get(content, { ...naming("second"), range: "bytes=90-" });
  assertEquals([beyond.status, beyond.headers.get("content-range")], [416, "bytes */9"]);
  assertEquals((await calls.get(content, naming("second"))).status, 502);
  part["content-encoding"] = "gzip";
  const packed = await calls.get(content, ranged);
  assertEquals([packed.status, packed.error.code], [502, "invalid_upstream_response"]);
  // The facts of a file have no ranges.
  await calls.get("/files/f", ranged);
  assertEquals(calls.requests.at(-1)?.headers.get("range"), null);
});

Deno.test("an ID whose encoded bytes are no UTF-8 is refused, because the provider would get another one", async () => {
  const calls = nativeGateway(ONCE, stored);
  for (const id of ["%ff", "%C3%A4%ff", "%zz", "file-%", "%E4%B8"]) {
    for (const act of ["", "/content"]) {
      const response = await calls.get(`/files/${id}${act}`, naming("second"));
      assertEquals(refusalOf(response), [400, "invalid_value", null], id);
    }
    const cancelled = await calls.post(`/batches/${id}/cancel`, undefined, naming("second"));
    assertEquals(refusalOf(cancelled), [400, "invalid_value", null], id);
  }
  assertEquals(calls.requests.length, 0);
  for (const id of ["%25ff", "%E4%B8%96", "file-%25"]) {
    await calls.get(`/files/${id}`, naming("second"));
    assertEquals(calls.lastRequest(), `second GET /files/${id}`);
  }
});

Deno.test("an object with the content type of something else is named as JSON", async () => {
  const calls = nativeGateway(TWO, (sent) => ({
    ...stored(sent),
    headers: { "content-type": "text/event-stream" },
  }));
  await calls.post("/files", FILE, { ...FORM, ...naming("second") });
  for (const path of ["/files/second-file", "/files"]) {
    const response = await calls.get(path, naming("second"));
    assertEquals([response.status, response.headers.get("content-type")], [200, JSON_TYPE], path);
  }
});

const DAY_MS = 24 * 3_600_000;

testOverStores(
  "a batch that runs for days is its maker's, and lasts while it is used",
  async () => {
    const calls = nativeGateway(twoKeys() + TWO, stored);
    const ada = keyOf("ada");
    const made = await calls.post("/batches", BATCH, { ...ada, ...naming("second") });
    assertEquals(made.status, 200, made.text);
    for (const days of [1, 29, 29]) {
      await calls.world.advance(days * DAY_MS);
      assertEquals((await calls.get("/batches/second-batch", ada)).status, 200);
      assertEquals(calls.lastRequest(), "second GET /batches/second-batch");
      assertEquals((await calls.get("/files/second-out", ada)).status, 200);
    }
  },
);

testOverStores(
  "without isolation an unknown ID goes to the only capable account, and to none of several",
  async () => {
    const one = nativeGateway(nativeConfig({ first: {}, second: { can: CAN } }), stored);
    assertEquals((await one.get("/files/old")).status, 200);
    await one.post("/batches/old/cancel");
    assertEquals(one.lastRequest(), "second POST /batches/old/cancel");
    await one.post("/batches", { ...BATCH, input_file_id: "old" });
    assertEquals(one.lastRequest(), "second POST /batches");
    const unsafe = await one.get("/files/a%2F..%2Fb");
    assertEquals(refusalOf(unsafe), [400, "invalid_value", "file_id"]);
    const keys = "api_keys: [{name: a, value: sk-a}, {name: b, value: sk-b}]";
    const pool = nativeConfig({ second: { can: CAN, more: [keys] } })
      .replace(" api_key: sk-second,", "");
    for (const config of [TWO, pool]) {
      const several = nativeGateway(config, stored);
      const unknown = await several.get("/files/old");
      assertEquals(refusalOf(unknown), [404, "object_not_found", "file_id"]);
      assertEquals(several.requests, []);
    }
  },
);

testOverStores("to an isolated key an unknown ID is unknown unless it adopts it", async () => {
  const ada = keyOf("ada"), bob = keyOf("bob");
  const only = nativeConfig({ first: { can: CAN } });
  const calls = nativeGateway(twoKeys("", ", adopt_unknown: true") + only, stored);
  await calls.post("/files", FILE, { ...FORM, ...ada });
  const sent = calls.requests.length;
  const reads = [
    ["/files/old", ada],
    ["/files/old", { ...ada, ...naming("first") }],
    ["/files/first-file", bob],
    ["/files/first-file", { ...bob, ...naming("first") }],
  ] as const;
  for (const [path, headers] of reads) {
    for (const reply of [await calls.get(path, headers), await calls.delete(path, headers)]) {
      assertEquals(refusalOf(reply), [404, "object_not_found", "file_id"]);
    }
  }
  const over = { ...BATCH, input_file_id: "old" };
  for (const headers of [ada, { ...ada, ...naming("first") }]) {
    const batch = await calls.post("/batches", over, headers);
    assertEquals(refusalOf(batch), [404, "object_not_found", "input_file_id"]);
  }
  assertEquals(calls.requests.length, sent);
  assertEquals((await calls.get("/files/old", bob)).status, 200);
  assertEquals((await calls.post("/batches", over, bob)).status, 200);
});

testOverStores("reads and actions make no key the owner, only a create does", async () => {
  const ada = keyOf("ada"), bob = keyOf("bob");
  const shared = twoKeys(", isolate_clients: false") + TWO;
  const calls = nativeGateway(shared, stored);
  const owners = () => calls.state.objects.stats().relayed_object_bindings.entries;
  for (const path of ["/files/old", "/batches/old", "/files/old/content"]) {
    assertEquals((await calls.get(path, { ...bob, ...naming("second") })).status, 200);
  }
  for (const path of ["/batches/old/cancel", "/uploads/old/complete", "/uploads/old/parts"]) {
    await calls.post(path, path.endsWith("parts") ? FILE : {}, {
      ...path.endsWith("parts") && FORM,
      ...bob,
      ...naming("second"),
    });
  }
  assertEquals(owners(), 0);
  await calls.post("/uploads", { filename: "x" }, { ...ada, ...naming("second") });
  await calls.post("/uploads/second-upload/complete", { part_ids: [] }, bob);
  await calls.post("/batches", BATCH, { ...ada, ...naming("second") });
  await calls.post("/batches/second-batch/cancel", "", bob);
  await calls.get("/batches/second-batch", bob);
  await calls.get("/batches", { ...bob, ...naming("second") });
  calls.reload(twoKeys() + TWO);
  for (const path of ["/uploads/second-upload/cancel", "/batches/second-batch/cancel"]) {
    assertEquals((await calls.post(path, "", bob)).status, 404);
    assertEquals((await calls.post(path, "", ada)).status, 200);
  }
  for (const path of ["/files/second-made", "/files/second-out", "/batches/second-batch"]) {
    assertEquals((await calls.get(path, bob)).status, 404);
    assertEquals((await calls.get(path, ada)).status, 200);
  }
});
