import { assertEquals } from "../../support/assert.ts";
import { type Line, openLine } from "../../support/line.ts";
import { readRequest } from "../../support/received_request.ts";

/** Answers the spans of a connection, which stays open; closes it if there are none. */
async function answer(line: Line, text: string): Promise<void> {
  const request = await readRequest(line.read);
  if (request === null) return line.close();
  assertEquals(request.path, "/v1/traces");
  await line.write(new TextEncoder().encode(text));
}

const ACCEPTED = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n" +
  "connection: keep-alive\r\n\r\n{}";

Deno.test("a collector that restarts gets later spans, and the gateway lives", async () => {
  let listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const script = new URL("./send_spans.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--allow-net",
      "--allow-read",
      "--allow-env",
      script,
    ],
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      // A call is a batch, which is given up as soon as it cannot be sent.
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2",
      OTEL_EXPORTER_OTLP_TIMEOUT: "700",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const call = () => input.write(new Uint8Array(1));
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let written = "";
  const logged = async (line: string) => {
    while (!written.includes(line)) {
      const { value, done } = await output.read();
      if (done) throw new Error(`The process ended after: ${written}`);
      written += value;
    }
  };

  await call();
  const kept = openLine(await listener.accept());
  await answer(kept, ACCEPTED);
  // It closes its connections, one of them within a response, and refuses new ones.
  kept.close();
  await call();
  const broken = openLine(await listener.accept());
  await answer(broken, ACCEPTED.slice(0, -1));
  broken.close();
  const repeated = listener.accept().catch(() => null);
  await logged("spans are lost");
  listener.close();
  // The batch was sent once: its loss is not the end of further attempts.
  assertEquals(await repeated, null);
  await call();

  // The same port: connections that it has closed may still wait for their end.
  listener = Deno.listen({ hostname: "127.0.0.1", port });
  const serving = (async () => {
    for await (const connection of listener) {
      const line = openLine(connection);
      void answer(line, ACCEPTED).finally(line.close);
    }
  })();
  await call();
  await logged("accepts spans again");
  await input.close();
  await logged("ended");
  listener.close();
  await serving;
  await output.cancel();
  assertEquals((await child.status).code, 0);
  assertEquals(written.split("\n").length, 4, written);
});
