import { libcPath } from "../libc.ts";

/** Neither side may send any more (shutdown(2)). */
const SHUT_RDWR = 2;

/**
 * Ends a connection in the middle of what it does. Closing alone leaves it open for as long as a
 * write or a TLS handshake waits for the other side, and Deno has no call that ends those. Best
 * effort, on Linux; it is still to be closed.
 */
export function cutOff({ localAddr, remoteAddr }: Pick<Deno.Conn, "localAddr" | "remoteAddr">) {
  if (localAddr.transport !== "tcp" || remoteAddr.transport !== "tcp") return;
  if (Deno.build.os !== "linux") return;
  try {
    const wanted = [
      named(localAddr.hostname, localAddr.port),
      named(remoteAddr.hostname, remoteAddr.port),
    ];
    const path = libcPath();
    if (path === undefined) return;
    const libc = Deno.dlopen(path, {
      getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
      getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
      shutdown: { parameters: ["i32", "i32"], result: "i32" },
    });
    const { getsockname, getpeername, shutdown } = libc.symbols;
    for (const { name } of Deno.readDirSync("/proc/self/fd")) {
      const descriptor = Number(name);
      const isIt = [getsockname, getpeername].every((ask, index) => {
        const address = new Uint8Array(28);
        const size = new Uint32Array([address.length]);
        return ask(descriptor, address, size) === 0 && addressIn(address) === wanted[index];
      });
      if (isIt) shutdown(descriptor, SHUT_RDWR);
    }
    libc.close();
  } catch {
    // Without the permissions for it, or where an address is unusual, the connection ends when the other side goes on.
  }
}

/** Address and port in one spelling. */
function named(hostname: string, port: number): string {
  return `${
    new URL(`http://${hostname.includes(":") ? `[${hostname}]` : hostname}`).hostname
  } ${port}`;
}

/** What a `sockaddr_in` or `sockaddr_in6` says; null for other kinds. */
function addressIn(address: Uint8Array<ArrayBuffer>): string | null {
  const view = new DataView(address.buffer);
  const port = view.getUint16(2);
  // The family is in the order of the machine, which has its low byte first here.
  switch (view.getUint16(0, true)) {
    case 2:
      return named(address.subarray(4, 8).join("."), port);
    case 10: {
      const groups = [8, 10, 12, 14, 16, 18, 20, 22].map((at) => view.getUint16(at).toString(16));
      return named(groups.join(":"), port);
    }
    default:
      return null;
  }
}
