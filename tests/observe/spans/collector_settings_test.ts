import { parseKeyPairsIntoRecord } from "@opentelemetry/core";
import {
  certificates,
  collectorSettings,
  newClient,
  newCollector,
} from "../../../src/observe/spans/collector.ts";
import { newSpans } from "../../../src/observe/spans/spans.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { SETTINGS } from "./traced.ts";

/** The variables by name; empty for every other one. */
function variables(set: Readonly<Record<string, string>>): (name: string) => string {
  return (name) => set[name] ?? "";
}

/** A collector that answers each body with the next response, and what it has received. */
function scripted(responses: Response[]) {
  const received: { readonly headers: Headers; readonly body: Uint8Array }[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      received.push({ headers: request.headers, body: await request.bytes() });
      return responses.shift() ?? new Response("{}");
    },
  );
  return { server, received, url: `http://127.0.0.1:${server.addr.port}` };
}

/** Sends one body with these settings; true if it was accepted. */
async function sentTo(
  url: string,
  more: Partial<ReturnType<typeof collectorSettings>> = {},
): Promise<boolean> {
  const settings = { url, headers: {}, timeoutMs: 60_000, isCompressed: false, ...more };
  const client = newClient({});
  assert(client !== null);
  const collector = newCollector("application/json", settings, client);
  const answer = await collector.send(new TextEncoder().encode("spans"));
  collector.close();
  return answer !== null;
}

Deno.test("variables for spans win over those for all signals, and headers are combined", () => {
  const all = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://a/base/",
    OTEL_EXPORTER_OTLP_HEADERS: "x-one=1,x-two=2%203",
    OTEL_EXPORTER_OTLP_TIMEOUT: "0",
  };
  assertEquals(collectorSettings(variables(all), parseKeyPairsIntoRecord), {
    url: "http://a/base/v1/traces",
    headers: { "x-one": "1", "x-two": "2 3" },
    timeoutMs: 10_000,
    isCompressed: false,
  });
  const own = {
    ...all,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://b/spans",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "X-Two=own",
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "250",
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: "gzip",
  };
  assertEquals(collectorSettings(variables(own), parseKeyPairsIntoRecord), {
    url: "http://b/spans",
    headers: { "x-one": "1", "x-two": "own" },
    timeoutMs: 250,
    isCompressed: true,
  });
  // The time for a batch is that of its exporter or of its processor, whichever is shorter.
  const short = { ...all, OTEL_BSP_EXPORT_TIMEOUT: "700" };
  assertEquals(collectorSettings(variables(short), parseKeyPairsIntoRecord).timeoutMs, 700);
});

Deno.test("certificates and key are those of the variables; a file that cannot be read is logged", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const name of ["ca", "other", "cert", "key"]) {
      await Deno.writeTextFile(`${folder}/${name}`, `text of ${name}`);
    }
    const logged: string[] = [];
    const log = { info() {}, warn: (text: string) => logged.push(text) };
    const set = {
      OTEL_EXPORTER_OTLP_CERTIFICATE: `${folder}/other`,
      OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: `${folder}/ca`,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: `${folder}/cert`,
      OTEL_EXPORTER_OTLP_CLIENT_KEY: `${folder}/key`,
    };
    assertEquals(await certificates(variables(set), log), {
      caCerts: ["text of ca"],
      cert: "text of cert",
      key: "text of key",
    });
    const missing = { OTEL_EXPORTER_OTLP_CERTIFICATE: `${folder}/none` };
    assertEquals(await certificates(variables(missing), log), {});
    assertEquals(logged, [
      "spans are sent without the file of OTEL_EXPORTER_OTLP_CERTIFICATE: it does not exist",
    ]);
    // A pipe that nothing writes to: its read would never end.
    await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
    const pipe = { OTEL_EXPORTER_OTLP_CERTIFICATE: `${folder}/pipe` };
    assertEquals(await certificates(variables(pipe), log), {});
    assertEquals(
      logged.at(-1),
      "spans are sent without the file of OTEL_EXPORTER_OTLP_CERTIFICATE: it is not a regular file",
    );
    const environment = { ...set, OTEL_EXPORTER_OTLP_ENDPOINT: "https://127.0.0.1:9" };
    assertEquals(await newSpans({ ...SETTINGS, log, environment }), null);
    assertEquals(
      logged.at(-1),
      "no spans are sent: the certificates of the variables are not valid",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a body is sent again after 429, 502, 503 and 504, and after nothing else", async () => {
  const again = (status: number) => new Response(null, { status, headers: { "retry-after": "0" } });
  const away = scripted([429, 502, 503, 504].map(again));
  assertEquals([await sentTo(away.url), away.received.length], [true, 5]);
  await away.server.shutdown();
  for (const status of [307, 400, 401, 413, 500]) {
    const headers = { location: away.url, "retry-after": "0" };
    const refusing = scripted([new Response(null, { status, headers })]);
    assertEquals([await sentTo(refusing.url), refusing.received.length], [false, 1], `${status}`);
    await refusing.server.shutdown();
  }
});

Deno.test("a collector that wants each repeat at once gets a body six times", async () => {
  const busy = scripted(
    Array.from(
      { length: 20 },
      () => new Response(null, { status: 429, headers: { "retry-after": "0" } }),
    ),
  );
  assertEquals([await sentTo(busy.url), busy.received.length], [false, 6]);
  await busy.server.shutdown();
});

Deno.test("a collector that wants more time than is left gets a body once", async () => {
  for (const wait of ["999", new Date(Date.now() + 3_600_000).toUTCString()]) {
    const busy = scripted([new Response(null, { status: 503, headers: { "retry-after": wait } })]);
    assertEquals([await sentTo(busy.url), busy.received.length], [false, 1], wait);
    await busy.server.shutdown();
  }
});

Deno.test("a response of a collector is read up to 64 KiB", async () => {
  const large = scripted([
    new Response("x".repeat(65 * 1024)),
    new Response("x".repeat(64 * 1024)),
  ]);
  assertEquals([await sentTo(large.url), await sentTo(large.url)], [false, true]);
  await large.server.shutdown();
});

Deno.test("a compressed body has the credential of the address, and the fields of the variables", async () => {
  const { server, received, url } = scripted([]);
  const address = url.replace("//", "//user:word@");
  assert(await sentTo(address, { isCompressed: true, headers: { "user-agent": "mine" } }));
  const [{ headers, body } = { headers: new Headers(), body: new Uint8Array() }] = received;
  const stream = new Blob([new Uint8Array(body)]).stream();
  const plain = await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text();
  assertEquals(
    [plain, headers.get("authorization"), headers.get("user-agent"), headers.get("content-type")],
    ["spans", `Basic ${btoa("user:word")}`, "mine", "application/json"],
  );
  await server.shutdown();
});
