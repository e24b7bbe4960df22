import { libcPath } from "../libc.ts";

/** Ends a connection in the middle of what it does. It is still to be closed. */
export type CutOff = (connection: Pick<Deno.Conn, "localAddr" | "remoteAddr">) => void;

/** Neither side may send any more (shutdown(2)). */
const SHUT_RDWR = 2;

/** Both ends of a connection, each as address and port. */
interface Ends {
  readonly localPort: number;
  readonly local: string;
  readonly remote: string;
}

/**
 * Closing alone leaves a connection open for as long as a write or a TLS handshake waits for the other
 * side, and Deno has no call that ends those. Best effort, on Linux. All that are cut off in one turn
 * are looked for together: a provider that stalls may cost many at once.
 */
export function newCutOff(): CutOff {
  let wanted: Ends[] = [];

  function cutAll() {
    const all = wanted;
    wanted = [];
    try {
      shutDown(all);
    } catch {
      // Without the permissions for it a connection ends when the other side goes on.
    }
  }

  return ({ localAddr, remoteAddr }) => {
    // Those of a TLS connection do not tell their transport.
    const isKnown = "hostname" in localAddr && "hostname" in remoteAddr;
    if (Deno.build.os !== "linux" || !isKnown) return;
    wanted.push({
      localPort: localAddr.port,
      local: `${localAddr.hostname} ${localAddr.port}`,
      remote: `${remoteAddr.hostname} ${remoteAddr.port}`,
    });
    if (wanted.length === 1) queueMicrotask(cutAll);
  };
}

function shutDown(wanted: readonly Ends[]): void {
  const path = libcPath();
  if (path === undefined) return;
  const libc = Deno.dlopen(path, {
    getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    shutdown: { parameters: ["i32", "i32"], result: "i32" },
  });
  const { getsockname, getpeername, shutdown } = libc.symbols;
  const address = new Uint8Array(28);
  const size = new Uint32Array(1);
  const isTold = (ask: typeof getsockname, descriptor: number) => {
    size[0] = address.length;
    return ask(descriptor, address, size) === 0;
  };
  try {
    for (const { name } of Deno.readDirSync("/proc/self/fd")) {
      const descriptor = Number(name);
      if (!isTold(getsockname, descriptor)) continue;
      const port = portIn(address);
      const likely = wanted.filter(({ localPort }) => localPort === port);
      if (likely.length === 0) continue;
      const local = textOf(address);
      const remote = isTold(getpeername, descriptor) ? textOf(address) : null;
      if (likely.some((ends) => ends.local === local && ends.remote === remote)) {
        shutdown(descriptor, SHUT_RDWR);
      }
    }
  } finally {
    libc.close();
  }
}

function portIn(address: Uint8Array<ArrayBuffer>): number {
  return new DataView(address.buffer).getUint16(2);
}

/** What a `sockaddr_in` or `sockaddr_in6` says, as Deno writes it; null for other kinds. */
function textOf(address: Uint8Array<ArrayBuffer>): string | null {
  const view = new DataView(address.buffer);
  // The family is in the order of the machine, which has its low byte first here.
  switch (view.getUint16(0, true)) {
    case 2:
      return `${address.subarray(4, 8).join(".")} ${portIn(address)}`;
    case 10: {
      const groups = [8, 10, 12, 14, 16, 18, 20, 22].map((at) => view.getUint16(at).toString(16));
      const { hostname } = new URL(`http://[${groups.join(":")}]`);
      return `${hostname.slice(1, -1)} ${portIn(address)}`;
    }
    default:
      return null;
  }
}
