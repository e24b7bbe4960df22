import { parse } from "yaml";
import { optionValue, parseArguments } from "../../src/cli/arguments.ts";
import { serve } from "../../src/cli/serve.ts";
import { parseConfig } from "../../src/config/load.ts";
import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";

const COMPOSE = new URL("../../scripts/deploy/compose/", import.meta.url);

function textOf(name: string): Promise<string> {
  return Deno.readTextFile(new URL(name, COMPOSE));
}

async function services(): Promise<Readonly<Record<string, JsonObject>>> {
  const file: unknown = parse(await textOf("compose.yaml"), { merge: true });
  assert(isObject(file) && isObject(file.services));
  return Object.fromEntries(
    Object.entries(file.services).map(([name, service]) => {
      assert(isObject(service), name);
      return [name, service];
    }),
  );
}

async function config() {
  const variables = Object.fromEntries(
    (await textOf("keys.env.example")).split("\n")
      .filter((line) => line.endsWith("="))
      .map((line) => [line.slice(0, -1), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]),
  );
  const loaded = parseConfig(await textOf("gateway/config.yaml"), variables);
  assert(loaded.ok, JSON.stringify(loaded));
  return loaded.config;
}

Deno.test("the Compose file has two equal gateways, a store and a balancer in front", async () => {
  const all = await services();
  assertEquals(Object.keys(all), ["balancer", "gateway-a", "gateway-b", "valkey"]);
  assertEquals(all["gateway-a"], all["gateway-b"]);
  const nginx = await textOf("nginx.conf");
  const servers = [...nginx.matchAll(/^ *server (\S+):(\d+) /gm)];
  const { server } = await config();
  assertEquals(servers.map(([, name]) => name), ["gateway-a", "gateway-b"]);
  assertEquals(servers.map(([, , port]) => Number(port)), [server.port, server.port]);
  assertEquals(server.host, "0.0.0.0");
});

Deno.test("the gateways of the Compose file share their state in the store next to them", async () => {
  const { state } = await config();
  const url = new URL(state.valkey.url);
  assertEquals(state.store, "valkey");
  assert(url.hostname in await services());
  assertEquals(state.encryption_keys.length, 1);
});

Deno.test("a gateway of the Compose file finds its configuration and has time to drain", async () => {
  const { "gateway-a": gateway } = await services();
  assert(gateway !== undefined);
  const parsed = parseArguments(["--config", "/etc/switchyard/config.yaml"], serve.options);
  assert(parsed.ok);
  assertEquals(gateway.volumes, ["./gateway:/etc/switchyard:ro"]);
  assertEquals(optionValue(parsed.values, "config"), "/etc/switchyard/config.yaml");
  const { server } = await config();
  const seconds = Number(/^(\d+)s$/.exec(String(gateway.stop_grace_period))?.[1]);
  assert(seconds * 1000 >= server.drain_delay + server.drain_timeout + 10_000);
});

Deno.test("the balancer lets every request body through that the gateway takes", async () => {
  const [, mebibytes] = /client_max_body_size (\d+)m;/.exec(await textOf("nginx.conf")) ?? [];
  const { server } = await config();
  assert(Number(mebibytes) * 1024 * 1024 > server.max_upload);
});

Deno.test("the balancer passes streams and sockets on, and repeats no request that was sent", async () => {
  const lines = (await textOf("nginx.conf")).split("\n").map((line) => line.trim());
  for (
    const line of [
      "proxy_buffering off;",
      "proxy_set_header Upgrade $http_upgrade;",
      "proxy_next_upstream error timeout;",
      "proxy_http_version 1.1;",
    ]
  ) {
    assert(lines.includes(line), line);
  }
});

Deno.test("the Kubernetes manifest is the one of the documentation, without session affinity", async () => {
  const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const manifest = await read("scripts/deploy/kubernetes/switchyard.yaml");
  const page = await read("docs/deploy/kubernetes.md");
  const shown = manifest.split("\n").slice(1).join("\n");
  assert(page.includes(`\`\`\`yaml\n${shown}\`\`\``));
  assert(!shown.includes("sessionAffinity"));
});
