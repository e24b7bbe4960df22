import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { newHttpClient } from "../../src/http_client/client.ts";
import { DEFAULT_TRANSPORT, type TlsSettings } from "../../src/core/transport.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { openLine } from "../support/line.ts";
import { askForCertificate } from "./certificate_request.ts";
import { IDENTITY, listenWith, NAME, pem, tlsSettings } from "./certificates.ts";
import { textOf } from "./heard.ts";
import { answering, plain, post } from "./server.ts";

/** Calls servers with one certificate. */
async function withServer(
  certificate: string,
  use: (ask: (tls: TlsSettings | null) => Promise<string>) => Promise<void>,
): Promise<void> {
  const listener = listenWith(certificate);
  const client = newHttpClient();
  const url = `https://127.0.0.1:${listener.port}/`;
  let connections = 0;
  const serving = serve();

  async function serve() {
    const all: Promise<void>[] = [];
    for await (const connection of listener) all.push(serveOne(connection, ++connections));
    await Promise.all(all);
  }

  async function serveOne(connection: Deno.TlsConn, number: number) {
    // Who does not trust the server hangs up in the handshake, which only ends this connection.
    const line = openLine(connection);
    await answering(() => plain(`from ${number}`))(line);
    line.close();
  }

  await use(async (tls) => {
    const transport = { ...DEFAULT_TRANSPORT, tls };
    try {
      return await textOf(await client.send(url, post("x", { transport })));
    } catch (error) {
      assert(error instanceof ConnectionError && !error.mayHaveRun);
      return error.kind;
    }
  });
  client.close();
  listener.close();
  await serving;
}

Deno.test("a server is trusted for its authority, its name and its time, and why not has a name", async () => {
  await withServer("named.pem", async (ask) => {
    assertEquals(await ask(tlsSettings()), "from 1");
    assertEquals(await ask(null), "tls_untrusted");
    assertEquals(await ask(tlsSettings({ id: "2", caCerts: [] })), "tls_untrusted");
    assertEquals(await ask(tlsSettings({ id: "3", serverName: null })), "tls_name");
    assertEquals(await ask(tlsSettings({ id: "4", serverName: "other.test" })), "tls_name");
  });
  for (const certificate of ["expired.pem", "future.pem"]) {
    await withServer(certificate, async (ask) => {
      assertEquals(await ask(tlsSettings()), "tls_expired", certificate);
    });
  }
  await withServer("client.pem", async (ask) => {
    assertEquals(await ask(tlsSettings()), "tls_untrusted");
  });
});

Deno.test("a client with a certificate trusts a server for the same reasons", async () => {
  const tls = (changes: Partial<TlsSettings> = {}) =>
    tlsSettings({ identity: IDENTITY, ...changes });
  await withServer("named.pem", async (ask) => {
    assertEquals(await ask(tls()), "from 1");
    assertEquals(await ask(tls()), "from 1");
    assertEquals(await ask(tls({ id: "2", caCerts: [] })), "tls_untrusted");
    assertEquals(await ask(tls({ id: "3", serverName: null })), "tls_name");
    assertEquals(await ask(tls({ id: "4", serverName: "other.test" })), "tls_name");
  });
  await withServer("expired.pem", async (ask) => {
    assertEquals(await ask(tls()), "tls_expired");
  });
});

Deno.test("connections of different TLS settings are pooled apart", async () => {
  await withServer("named.pem", async (ask) => {
    const one = tlsSettings({ id: "one" }), two = tlsSettings({ id: "two" });
    const answers: string[] = [];
    for (const tls of [one, two, one, two]) answers.push(await ask(tls));
    assertEquals(answers, ["from 1", "from 2", "from 1", "from 2"]);
  });
});

Deno.test("a client certificate is presented with the proof of its key, under the server name that is set", async () => {
  for (const serverName of [NAME, null]) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const client = newHttpClient();
    const tls = tlsSettings({ identity: IDENTITY, serverName });
    const request = post("x", { transport: { ...DEFAULT_TRANSPORT, tls } });
    const url = `https://localhost:${listener.addr.port}/`;
    const kind = client.send(url, request).then(
      () => "answered",
      (error: unknown) => error instanceof ConnectionError ? error.kind : "?",
    );
    using connection = await listener.accept();
    if (serverName === null) {
      // The certificate has another name, so the client sends no client certificate.
      assertEquals(
        await askForCertificate(connection).then(() => "shown", () => "not shown"),
        "not shown",
      );
      assertEquals(await kind, "tls_name");
    } else {
      const shown = await askForCertificate(connection);
      assert(shown.isCertificate(pem("client.pem")) && shown.hasKey);
      assert(shown.hello.includes(NAME) && !shown.hello.includes("localhost"));
      client.close();
      assertEquals(await kind, "aborted");
    }
    client.close();
    listener.close();
  }
});

Deno.test("a server that closes during the handshake is distinguished from one without TLS", async () => {
  for (const [way, kind] of [["close", "closed"], ["reset", "reset"], ["plain", "tls_other"]]) {
    for (const identity of [null, IDENTITY]) {
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const client = newHttpClient();
      const transport = { ...DEFAULT_TRANSPORT, tls: tlsSettings({ identity }) };
      const url = `https://127.0.0.1:${listener.addr.port}/`;
      const found = client.send(url, post("x", { transport })).then(
        () => "answered",
        (error) => error instanceof ConnectionError && !error.mayHaveRun ? error.kind : "?",
      );
      const line = openLine(await listener.accept());
      await line.read();
      if (way === "plain") await line.write(new TextEncoder().encode("HTTP/1.1 400 Bad\r\n\r\n"));
      if (way === "reset") line.reset();
      else line.close();
      assertEquals(await found, kind, `${way} ${identity === null}`);
      client.close();
      listener.close();
      await line.quiet();
    }
  }
});
