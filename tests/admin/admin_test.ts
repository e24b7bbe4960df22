import { createHash } from "node:crypto";
import { PAGE_FILES } from "../../src/admin/page_files.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { testAdmin } from "../support/admin.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const PLAIN = oneProvider("http://up");

/** A listener over one provider that always answers. */
function listener(config = PLAIN, settings = "{enabled: true}") {
  return testAdmin(config, scriptedWorld({ fetch: () => answers(200, COMPLETION) }), settings);
}

Deno.test("every file of the page is served under its name, with the libraries that it uses", async () => {
  const { get } = listener();
  const folder = new URL("../../src/admin/page/", import.meta.url);
  for (const { name } of Deno.readDirSync(folder)) {
    const response = await get(name === "page.html" ? "/" : `/${name}`);
    assertEquals([response.status, await response.text()], [
      200,
      Deno.readTextFileSync(new URL(name, folder)),
    ], name);
  }
  const page = await (await get("/")).text();
  const [, map = "{}"] = /<script type="importmap">([^]*?)<\/script>/.exec(page) ?? [];
  const used = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
  const { imports } = JSON.parse(map) as { imports: Record<string, string> };
  for (const path of [...used, ...Object.values(imports)]) {
    const response = await get(path);
    assertEquals(response.status, 200, path);
    assertMatch(response.headers.get("content-type") ?? "", /^text\/(javascript|css); /, path);
    await response.body?.cancel();
  }
});

Deno.test("libraries of the page name no source map, which is not served", () => {
  for (const [path, { text }] of PAGE_FILES) assert(!text.includes("sourceMappingURL"), path);
});

