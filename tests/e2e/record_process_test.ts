import { newRealWorld } from "../../src/cli/real_world.ts";
import { parseRecord } from "../../src/record/record.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { program } from "../cli/program.ts";
import { ran } from "../cli/test_terminal.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { until } from "../support/valkey_server.ts";
import { recordSection, withFolder } from "../record/support.ts";

async function metricsOf(url: string, client: Deno.HttpClient): Promise<string> {
  return await (await fetch(`${url}/metrics`, { client })).text();
}

/** Waits until this many calls are in the file: half a second after the last one at most. */
async function untilRecorded(calls: number, url: string, client: Deno.HttpClient): Promise<void> {
  const line = `gateway_records_total{kind="all"} ${calls}\n`;
  await until(async () => (await metricsOf(url, client)).includes(line));
}

Deno.test("a gateway that has given up its rights records calls, shows them on its admin listener, and leaves a sound file when it is killed", () =>
  withFolder(async (folder) => {
    const world = newRealWorld();
    const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
    const upstream = Deno.serve(address, newSimulator(world));
    const client = Deno.createHttpClient({});
    const config = `${folder}/config.yaml`;
    const password = `${folder}/password`;
    await Deno.writeTextFile(password, "a long password\n");
    await Deno.writeTextFile(
      config,
      `server: {port: 0}
admin: {enabled: true, port: 0, password: a long password}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:${upstream.addr.port}/compat/v1"}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
${recordSection(folder)}`,
    );
    const { child, out, err } = program(["--config", config]);
    const [, url = "", admin = ""] = await out.until(/listens on (\S+)\nAdmin page: (\S+)\/\n/) ??
      [];
    const ask = async (content: string, body = {}) => {
      const messages = [{ role: "user", content }];
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "sim-echo", messages, ...body }),
        client,
      });
      assertEquals(response.status, 200);
      return await response.text();
    };
    await ask("a first question");
    const events = await ask("a second question", { stream: true });
    await untilRecorded(2, url, client);
    const list = await ran(["log", "--config", config, "--url", admin, "--password", password]);
    assertEquals([list.code, list.err], [0, ""]);
    assertEquals(list.out.split("\n").length, 4);
    const found = await ran(
      ["log", "--url", admin, "--password", password, "--text", "SECOND  question", "--export"],
    );
    const record = parseRecord(found.out.trimEnd());
    assert(record.ok, found.err);
    assertEquals(record.record.response?.events, events);

    child.kill("SIGKILL");
    await Promise.all([child.status, out.rest(), err.rest()]);
    const read = await ran(["log", "--config", config, "--export"]);
    assertEquals(read.out.trimEnd().split("\n").map((line) => parseRecord(line).ok), [true, true]);
    const shown = await ran(["log", "show", record.record.id, "--config", config, "--text"]);
    assertMatch(shown.out, /^user:\n {2}a second question\n/);
    client.close();
    await upstream.shutdown();
    world.close();
  }));

/** Words of prompts, tools, headers and answers, which a record has and nothing else may have. */
const CONTENT = /private|sk-ant-/;

Deno.test("with recording on, no log line, metric or span of the program has content, also where records are searched", () =>
  withFolder(async (folder) => {
    const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
    const world = newRealWorld();
    const spans: string[] = [];
    await using collector = Deno.serve(address, async (request) => {
      spans.push(await request.text());
      return Response.json({});
    });
    await using upstream = Deno.serve(address, newSimulator(world));
    using client = Deno.createHttpClient({});
    const config = `${folder}/config.yaml`;
    const password = "a long password";
    await Deno.writeTextFile(
      config,
      `server: {port: 0}
logging: {level: debug}
admin: {enabled: true, port: 0, password: ${password}}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:${upstream.addr.port}/compat/v1"}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
${recordSection(folder)}`,
    );
    const { child, out, err } = program(["--config", config], {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}` },
    });
    const [, url = "", admin = ""] = await out.until(/listens on (\S+)\nAdmin page: (\S+)\/\n/) ??
      [];
    const ask = async (path: string, body: object) => {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-note": "private note" },
        body: JSON.stringify(body),
        client,
      });
      await response.text();
      return response.status;
    };
    const messages = [{ role: "user", content: `private question sk-ant-${"a1B2".repeat(8)}` }];
    const tools = [{ type: "function", function: { name: "private_tool" } }];
    const calls = [
      ...[true, false].map((stream) => ({ model: "sim-echo", messages, stream })),
      { model: "sim-tools", messages, tools },
      { model: "sim-echo", messages, temperature: "private" },
    ];
    const statuses: number[] = [];
    for (const body of calls) statuses.push(await ask("/v1/chat/completions", body));
    assertEquals(statuses, [200, 200, 200, 400]);
    await untilRecorded(4, url, client);
    const search = "text=private%20question&content=true&tool=private_tool";
    const found = await fetch(`${admin}/log?${search}`, {
      headers: { authorization: `Basic ${btoa(`me:${password}`)}` },
      client,
    });
    assertStringIncludes(await found.text(), "private question");
    const measured = await metricsOf(url, client);
    child.kill("SIGTERM");
    const [, printed, log] = await Promise.all([child.status, out.rest(), err.rest()]);
    assertMatch(log, /records searched/);
    assertMatch(log, /recorded=all/);
    assert(spans.length > 0);
    for (const text of [measured, printed, log, ...spans]) {
      assert(!CONTENT.test(text), CONTENT.exec(text)?.input);
    }
    world.close();
  }));
