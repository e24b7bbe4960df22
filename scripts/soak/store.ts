import { startValkeyServer } from "../../tests/support/valkey_server.ts";

/** The state stores of a soak. */
export const STORES = ["memory", "sqlite", "valkey"] as const;
/** A state store of a soak. */
export type StoreName = typeof STORES[number];

/** One way in which a store becomes unavailable. */
export interface Outage {
  readonly name: string;
  /** True if the store is empty afterwards. */
  readonly forgets: boolean;
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** A store for the gateway of a soak. */
export interface SoakStore {
  /** The section `state` of the configuration. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly outages: readonly Outage[];
}

/** Opens a store with its files in `folder`; `started` ends it. */
export async function openSoakStore(
  store: StoreName,
  folder: string,
  started: AsyncDisposableStack,
): Promise<SoakStore> {
  switch (store) {
    case "memory":
      return { settings: { store }, outages: [] };
    case "sqlite":
      return await openFile(`${folder}/disk`, started);
    case "valkey":
      return await openServer(started);
  }
}

/** Size of the disk of a store in a file: more than the objects of a soak need. */
const DISK_BYTES = 32 * 1024 * 1024;

/** Bytes that are written at once to fill the disk. */
const FILLED_BYTES = 4096;

/** Puts the file on a small disk in memory, which is filled up. Without root there is none. */
async function openFile(disk: string, started: AsyncDisposableStack): Promise<SoakStore> {
  await Deno.mkdir(disk);
  const settings = { store: "sqlite", sqlite: { path: `${disk}/state.db` } };
  const options = ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", disk];
  const canMount = await succeeds("mount", options);
  if (!canMount) return { settings, outages: [] };
  started.defer(async () => void await succeeds("umount", [disk]));
  const filled = `${disk}/filled`;
  const outage: Outage = {
    name: "its disk is full",
    forgets: false,
    async begin() {
      using file = await Deno.open(filled, { create: true, write: true });
      const block = new Uint8Array(FILLED_BYTES);
      try {
        for (;;) await file.write(block);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      }
    },
    end: () => Deno.remove(filled),
  };
  return { settings, outages: [outage] };
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    const command = new Deno.Command(program, { args: [...args], stdout: "null", stderr: "null" });
    return (await command.output()).success;
  } catch {
    return false;
  }
}

async function openServer(started: AsyncDisposableStack): Promise<SoakStore> {
  const server = await startValkeyServer();
  started.defer(() => server.close());
  return {
    settings: { store: "valkey", valkey: { url: server.url } },
    outages: [
      {
        name: "its server is silent",
        forgets: false,
        begin: server.pause,
        end: () => Promise.resolve(server.resume()),
      },
      {
        name: "its server ends and starts again, empty",
        forgets: true,
        begin: server.kill,
        end: server.restart,
      },
    ],
  };
}
