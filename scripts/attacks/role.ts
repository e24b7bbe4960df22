import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { ATTACKS } from "./attacks.ts";
import { probe } from "./probe.ts";
import type { Attack } from "./support.ts";

// A process of an attack: `upstream ROW`, `load ROW TIMES TARGET` or `probe URL PORT`. It writes
// one line of JSON when it serves or is over, and ends with its standard input.

const [role, name, ...rest] = Deno.args;

function find(row: string | undefined): Attack {
  const attack = ATTACKS.find((one) => one.row === row);
  if (attack === undefined) throw new Error(`There is no attack ${row}.`);
  return attack;
}

function report(value: unknown): void {
  console.log(JSON.stringify(value));
}

async function run(): Promise<void> {
  if (role === "upstream") {
    const { upstream = newSimulator(newRealWorld()) } = find(name);
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    report(Deno.serve(options, upstream).addr.port);
  } else if (role === "load") {
    const [times = "1", target = ""] = rest;
    report(await find(name).load(JSON.parse(target), Number(times)));
  } else {
    const probing = probe(name ?? "", Number(rest[0]));
    report("begun");
    await Deno.stdin.read(new Uint8Array(1));
    report(await probing.end());
  }
}

await run();
if (role === "upstream") {
  while (await Deno.stdin.read(new Uint8Array(1)) !== null);
}
Deno.exit();
