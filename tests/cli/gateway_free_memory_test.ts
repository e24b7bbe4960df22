import { openGateway } from "../../src/cli/gateway_server.ts";
import { libcPath } from "../../src/runtime/sockets.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testTerminal } from "./test_terminal.ts";

/** A clock that only a test moves. */
interface ScriptedClock extends Disposable {
  /** Sets the time and runs the periodic tasks that have begun under this clock. */
  moveTo(ms: number): void;
}

function scriptClock(): ScriptedClock {
  const { setInterval } = globalThis;
  const { now } = performance;
  const tasks: (() => void)[] = [];
  let ms = 0;
  performance.now = () => ms;
  globalThis.setInterval = (task, wait, ...args) => {
    if (typeof task === "function") tasks.push(() => task(...args));
    return setInterval(task, wait, ...args);
  };
  return {
    moveTo(to) {
      ms = to;
      for (const task of tasks) task();
    },
    [Symbol.dispose]() {
      performance.now = now;
      globalThis.setInterval = setInterval;
    },
  };
}

/** Counts how often the C library is opened to give free memory back. */
function countReleases(): { readonly count: number } & Disposable {
  const { dlopen } = Deno;
  let count = 0;
  Deno.dlopen = (path, symbols) => {
    if ("malloc_trim" in symbols) count++;
    return dlopen(path, symbols);
  };
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]() {
      Deno.dlopen = dlopen;
    },
  };
}

Deno.test("a gateway gives free memory of the C library back 45 s after its start, and once", async () => {
  const hasLibrary = Deno.build.os === "linux" && libcPath() !== undefined;
  using clock = scriptClock();
  using releases = countReleases();
  const server = await openGateway(
    configOf(`
server: {port: 0}
state: {store: none}
providers: {up: {type: compat, base_url: "http://127.0.0.1:1"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`),
    testTerminal(),
  );
  assert(server.ok);
  try {
    const counts = [44_999, 45_000, 90_000].map((ms) => {
      clock.moveTo(ms);
      return releases.count;
    });
    assertEquals(counts, hasLibrary ? [0, 1, 1] : [0, 0, 0]);
  } finally {
    await server.close();
  }
});
