import type { Peer } from "../../../../scripts/bench/peers/peer.ts";
import { newPeerSystems } from "../../../../scripts/bench/peers/systems.ts";
import type { ServerProcesses } from "../../../../scripts/bench/processes.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

function newPeer(program: string): Peer {
  return {
    name: "rival",
    support: () => ({ kind: "unsupported", reason: "" }),
    launch: ({ folder, upstreamKind }) => ({
      program,
      args: [upstreamKind],
      environment: { A: "b" },
      files: { [`${folder}/config`]: "text" },
    }),
    version: () => Promise.resolve(null),
  };
}

type Started = Parameters<ServerProcesses["startInstalled"]>;

/** Runs a test in a temporary folder over processes that `startInstalled` pretends to start. */
async function withServers(
  startInstalled: ServerProcesses["startInstalled"],
  test: (servers: ServerProcesses, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const servers: ServerProcesses = {
    start: () => Promise.reject(new Error("not used")),
    startInstalled,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  try {
    await test(servers, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("each peer is started once for each kind of upstream, with its files in its own folder", async () => {
  const started: Started[] = [];
  await withServers(async (...call) => {
    started.push(call);
    assertEquals(
      await Deno.readTextFile(call[4]?.logPath.replace("output", "config") ?? ""),
      "text",
    );
    return { port: call[2], cpuMs: () => null };
  }, async (servers, folder) => {
    const systems = newPeerSystems(servers, "http://127.0.0.1:1", folder);
    const peer = newPeer("rival");
    const kinds = ["chat", "messages", "chat"] as const;
    for (const kind of kinds) assertEquals((await systems.get(peer, kind)).kind, "started");
    assertEquals(started.map(([program, args]) => [program, ...args]), [
      ["rival", "chat"],
      ["rival", "messages"],
    ]);
    assertEquals(new Set(started.map(([, , , core]) => core)), new Set([0]));
    assertEquals(started.map(([, , , , settings]) => settings?.environment), [{ A: "b" }, {
      A: "b",
    }]);
  });
});

Deno.test("a peer whose program is missing is named with the command that installs it", async () => {
  await withServers(() => Promise.reject(new Error("not used")), async (servers, folder) => {
    const systems = newPeerSystems(servers, "http://127.0.0.1:1", folder);
    const system = await systems.get(newPeer(`${folder}/missing`), "chat");
    assert(system.kind === "missing");
    assertEquals(
      system.reason,
      "it is not installed; ./scripts/deno run -A scripts/bench/peers/install.ts installs it",
    );
  });
});

Deno.test("a peer that does not start has the last line of its output as its reason, without colours and control characters", async () => {
  await withServers(async (...call) => {
    await Deno.writeTextFile(call[4]?.logPath ?? "", "first\n\x1b[31mno such\x1b[0m\roption\n\n");
    throw new Error("rival has ended.");
  }, async (servers, folder) => {
    const systems = newPeerSystems(servers, "http://127.0.0.1:1", folder);
    const system = await systems.get(newPeer("rival"), "chat");
    assertEquals(system, { kind: "missing", reason: "it did not start (no such option)" });
  });
});