Deno.test("the content policy permits no inline script but the import map, and the gateway as the only other address", async () => {
  const { get } = listener(`server: {allowed_hosts: [gateway.example]}\n${PLAIN}`);
  const response = await get("/", { headers: { host: "10.0.0.5:8081" } });
  const [, map = ""] = /<script type="importmap">([^]*?)<\/script>/.exec(await response.text()) ??
    [];
  const digest = createHash("sha256").update(map).digest("base64");
  assertEquals(
    response.headers.get("content-security-policy"),
    `default-src 'none'; script-src 'self' 'sha256-${digest}'; style-src 'self'; ` +
      "connect-src 'self' http://127.0.0.1:8080 http://10.0.0.5:8080 http://localhost:8080 " +
      "http://gateway.example:* https://gateway.example:*; " +
      "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

Deno.test("the page is served to a Host with a zone, of which the runtime makes an invalid URL", async () => {
  const { admin } = listener();
  const host = "[fe80::1%eth0]:8081";
  const request = new Request("http://localhost/status.js", { headers: { host } });
  for (const [path, status] of [["/", 200], ["/nowhere", 404]] as const) {
    Object.defineProperty(request, "url", { value: `http://${host}${path}`, configurable: true });
    assertEquals((await admin.handle(request)).status, status);
  }
});

Deno.test("a Host header cannot write into the content policy", async () => {
  const { get } = listener();
  const response = await get("/", { headers: { host: "localhost; script-src *" } });
  assertEquals(response.status, 403);
  const policy = response.headers.get("content-security-policy") ?? "";
  assert(!policy.includes("script-src *"), policy);
  await response.body?.cancel();
});

Deno.test("every response of the admin listener has the headers against sniffing, framing, referrers and caches", async () => {
  const { get } = listener();
  const paths = ["/", "/page.js", "/snapshot", "/explain", "/usage", "/none", "/usage?by=x"];
  for (const path of paths) {
    const { headers, body } = await get(path);
    await body?.cancel();
    assertEquals(headers.get("x-content-type-options"), "nosniff", path);
    assertEquals(headers.get("referrer-policy"), "no-referrer", path);
    assertEquals(headers.get("cache-control"), "no-store, no-transform", path);
    assertEquals(headers.get("x-frame-options"), "DENY", path);
    assertStringIncludes(headers.get("content-security-policy") ?? "", "frame-ancestors 'none'");
  }
});

Deno.test("a bug of the admin listener is reported, and answered with the headers of every response", async () => {
  const bugs: unknown[] = [];
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const bug = new Error("a bug");
  const { get } = testAdmin(PLAIN, world, undefined, {
    gatewayUrl() {
      throw bug;
    },
    onBug: (error) => bugs.push(error),
  });
  const { status, headers, body } = await get("/");
  await body?.cancel();
  assertEquals([status, bugs], [500, [bug]]);
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assertEquals(
    headers.get("content-security-policy"),
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

Deno.test("refused requests and unknown paths of the admin listener get their statuses", async () => {
  const { get } = listener(PLAIN, "{enabled: true, password: right}");
  const authorization = `Basic ${btoa("me:right")}`;
  const statuses = [
    [{ method: "POST", headers: { authorization } }, "/", 405, "GET, HEAD"],
    [{ headers: { authorization } }, "/none", 404, null],
    [{ headers: { authorization } }, "/../deno.json", 404, null],
    [{ headers: { authorization, host: "evil.example" } }, "/", 403, null],
    [{ headers: { authorization, origin: "http://evil.example" } }, "/snapshot", 403, null],
    [{ headers: {} }, "/events", 401, null],
    [{ headers: { authorization } }, "/snapshot", 200, null],
    [{ method: "HEAD", headers: { authorization } }, "/events", 200, null],
  ] as const;
  for (const [init, path, status, allow] of statuses) {
    const response = await get(path, init);
    assertEquals([response.status, response.headers.get("allow")], [status, allow], path);
    await response.body?.cancel();
  }
});

Deno.test("HEAD has the headers of GET and no body", async () => {
  const { get } = listener();
  for (const path of ["/", "/snapshot", "/events"]) {
    const response = await get(path, { method: "HEAD" });
    assertEquals([response.status, response.body], [200, null], path);
  }
});

Deno.test("explain gives the lines of the command for a model, path, provider and headers", async () => {
  const { get } = listener();
  const query =
    "model=gpt-x&path=/v1/embeddings&provider=up&header=x-a:%20b&header=x-gateway-route=main";
  assertEquals(await (await get(`/explain?${query}`)).json(), {
    lines: [
      "Request: /v1/embeddings (embeddings), model gpt-x, provider up",
      "Route main: serves the request",
      "  Targets, weighted:",
      "    100%   up/gpt-x: compat at up, 2m to the first byte",
      "  No fallbacks.",
    ],
    isServed: true,
  });
  const other = await (await get("/explain?provider=upp")).json();
  assertEquals(other.isServed, false);
  assertEquals(other.lines[1], "There is no provider upp; did you mean up?");
});

Deno.test("explain refuses a query that describes no request", async () => {
  const { get } = listener();
  const wrong = ["path=v1", "header=x", "header=%0A=x", "provider=%0A", "key=nobody"];
  for (const query of [...wrong, "header=a=b&".repeat(51)]) {
    const response = await get(`/explain?${query}`);
    assertEquals(response.status, 400, query);
    await response.body?.cancel();
  }
});

Deno.test("explain refuses a client key that is disabled or has expired, as the command and the gateway do", async () => {
  const keys = `security:
  enabled: true
  api_key:
    keys:
      - {name: good, value: key-of-good, expires: 2023-11-20}
      - {name: off, value: key-of-off, disabled: true}
      - {name: old, value: key-of-old, expires: 2023-11-10}
`;
  const { get, app } = listener(keys + PLAIN);
  for (const [name, isServed] of [["good", true], ["off", false], ["old", false]] as const) {
    const explained = await (await get(`/explain?model=m&key=${name}`)).json();
    assertEquals(explained.isServed, isServed, name);
    if (!isServed) {
      assertEquals(explained.lines, ["Refused: this client key is disabled or has expired."], name);
    }
    const authorization = `Bearer key-of-${name}`;
    const response = await app(chatRequest({ headers: { authorization } }));
    assertEquals(response.status, isServed ? 200 : 401, name);
    await response.text();
  }
});

Deno.test("usage is added up by key, model, provider or day, as JSON and as CSV", async () => {
  const { app, get } = listener(`${twoKeys()}${PLAIN}`);
  for (const name of ["ada", "bob", "ada"]) {
    await (await app(chatRequest({ headers: keyOf(name) }))).text();
  }
  const { from, to, data } = await (await get("/usage?by=key&days=2")).json();
  assertEquals([from, to], ["2023-11-13", "2023-11-14"]);
  assertEquals(data.map(({ key, calls }: { key: string; calls: number }) => [key, calls]), [
    ["ada", 2],
    ["bob", 1],
  ]);
  const csv = await get("/usage?by=model&format=csv");
  assertEquals(csv.headers.get("content-type"), "text/csv; charset=utf-8");
  assertMatch(await csv.text(), /^model,calls,.*\r\nm,3,.*\r\n$/);
  const all = await (await get("/usage")).json();
  assertEquals(Object.keys(all.data[0]).slice(0, 4), ["key", "provider", "model", "day"]);
  for (const query of ["by=client", "format=xml", "days=0", "days=-1", "days=x"]) {
    const response = await get(`/usage?${query}`);
    assertEquals(response.status, 400, query);
    await response.body?.cancel();
  }
});

Deno.test("one report of usage is made at a time", async () => {
  const { gateway, get } = listener(`${twoKeys()}${PLAIN}`);
  const events: string[] = [];
  Object.assign(gateway.state.usage, {
    async read() {
      events.push("begins");
      for (let step = 0; step < 10; step++) await Promise.resolve();
      events.push("ends");
      return { ok: true, value: [] };
    },
  });
  for (const response of await Promise.all([get("/usage"), get("/usage?by=key")])) {
    assertEquals(response.status, 200);
    await response.text();
  }
  assertEquals(events, ["begins", "ends", "begins", "ends"]);
});
