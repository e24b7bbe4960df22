import { gatewayUrl } from "../../src/admin/page/curl.js";
import type { Snapshot } from "../../src/admin/snapshot.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { run } from "../../src/cli/run.ts";
import { configFile, ran, testClient, testTerminal, whileServing } from "./test_terminal.ts";

const REST = `
providers:
  one: {type: compat, base_url: "http://127.0.0.1:1", api_key: secret-of-one}
routing: {routes: [{name: all, targets: [{provider: one}]}]}
`;
const FILE = `server: {port: 0}
admin: {enabled: true, port: 0}${REST}`;

type Client = ReturnType<typeof testClient>;

/** Serves a file and gives its admin page to `use`. */
async function servingAdmin(
  text: string,
  use: (page: {
    readonly url: string;
    readonly gateway: string;
    readonly client: Client;
    write(text: string): Promise<void>;
  }) => Promise<void>,
) {
  using client = testClient();
  using file = await configFile(text);
  return await whileServing(["--config", file.path], async (terminal) => {
    const [, gateway = ""] = await terminal.printed(/listens on (\S+)\n/);
    const [, url = ""] = await terminal.printed(/Admin page: (\S+)\/\n/);
    await use({
      url,
      gateway,
      client,
      async write(changed) {
        await Deno.writeTextFile(file.path, changed);
        terminal.reload();
      },
    });
  });
}

/** The snapshots of a stream, as they arrive. */
async function* snapshots(response: Response): AsyncGenerator<Snapshot> {
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) yield JSON.parse(event.slice("data: ".length));
  }
}

Deno.test("the admin page is served on its own port, whose link is in the start message", async () => {
  await servingAdmin(FILE, async ({ url, gateway, client }) => {
    const page = await client.fetch(`${url}/`);
    assertMatch(await page.text(), /^<!doctype html>/i);
    const shown: Snapshot = await (await client.fetch(`${url}/snapshot`)).json();
    assertEquals([shown.gatewayUrl, shown.providers[0]?.id], [gateway, "one"]);
    const other = await client.fetch(`${gateway}/snapshot`);
    assertEquals(other.status, 404, "the gateway's own listener does not serve it");
    await other.body?.cancel();
  });
});

Deno.test("the page of a gateway at every address knows that it is at every address, so that Try it calls the host of the page", async () => {
  const text = FILE.replace("server: {port: 0}", "server: {host: 0.0.0.0, port: 0}");
  await servingAdmin(text, async ({ url, gateway, client }) => {
    const { port } = new URL(gateway);
    assertEquals(gateway, `http://127.0.0.1:${port}`, "the start message has a reachable address");
    const shown: Snapshot = await (await client.fetch(`${url}/snapshot`)).json();
    assertEquals(shown.gatewayUrl, `http://0.0.0.0:${port}`);
    assertEquals(gatewayUrl(shown, { hostname: "10.0.0.5" }), `http://10.0.0.5:${port}`);
  });
});

Deno.test("init laptop prints the link of the admin page, and the starter files without one print none", async () => {
  for (
    const [kind, link] of [["laptop", "http://127.0.0.1:8081/"], ["edge", null], ["team", null]]
  ) {
    const terminal = testTerminal();
    assertEquals(await run(["init", String(kind)], terminal), 0);
    const [text = ""] = terminal.files.values();
    assertEquals(
      terminal.written.out,
      './config.yaml is written. Read it, then run "switchyard check" and "switchyard".\n' +
        (link === null ? "" : `Its admin page will be at ${link}.\n`) +
        "Editors check and complete it with the schema in ./config.schema.json.\n",
      String(kind),
    );
    const { admin } = configOf(text, {});
    assertEquals(admin.enabled, link !== null, String(kind));
  }
});

Deno.test("without admin.enabled there is no admin listener, and calls have no trace", async () => {
  using file = await configFile(FILE.replace("enabled: true", "enabled: false"));
  const { out } = await whileServing(["--config", file.path], async (terminal) => {
    await terminal.printed(/listens on/);
  });
  assert(!out.includes("Admin page"));
});

Deno.test("a gateway whose admin port is taken does not start, and says which key to change", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  using file = await configFile(FILE.replace("port: 0}\nproviders", `port: ${port}}\nproviders`));
  const { code, err } = await ran(["--config", file.path]);
  assertEquals(code, 1);
  assertEquals(
    err,
    `Admin page: Port ${port} on 127.0.0.1 is in use; choose another with admin.port.\n`,
  );
});

Deno.test("a broken file is on the page with line and column and without its values, until it is mended", async () => {
  const broken = FILE.replace("api_key: secret-of-one", "api_kee: secret-of-one").replace(
    "targets: [{provider: one}]",
    "targets: []",
  );
  await servingAdmin(FILE, async ({ url, client, write }) => {
    const stream = snapshots(await client.fetch(`${url}/events`));
    const next = async () => {
      const { value } = await stream.next();
      if (value === undefined) throw new Error("the stream has ended");
      return value;
    };
    assertEquals((await next()).refusedReload, null);
    await write(broken);
    let shown = await next();
    while (shown.refusedReload === null) shown = await next();
    const lines = shown.refusedReload.lines.join("\n");
    assertMatch(lines, /routing\.routes\[0\]\.targets: .* \(line 5, column \d+\)/);
    assert(!lines.includes("secret-of-one"), lines);
    assertEquals(shown.generation, 1);
    await write(FILE);
    while (shown.refusedReload !== null) shown = await next();
    await stream.return(undefined);
  });
});

