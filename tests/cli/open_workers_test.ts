import { findPort } from "../../src/cli/listen.ts";
import { openWorkers, workerCount } from "../../src/cli/open_workers.ts";
import { configOf } from "../config/parse.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { configFile, ran, testTerminal } from "./test_terminal.ts";

function config(workers: string) {
  return configOf(`
server: {port: 0, workers: ${workers}}
state: {store: none}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`);
}

Deno.test("auto is one worker for each core that the process may use, at most 64", () => {
  assertEquals(workerCount(config("auto")), Math.min(64, navigator.hardwareConcurrency));
  assertEquals([workerCount(config("1")), workerCount(config("64"))], [1, 64]);
});

Deno.test("an address that cannot be used is a start error before any worker is started", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const settings = config("2");
  const server = { ...settings.server, port: taken.addr.port };
  const opened = await openWorkers({ ...settings, server }, 2, testTerminal());
  assert(!opened.ok && opened.isTaken);
  assertStringIncludes(opened.trouble, `Port ${taken.addr.port} on 127.0.0.1 is in use`);
});

Deno.test("a free port stays with its gateway until all of its workers listen on it", () => {
  const found = findPort("127.0.0.1", 0);
  assert(found.ok);
  const listener = (reusePort: boolean) =>
    Deno.listen({ hostname: "127.0.0.1", port: found.port, reusePort });
  {
    using _held = found;
    assertThrows(() => listener(false));
    using _worker = listener(true);
  }
  using _released = listener(false);
});

Deno.test("the start and switchyard check refuse several workers over a store of one process with the same line", async () => {
  using file = await configFile(`
server: {port: 0, workers: 2}
state: {store: sqlite}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`);
  const start = await ran(["--config", file.path]);
  assertMatch(
    start.err,
    /^server\.workers: must be 1 while state\.store is sqlite, [^\n]* valkey, [^\n]* none, [^\n]*\n$/,
  );
  assertEquals(await ran(["check", "--config", file.path]), start);
  assertEquals([start.code, start.out], [1, ""]);
});
