import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { newSpans } from "../../../src/observe/spans/spans.ts";
import { assert, assertEquals } from "../../support/assert.ts";

interface Received {
  readonly path: string;
  readonly tenant: string | null;
  readonly body: string;
}

/** What a collector receives from a process with these variables. */
async function receivedWith(variables: (url: string) => Readonly<Record<string, string>>) {
  const received: Received[] = [];
  await using collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      const tenant = request.headers.get("x-tenant");
      received.push({ path: pathname, tenant, body: await request.text() });
      return Response.json({});
    },
  );
  const script = new URL("./send_span.ts", import.meta.url).pathname;
  const permissions = ["--no-prompt", "--allow-net", "--allow-read", "--allow-env"];
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...permissions, "--allow-sys=hostname", script],
    env: variables(`http://127.0.0.1:${collector.addr.port}`),
  }).output();
  assertEquals(new TextDecoder().decode(stdout), "sent\n");
  return received;
}

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
  assertEquals(received.map(({ path, tenant }) => [path, tenant]), [["/base/v1/traces", "t1"]]);
  const [{ body } = { body: "" }] = received;
  assertEquals(serviceIn(body), { key: "service.name", value: { stringValue: "from-file" } });
  assert(body.includes('"deployment.environment.name"'));
  assert(body.includes('"POST /v1/chat/completions"') && body.includes('"chat m"'));
});

Deno.test("OTEL_SERVICE_NAME overrides the file", async () => {
  const received = await receivedWith((url) => ({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/spans`,
    OTEL_SERVICE_NAME: "from-environment",
  }));
  assertEquals(received.map(({ path }) => path), ["/spans"]);
  const [{ body } = { body: "" }] = received;
  assertEquals(serviceIn(body), {
    key: "service.name",
    value: { stringValue: "from-environment" },
  });
});

Deno.test("without a collector, or switched off, there are no spans", async () => {
  const open = (environment: Readonly<Record<string, string>>) =>
    newSpans({
      serviceName: "test",
      protocol: "auto",
      environment,
      log: { info() {}, warn() {} },
      provider: () => null,
      turn: () => null,
    });
  const address = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  assertEquals(await open({}), null);
  assertEquals(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }), null);
  assertEquals(await open({ ...address, OTEL_SDK_DISABLED: "true" }), null);
  assertEquals(await open({ ...address, OTEL_TRACES_EXPORTER: "none" }), null);
  assertEquals(await open({ ...address, OTEL_TRACES_EXPORTER: "console" }), null);
});
