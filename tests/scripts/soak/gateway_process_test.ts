import {
  type Holdings,
  isComplaint,
  PROBE_MARK,
  startGateway,
} from "../../../scripts/soak/gateway_process.ts";
import { readGauges } from "../../../scripts/soak/metrics.ts";
import { BROKEN_CONFIG, plainSetting } from "../../../scripts/soak/config.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

Deno.test("the soak sees the socket, the tasks and the call of a client that waits, and that they end", async () => {
  const folder = await Deno.makeTempDir();
  await using started = new AsyncDisposableStack();
  const gateway = await startGateway(plainSetting("http://127.0.0.1:9"), folder, started);
  const { hostname, port } = new URL(gateway.url);

  /** Looks at the process until it holds what is expected. */
  async function until(isExpected: (held: Holdings) => boolean): Promise<Holdings> {
    for (;;) {
      const held = await gateway.holdings();
      if (isExpected(held)) return held;
    }
  }

  const before = await gateway.holdings();
  assert(before.timers > 0 && before.liveBytes > 1e6 && before.residentBytes > before.liveBytes);
  assert(before.codeBytes > 1e6);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    `Host: ${hostname}`,
    "Authorization: Bearer gk-soak-one-0123456789abcdef",
    "Content-Length: 1000",
    "",
    "{",
  ].join("\r\n");
  await connection.write(new TextEncoder().encode(head));
  const during = await until(({ sockets, tasks }) =>
    sockets > before.sockets && tasks > before.tasks
  );
  // The socket is accepted before its request has arrived.
  let { inFlight } = await readGauges(gateway.url);
  while (inFlight.get("gateway_active_requests") !== 1) {
    ({ inFlight } = await readGauges(gateway.url));
  }
  assertEquals(inFlight.get("gateway_response_body_bytes"), 0);
  connection.close();
  // A task of the start of the gateway ends after 45 s. A file that its start reads may be open
  // before, so descriptors are compared with those of the open socket.
  await until(({ sockets, descriptors, tasks }) =>
    sockets === before.sockets && descriptors < during.descriptors && tasks <= before.tasks
  );
  await gateway.reload(BROKEN_CONFIG);
  while ((await readGauges(gateway.url)).refusedReloads === 0);
  assertEquals(gateway.complaints, []);
  assertEquals(await gateway.stop(), 0);
  // A gateway that has ended fails the soak instead of keeping it waiting.
  const ended = await gateway.holdings().catch((error) => error);
  assertMatch(String(ended), /The gateway has ended with exit code 0/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("memory in use is without buffers that nothing holds any more", async () => {
  const world = new URL("../../../scripts/soak/counted_world.ts", import.meta.url).href;
  const program = `
    await import(${JSON.stringify(world)});
    let held = Array.from({ length: 100 }, () => new Uint8Array(100_000));
    const look = () =>
      new Promise((resolve) => {
        Deno.addSignalListener("SIGUSR2", resolve);
        Deno.kill(Deno.pid, "SIGUSR2");
      });
    await look();
    held = [];
    await look();
    Deno.exit(held.length);
  `;
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--v8-flags=--expose-gc", program],
    stdout: "null",
    stderr: "piped",
  }).output();
  const [before = 0, after = 0] = new TextDecoder().decode(stderr).split("\n")
    .filter((line) => line.startsWith(PROBE_MARK))
    .map((line) => JSON.parse(line.slice(PROBE_MARK.length)).live);
  assert(before - after > 9e6, `${before} and ${after}`);
});

Deno.test("an error in the log of the gateway is a complaint, unless it is of the broken configuration", () => {
  const error = (msg: string) => JSON.stringify({ level: "error", msg });
  for (
    const line of [error("internal error"), "Uncaught (in promise)", "    at f (file.ts:1:2)"]
  ) assert(isComplaint(line), line);
  for (
    const line of [
      error("routing: is required (line 1, column 1)"),
      error("configuration not reloaded: the previous one stays in use"),
      error("the state store is unavailable: requests that need it get 503"),
      JSON.stringify({ level: "info", msg: "request" }),
    ]
  ) assert(!isComplaint(line), line);
});