Deno.test("a change of the admin page needs a restart, and the page says so", async () => {
  const { err } = await servingAdmin(FILE, async ({ url, client, write }) => {
    await write(FILE.replace("enabled: true", "enabled: true, password: correct-horse-battery"));
    const line = "admin.password has changed: it needs a restart";
    for await (const { warnings } of snapshots(await client.fetch(`${url}/events`))) {
      if (warnings.includes(line)) break;
    }
    const usage = await client.fetch(`${url}/usage`);
    assertEquals(usage.status, 200, "no password is required yet");
    await usage.text();
  });
  assertMatch(err, /WARN +admin\.password has changed: it needs a restart\n/);
  assert(!err.includes("correct-horse"));
});

Deno.test("the warnings of the running configuration are on the page", async () => {
  const warned = `rate_limiting: {enabled: false}
security:
  enabled: true
  api_key: {keys: [{name: a, value: key-of-a, requests_per_minute: 5}]}
`;
  await servingAdmin(warned + FILE, async ({ url, client }) => {
    const { warnings }: Snapshot = await (await client.fetch(`${url}/snapshot`)).json();
    assertMatch(warnings.join("\n"), /requests_per_minute: has no effect while .* \(line 4/);
  });
});

Deno.test("foreign hosts, foreign origins and wrong passwords are refused on the socket", async () => {
  const text = FILE.replace("enabled: true", "enabled: true, password: correct-horse-battery");
  await servingAdmin(text, async ({ url }) => {
    const port = Number(new URL(url).port);
    const right = `Authorization: Basic ${btoa("me:correct-horse-battery")}\r\n`;
    const wrong = `Authorization: Basic ${btoa("me:correct-horse-batterx")}\r\n`;
    const heads = [
      [`Host: 127.0.0.1\r\n${right}`, "200"],
      [`Host: 127.0.0.1\r\n`, "401"],
      [`Host: 127.0.0.1\r\n${wrong}`, "401"],
      [`Host: evil.example\r\n${right}`, "403"],
      [`Host: 127.0.0.1\r\n${right}Origin: http://evil.example\r\n`, "403"],
    ] as const;
    for (const [head, status] of heads) {
      using socket = await Deno.connect({ hostname: "127.0.0.1", port });
      const request = `GET /snapshot HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
      await socket.write(new TextEncoder().encode(request));
      const answer = await new Response(socket.readable).text();
      assertEquals(answer.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length), status, head);
    }
  });
});

Deno.test("an open page does not hold the gateway back from its end", async () => {
  using client = testClient();
  using file = await configFile(FILE);
  let body: ReadableStream<Uint8Array> | null = null;
  const { code } = await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/Admin page: (\S+)\/\n/);
    ({ body } = await client.fetch(`${url}/events`));
  });
  assertEquals(code, 0);
  await new Response(body).text();
});

Deno.test("a request without an end to the admin page does not hold the gateway back from its end", async () => {
  using client = testClient();
  using file = await configFile(FILE);
  const terminal = testTerminal();
  const running = run(["--config", file.path], terminal);
  const [, url = ""] = await terminal.printed(/Admin page: (\S+)\/\n/);
  using socket = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) });
  const head = "GET /page.css HTTP/1.1\r\nHost: localhost\r\n";
  await socket.write(new TextEncoder().encode(head));
  // The listener has read from the earlier connection when it answers on a later one.
  await (await client.fetch(`${url}/`)).text();
  const answer = new Response(socket.readable).text();
  terminal.end();
  const first = await Promise.race([running, answer.then(() => "the connection")]);
  assertEquals(first, 0, "the gateway ends before the connection");
  await socket.closeWrite();
  assertEquals(await answer, "");
});

Deno.test("the demonstration serves its admin page and prints the link", async () => {
  using client = testClient();
  await whileServing(["demo", "--port", "0"], async (terminal) => {
    const [, url = ""] = await terminal.printed(/Admin page: (\S+)\/\n/);
    const shown: Snapshot = await (await client.fetch(`${url}/snapshot`)).json();
    assertEquals(shown.providers.length, 4);
    await terminal.printed(/Ctrl-C ends/);
    const after: Snapshot = await (await client.fetch(`${url}/snapshot`)).json();
    assert(after.finishedCount >= 12, "the tour is on the page");
  });
});

Deno.test("the configuration for a laptop switches the admin page on, on a loopback address", async () => {
  const terminal = testTerminal();
  assertEquals(await run(["init", "laptop"], terminal), 0);
  const [text = ""] = terminal.files.values();
  const { admin } = configOf(text, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" });
  assertEquals(admin, { enabled: true, host: "127.0.0.1", port: 8081 });
  assertMatch(text, /http:\/\/127\.0\.0\.1:8081\//);
});

Deno.test("the page and the command explain a request in the same lines", async () => {
  using file = await configFile(FILE);
  const { out } = await ran([
    "explain",
    ...["--config", file.path, "--model", "gpt-x", "--path", "/v1/responses"],
    ...["--header", "x-a=b", "--provider", "one"],
  ]);
  await servingAdmin(FILE, async ({ url, client }) => {
    const query = "model=gpt-x&path=/v1/responses&header=x-a%3Db&provider=one";
    const { lines, isServed } = await (await client.fetch(`${url}/explain?${query}`)).json();
    assertEquals([lines.join("\n") + "\n", isServed], [out, true]);
  });
});
