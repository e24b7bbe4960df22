import { newChannel } from "../../src/workers/channel.ts";
import type { ToParent, ToWorker } from "../../src/workers/messages.ts";
import { program, programCommand, programWith } from "../cli/program.ts";
import { configFile } from "../cli/test_terminal.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { twoWorkers } from "./running_workers.ts";

async function startError(
  config: string,
  start: (args: readonly string[]) => ReturnType<typeof program> = program,
): Promise<readonly [code: number, out: string, problem: string]> {
  using file = await configFile(config);
  const { child, out, err } = start(["--config", file.path]);
  const [{ code }, printed, problem] = await Promise.all([child.status, out.rest(), err.rest()]);
  return [code, printed, problem];
}

Deno.test("several workers on a port in use are a start error with the usual sentence", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const config = twoWorkers()("http://127.0.0.1:1").replace("port: 0", `port: ${port}`);
  assertEquals(await startError(config), [
    1,
    "",
    `Port ${port} on 127.0.0.1 is in use; choose another with --port.\n`,
  ]);
});

Deno.test("without the right to start itself the program names the permission for several workers", async () => {
  const permissions = ["--no-prompt", "--allow-net", "--allow-read", "--allow-env", "--allow-sys"];
  const [code, out, problem] = await startError(
    twoWorkers()("http://127.0.0.1:1"),
    (args) => programWith(permissions, args),
  );
  assertEquals([code, out], [1, ""]);
  assertMatch(problem, /^server\.workers: [^\n]* --allow-run=\/proc\/self\/exe [^\n]*\n$/);
});

Deno.test("the command of a worker serves nothing for a user, and names the key to set", async () => {
  const { child, out, err } = program(["worker"]);
  const [{ code }, printed, problem] = await Promise.all([child.status, out.rest(), err.rest()]);
  assertEquals([code, printed], [2, ""]);
  assertMatch(problem, /^The command "worker" [^\n]*server\.workers[^\n]*\n$/);
});

Deno.test("a worker process answers each ping, also while it drains, and ends without its parent", async () => {
  const [command, ...args] = programCommand(["worker"]);
  const process = new Deno.Command(command, {
    args: args[0] === "run" && !args.includes("--unstable-net")
      ? ["run", "--unstable-net", ...args.slice(1)]
      : args,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const channel = newChannel<ToWorker, ToParent>(process.stdout, process.stdin);
  const messages = channel.received();
  const next = async () => (await messages.next()).value?.kind;
  channel.send({
    kind: "start",
    place: { number: 1, workers: 2 },
    port: 0,
    generation: 1,
    instanceId: "gateway-1",
    isColoured: false,
    handed: [],
    config: configOf(twoWorkers(", drain_delay: 1h")("http://127.0.0.1:1")),
  });
  const responses: unknown[] = [await next()];
  for (const isDraining of [false, true]) {
    if (isDraining) channel.send({ kind: "drain" });
    // Without a response to the ping, that to the next message comes first.
    for (const kind of ["ping", "measure"] as const) channel.send({ kind });
    let kind = await next();
    for (; kind !== "measured" && kind !== undefined; kind = await next()) responses.push(kind);
    responses.push(kind);
  }
  await channel.close();
  for await (const { kind } of messages) responses.push(kind);
  assertEquals(responses, ["listening", "alive", "measured", "alive", "measured", "drained"]);
  assertEquals((await process.status).code, 0);
});

Deno.test("a problem that each worker has at its first start is a start error, said once", async () => {
  const store =
    'state: {store: valkey, required: true, valkey: {url: "valkey://127.0.0.1:1/0", timeout: 200ms}}';
  const [code, out, problem] = await startError(twoWorkers("", store)("http://127.0.0.1:1"));
  assertEquals([code, out], [1, ""]);
  assertEquals(problem.match(/state\.required/g)?.length, 1);
});
