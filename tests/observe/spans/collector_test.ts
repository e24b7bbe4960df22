import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { newSpans } from "../../../src/observe/spans/spans.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { reportOf } from "../reports.ts";
import { receivedWith } from "./collector.ts";
import { SETTINGS } from "./traced.ts";

/** The service name of an exported batch of spans. */
function serviceIn(body: string): unknown {
  const batch = parseJson(body);
  const [first] = isObject(batch) && Array.isArray(batch.resourceSpans) ? batch.resourceSpans : [];
  assert(isObject(first) && isObject(first.resource) && Array.isArray(first.resource.attributes));
  return first.resource.attributes.find((one) => isObject(one) && one.key === "service.name");
}

Deno.test("spans reach a collector as the standard variables say", async () => {
  const received = await receivedWith((url) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/base`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=t1",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=here",
  }));
  assertEquals(received.map(({ path, headers }) => [path, headers.get("x-tenant")]), [[
    "/base/v1/traces",
    "t1",
  ]]);
  const [{ body } = { body: "" }] = received;
  assertEquals(serviceIn(body), { key: "service.name", value: { stringValue: "from-file" } });
  assert(body.includes('"deployment.environment.name"'));
  assert(body.includes('"POST /v1/chat/completions"') && body.includes('"chat m"'));
});

Deno.test("OTEL_SERVICE_NAME overrides the file, and the protocol of the file wins over that of the variables", async () => {
  const received = await receivedWith((url) => ({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/spans`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_SERVICE_NAME: "from-environment",
    TEST_PROTOCOL: "http/json",
  }));
  assertEquals(
    received.map(({ path, headers }) => [path, headers.get("content-type")]),
    [["/spans", "application/json"]],
  );
  const [{ body } = { body: "" }] = received;
  assertEquals(serviceIn(body), {
    key: "service.name",
    value: { stringValue: "from-environment" },
  });
});

Deno.test("without a collector, or switched off, there are no spans", async () => {
  const open = (environment: Readonly<Record<string, string>>) =>
    newSpans({ ...SETTINGS, environment });
  const address = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  assertEquals(await open({}), null);
  assertEquals(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }), null);
  assertEquals(await open({ ...address, OTEL_SDK_DISABLED: "true" }), null);
  assertEquals(await open({ ...address, OTEL_TRACES_EXPORTER: "none" }), null);
  assertEquals(await open({ ...address, OTEL_TRACES_EXPORTER: "console" }), null);
});

Deno.test("a protocol that is not supported is named in the log, and JSON is sent", async () => {
  const address = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  const logged: string[] = [];
  const spans = await newSpans({
    ...SETTINGS,
    environment: { ...address, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    log: { info() {}, warn: (text) => logged.push(text) },
  });
  await spans?.flush();
  assertEquals(logged, [
    "spans are sent as http/json: the protocol of the variables is not supported",
  ]);
});

/** Returns the log after one call was exported to a collector that answers with this page. */
async function logOf(protocol: string, page: string): Promise<readonly string[]> {
  let receivedCount = 0;
  await using collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      await request.arrayBuffer();
      receivedCount++;
      return new Response(page);
    },
  );
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  };
  const logged: string[] = [];
  const log = { info() {}, warn: (text: string) => void logged.push(text) };
  const spans = await newSpans({ ...SETTINGS, environment, log });
  const report = reportOf();
  spans?.begin(report, new Headers());
  spans?.sink(report);
  await spans?.flush();
  assertEquals(receivedCount, 1);
  return logged;
}

Deno.test("a collector that takes requests but not the spans in them is logged", async () => {
  const pages: readonly (readonly [string, string])[] = [
    ["http/json", "<html>A page</html>"],
    ["http/protobuf", "<html>A page</html>"],
    ["http/json", '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}'],
  ];
  for (const [protocol, page] of pages) {
    const log = await logOf(protocol, page);
    assertEquals(log, ["spans are lost: the collector does not accept them"], protocol);
  }
  const warning = '{"partialSuccess":{"rejectedSpans":"0","errorMessage":"soon"}}';
  assertEquals(await logOf("http/json", warning), []);
});

Deno.test("no package for spans is loaded without the variables, and they are with them", async () => {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  assertEquals(await loadedWith({}), "off 0\n");
  assert(/^on [1-9]/.test(await loadedWith(variables)));
});

/**
 * Returns the output of a process on its spans, and on the number of packages for them that it has
 * loaded.
 */
async function loadedWith(environment: Readonly<Record<string, string>>): Promise<string> {
  const spans = new URL("../../../src/observe/spans/spans.ts", import.meta.url).href;
  // The packages are CommonJS: their modules are in the cache of `require`.
  const code = `
    import { createRequire } from "node:module";
    import { newSpans } from ${JSON.stringify(spans)};
    const provider = () => null, turn = () => null, after = () => () => {};
    const settings = { serviceName: "s", protocol: "auto", provider, turn, after, log: console };
    const spans = await newSpans({ ...settings, environment: Deno.env.toObject() });
    const loaded = Object.keys(createRequire(${JSON.stringify(spans)}).cache);
    const count = loaded.filter((one) => one.includes("opentelemetry")).length;
    console.log(spans === null ? "off" : "on", count);
    await spans?.flush();
  `;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", new URL("../../../deno.json", import.meta.url).pathname, code],
    env: environment,
  }).output();
  return new TextDecoder().decode(stdout);
}
