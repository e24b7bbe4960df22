import {
  freePort,
  memoryPartsOf,
  newServerProcesses,
  type ServerProcesses,
} from "../../../scripts/bench/processes.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

const SETTINGS = { environment: {}, listenTimeoutMs: 60_000 };

Deno.test("an installed program gets its environment and a log, its processor time counts, and it ends with the benchmark", async () => {
  const logPath = await Deno.makeTempFile();
  const port = freePort();
  const code = `console.log(Deno.env.get("GREETING"));
    Deno.serve({ hostname: "127.0.0.1", port: ${port}, onListen() {} }, () => new Response("hello"));`;
  {
    await using servers = newServerProcesses(false, null);
    const { cpuMs } = await servers.startInstalled(Deno.execPath(), ["eval", code], port, 0, {
      ...SETTINGS,
      environment: { GREETING: "good day" },
      logPath,
    });
    assertEquals(await (await fetch(`http://127.0.0.1:${port}`)).text(), "hello");
    assert(Deno.build.os !== "linux" || (cpuMs() ?? 0) > 0);
  }
  const refused = await Deno.connect({ hostname: "127.0.0.1", port }).catch((error) => error);
  assert(refused instanceof Deno.errors.ConnectionRefused);
  assertMatch(await Deno.readTextFile(logPath), /^good day\n/);
  await Deno.remove(logPath);
});

Deno.test("an installed program that ends before it listens is a failure", async () => {
  await using servers = newServerProcesses(false, null);
  const settings = { ...SETTINGS, logPath: "/dev/null", listenTimeoutMs: 10_000 };
  const starting = servers.startInstalled("sh", ["-c", "exit 3"], freePort(), 0, settings);
  const error = await starting.then(() => null, (reason: Error) => reason.message);
  assertMatch(error ?? "", /^sh (?:has ended|does not listen)\.$/);
});

Deno.test("what an installed program has started ends with the benchmark, also if its shell does not pass the end on", async () => {
  const port = freePort();
  const code =
    `Deno.serve({ hostname: "127.0.0.1", port: ${port}, onListen() {} }, () => new Response());`;
  {
    await using servers = newServerProcesses(false, null);
    const command = '"$0" eval "$1" & wait';
    const args = ["-c", command, Deno.execPath(), code];
    const settings = { ...SETTINGS, logPath: "/dev/null" };
    await servers.startInstalled("sh", args, port, 0, settings);
  }
  if (Deno.build.os !== "linux") return;
  // The system may close the listener a little later than it ends the process.
  while (await isListening(port)) await Promise.resolve();
});

/** Starts a server by a shell command of a program, ends it, and waits until the port is closed. */
async function endsBy(
  command: string,
  code: string,
  end: (servers: ServerProcesses, port: number) => PromiseLike<void>,
): Promise<void> {
  const port = freePort();
  const serve = `Deno.serve({ hostname: "127.0.0.1", port: ${port}, onListen() {} }, ` +
    `() => new Response(String(Deno.ppid))); ${code}`;
  await using servers = newServerProcesses(false, null);
  const args = ["-c", command, Deno.execPath(), serve];
  await servers.startInstalled("sh", args, port, 0, { ...SETTINGS, logPath: "/dev/null" });
  await end(servers, port);
  while (await isListening(port)) await Promise.resolve();
}

Deno.test("a program that ignores the request to end and has left the group of its command ends with the benchmark", async () => {
  if (Deno.build.os !== "linux") return;
  const ignore = 'Deno.addSignalListener("SIGTERM", () => {});';
  const end = (servers: ServerProcesses) => servers[Symbol.asyncDispose]();
  await endsBy('setsid "$0" eval "$1" & wait', ignore, end);
});

Deno.test("an installed program ends when a terminal that is closed, or timeout, ends the shell that started it", async () => {
  if (Deno.build.os !== "linux") return;
  for (const signal of ["SIGHUP", "SIGTERM"] as const) {
    await endsBy('exec "$0" eval "$1"', "", async (_servers, port) => {
      const shell = await (await fetch(`http://127.0.0.1:${port}`)).text();
      Deno.kill(Number(shell), signal);
    });
  }
});

Deno.test("processor time of a program counts that of its children that have ended", async () => {
  if (Deno.build.os !== "linux") return;
  const port = freePort();
  const burn = "while (performance.now() < 100);";
  const serve =
    `Deno.serve({ hostname: "127.0.0.1", port: ${port}, onListen() {} }, () => new Response());`;
  const sumAfter = async (command: string) => {
    await using servers = newServerProcesses(false, null);
    const args = ["-c", command, Deno.execPath(), burn, serve];
    const settings = { ...SETTINGS, logPath: "/dev/null" };
    return (await servers.startInstalled("sh", args, port, 0, settings)).cpuMs() ?? 0;
  };
  const alone = await sumAfter('exec "$0" eval "$2"');
  // Each child needs some time to start, however busy the machine is.
  const children = '"$0" eval "$1"; '.repeat(5);
  assert(await sumAfter(`${children} exec "$0" eval "$2"`) > alone);
});

async function isListening(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch (error) {
    // A listener that is being closed resets what it has not accepted.
    if (error instanceof Deno.errors.ConnectionReset) return true;
    // The same reset, which arrives before the runtime asks for the address of the other side.
    if (error instanceof Deno.errors.NotConnected) return true;
    assert(error instanceof Deno.errors.ConnectionRefused);
    return false;
  }
}

Deno.test("the memory of a process is split by what its mappings are for", () => {
  const mapping = (head: string, kilobytes: number) =>
    `${head}\nSize: 9 kB\nRss:   ${kilobytes} kB\nPss: 7 kB\n`;
  assertEquals(
    memoryPartsOf([
      mapping("55fd8f7e5000-55fd92ca9000 r-xp 02 08:01 77    /usr/bin/switchyard", 30),
      mapping("7fa6b6f39000-7fa6b708f000 r--p 00 08:01 12    /usr/lib/libc.so.6", 2),
      mapping("55fdc3898000-55fdc4ca8000 rw-p 00 00:00 0     [heap]", 5),
      mapping("7fa6b556c000-7fa6b623e000 rw-p 00 00:00 0 ", 11),
      mapping("7fa680000000-7fa69fdc0000 rwxp 00 00:00 0 ", 1),
      mapping("f32dec80000-f32decc0000 rw-p 00 00:00 0 ", 256),
    ].join("")),
    {
      "pages of files": 32 * 1024,
      "the engine": 257 * 1024,
      "the C library's heap": 5 * 1024,
      "its large blocks, and stacks": 11 * 1024,
    },
  );
});
