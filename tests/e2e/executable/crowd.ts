import { type Output, outputOf } from "../../cli/program.ts";
import { assertEquals } from "../../support/assert.ts";

/** Words before a command that give its process as many descriptors as the system allows. */
export const WITH_DESCRIPTORS: readonly string[] = [
  "sh",
  "-c",
  'ulimit -n "$(ulimit -Hn)" && exec "$@"',
  "sh",
];

/** Descriptors that a process needs besides those of its connections. */
const SPARE_DESCRIPTOR_COUNT = 500;

/** Returns this number, or less where the system does not allow a process as many descriptors. */
export async function crowdSize(wanted: number): Promise<number> {
  const { stdout } = await new Deno.Command("sh", { args: ["-c", "ulimit -Hn"] }).output();
  const limit = Number(new TextDecoder().decode(stdout));
  return Math.min(wanted, Number.isNaN(limit) ? Infinity : limit - SPARE_DESCRIPTOR_COUNT);
}

/** Clients that rest, in a separate process. */
export interface Crowd extends AsyncDisposable {
  /** Returns how many of their connections have ended. */
  ended(): Promise<number>;
  /** Resolves when the server has closed all of their connections. */
  readonly allClosed: Promise<void>;
}

/** Opens connections to a server and resolves when all of them rest. */
export async function openCrowd(
  url: string,
  count: number,
  kinds: readonly ("silent" | "unfinished" | "served")[],
): Promise<Crowd> {
  const script = new URL("idle_clients.ts", import.meta.url).pathname;
  const { hostname, port } = new URL(url);
  const [command = "", ...words] = [...WITH_DESCRIPTORS, Deno.execPath(), "run", "--allow-net"];
  const child = new Deno.Command(command, {
    args: [...words, script, hostname, port, String(count), ...kinds],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const out: Output = outputOf(child.stdout);
  const input = child.stdin.getWriter();
  assertEquals((await out.until(/open\n/))?.[0], "open\n");
  let asked = 0;
  return {
    async ended() {
      asked++;
      await input.write(new TextEncoder().encode("?\n"));
      const answers = await out.until(new RegExp(`(?:ended (\\d+)\\n[^]*){${asked}}`));
      return Number(answers?.[1]);
    },
    get allClosed() {
      return out.until(/closed\n/).then((found) => assertEquals(found?.[0], "closed\n"));
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      await child.status;
      await out.rest();
    },
  };
}
