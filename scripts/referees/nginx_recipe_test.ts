import { newHttpClient } from "../../src/http_client/client.ts";
import { DEFAULT_TRANSPORT, type TlsSettings } from "../../src/core/transport.ts";
import { bodySource } from "../../src/core/world.ts";
import { findInPath } from "../tools/find_in_path.ts";
import { freePort } from "../bench/processes.ts";
import { configFile, whileServing } from "../../tests/cli/test_terminal.ts";
import { IDENTITY, pem, tlsSettings } from "../../tests/http_client/certificates.ts";
import { post } from "../../tests/http_client/server.ts";
import { assertEquals } from "../../tests/support/assert.ts";
import { pageText } from "../../tests/docs/pages.ts";
import { outputOf } from "../bench/peers/peer.ts";
import { reportRun } from "./runs.ts";

// Run by `deno test -A` with an installed nginx, or with `NGINX` as its path. No package of npm has
// it, so the test command does without it.
const PROGRAM = Deno.env.get("NGINX") ?? findInPath(["nginx"]) ?? "nginx";

const CONFIG = `
server: {port: 0}
security: {enabled: true, api_key: {keys: [{name: team-a, value: key-of-team-a}]}}
providers: {up: {type: compat, base_url: "http://127.0.0.1:1"}}
routing: {routes: [{name: all, targets: [{provider: up}]}]}
`;

/** Returns the configuration of nginx in the page, with files of the test in `folder`. */
function recipe(folder: string, port: number, gatewayUrl: string, name: string): string {
  const [, block = ""] = /```nginx\n([\s\S]*?)```/.exec(pageText("docs/guide/identity.md")) ?? [];
  const own = block.replaceAll("/etc/nginx/", `${folder}/`)
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("http://127.0.0.1:8080", gatewayUrl)
    .replace("CN=team-a", name);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ");
  return `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${temporary}
${own}
}`;
}

Deno.test({
  name:
    "the recipe for nginx admits a client certificate, and no client without one or of another name",
  async fn() {
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/gateway.pem`, pem("named.pem"));
    await Deno.writeTextFile(`${folder}/gateway.key`, pem("server.key"));
    await Deno.writeTextFile(`${folder}/clients-ca.pem`, pem("ca.pem"));
    using file = await configFile(CONFIG);
    await whileServing(["--config", file.path], async (terminal) => {
      const [, gatewayUrl = ""] = await terminal.printed(/listens on (\S+)/);
      assertEquals(await statuses(folder, gatewayUrl, "CN=client"), [200, 200, 400]);
      assertEquals(await statuses(folder, gatewayUrl, "CN=other"), [401, 401, 400]);
    });
    await Deno.remove(folder, { recursive: true });
    const version = (await outputOf(PROGRAM, ["-v"]))?.trim().replace(/^.*: /, "") ?? "nginx";
    await reportRun("nginx_recipe", [version], "6 requests, as expected");
  },
});

/** Statuses with the certificate `CN=client`, with it and a key of the client, and without it. */
async function statuses(folder: string, gatewayUrl: string, name: string) {
  const port = freePort();
  await Deno.writeTextFile(`${folder}/nginx.conf`, recipe(folder, port, gatewayUrl, name));
  const args = ["-c", `${folder}/nginx.conf`, "-p", folder];
  const nginx = new Deno.Command(PROGRAM, { args, stderr: "null" }).spawn();
  const client = newHttpClient();
  await listening(port);
  const ask = async (tls: TlsSettings, headers: Record<string, string> = {}) => {
    const transport = { ...DEFAULT_TRANSPORT, tls };
    const url = `https://127.0.0.1:${port}/v1/models`;
    const response = await client.send(url, post(null, { transport, headers }));
    await bodySource(response)?.cancel();
    return response.status;
  };
  const known = tlsSettings({ identity: IDENTITY });
  const result = [
    await ask(known),
    await ask(known, { authorization: "Bearer guessed", "x-api-key": "key-of-team-a" }),
    await ask(tlsSettings({ id: "none" })),
  ];
  client.close();
  nginx.kill("SIGTERM");
  await nginx.status;
  return result;
}

/** Resolves once a connection to the port is accepted. */
async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => null);
    connection?.close();
    if (connection !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
