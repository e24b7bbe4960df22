/** `AF_UNSPEC`: "connecting" to it ends a TCP connection with a reset (connect(2)). */
const NO_ADDRESS = new Uint8Array(16);

/**
 * Sends a TCP reset on the connection, which is still to be closed. Deno has no call for it, and
 * closing with a linger time of zero sends an orderly end first, so it goes through libc. Where
 * that is not to be had (not Linux) nothing is sent.
 */
export function sendReset(connection: Deno.TcpConn | Deno.TlsConn): void {
  if (Deno.build.os !== "linux") return;
  const libc = Deno.dlopen("libc.so.6", {
    getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  });
  const { getsockname, getpeername, connect } = libc.symbols;

  function port(ask: typeof getsockname, descriptor: number): number | null {
    const address = new Uint8Array(128);
    const size = new Uint32Array([address.length]);
    if (ask(descriptor, address, size) !== 0) return null;
    return new DataView(address.buffer).getUint16(2);
  }

  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    const isIt = port(getsockname, descriptor) === connection.localAddr.port &&
      port(getpeername, descriptor) === connection.remoteAddr.port;
    if (isIt) connect(descriptor, NO_ADDRESS, NO_ADDRESS.length);
  }
  libc.close();
}
