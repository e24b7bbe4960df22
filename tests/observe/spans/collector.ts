import { assertEquals } from "../../support/assert.ts";

/** A request that a collector has received. */
export interface Received {
  readonly path: string;
  readonly headers: Headers;
  /** The body as text; of protobuf with each byte that is no UTF-8 replaced. */
  readonly body: string;
}

/**
 * Returns the requests of a collector from a process that exports one call with these variables.
 */
export async function receivedWith(
  variables: (url: string) => Readonly<Record<string, string>>,
): Promise<readonly Received[]> {
  const received: Received[] = [];
  await using collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      received.push({ path: pathname, headers: request.headers, body: await request.text() });
      return new Response("{}");
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
