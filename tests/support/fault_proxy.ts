/** A TCP proxy before a server whose replies a test disturbs. */
export interface FaultProxy {
  readonly port: number;
  /** Number of the connections that it has accepted. */
  readonly accepted: number;
  /** Number of the connections of clients that have not ended. */
  readonly open: number;
  /** Passes everything on again, and what was held back. */
  pass(): void;
  /** Holds all replies back; requests still arrive at the server. */
  hold(): void;
  /** Passes replies on byte by byte, with a pause before each. */
  drip(pauseMs: number): void;
  /** Passes this many bytes of the next replies on, then ends the connections. */
  cutAfter(bytes: number): void;
  /** Ends all connections now. */
  cut(): void;
  close(): Promise<void>;
}

/** Certificate and key of a proxy that clients reach over TLS. */
export interface ProxyCertificate {
  readonly cert: string;
  readonly key: string;
}

type Mode =
  | { readonly kind: "pass" }
  | { readonly kind: "hold"; readonly released: Promise<void> }
  | { readonly kind: "drip"; readonly pauseMs: number }
  | { readonly kind: "cut"; left: number };

/** Starts a proxy on a free port before the server on a port of loopback. */
export function startFaultProxy(serverPort: number, certificate?: ProxyCertificate): FaultProxy {
  const address = { hostname: "127.0.0.1", port: 0 };
  const listener = certificate === undefined
    ? Deno.listen(address)
    : Deno.listenTls({ ...address, ...certificate });
  const open = new Set<Deno.Conn>();
  const clients = new Set<Deno.Conn>();
  const tasks = new Set<Promise<void>>();
  let mode: Mode = { kind: "pass" };
  let release = () => {};
  let accepted = 0;

  function end(connection: Deno.Conn): void {
    if (open.delete(connection)) connection.close();
  }

  function run(task: Promise<void>): void {
    const running: Promise<void> = task.catch(() => {}).finally(() => tasks.delete(running));
    tasks.add(running);
  }

  async function passReply(client: Deno.Conn, reply: Uint8Array): Promise<boolean> {
    while (mode.kind === "hold") await mode.released;
    if (mode.kind === "cut") {
      const part = reply.subarray(0, mode.left);
      mode.left -= part.length;
      await writeAll(client, part);
      return mode.left > 0;
    }
    if (mode.kind === "pass") await writeAll(client, reply);
    for (let at = 0; mode.kind === "drip" && at < reply.length; at++) {
      await new Promise((resolve) => setTimeout(resolve, mode.kind === "drip" ? mode.pauseMs : 0));
      await writeAll(client, reply.subarray(at, at + 1));
    }
    return true;
  }

  async function pump(
    from: Deno.Conn,
    to: Deno.Conn,
    pass: (to: Deno.Conn, bytes: Uint8Array) => Promise<boolean>,
  ): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const count = await from.read(buffer);
        if (count === null || !await pass(to, buffer.slice(0, count))) return;
      }
    } finally {
      end(from);
      end(to);
    }
  }

  async function serve(client: Deno.Conn): Promise<void> {
    open.add(client);
    clients.add(client);
    const server = await Deno.connect({ hostname: "127.0.0.1", port: serverPort }).catch(() =>
      null
    );
    if (server === null) return end(client);
    open.add(server);
    run(pump(client, server, (to, bytes) => writeAll(to, bytes).then(() => true)));
    run(pump(server, client, passReply));
  }

  async function accept(): Promise<void> {
    for await (const client of listener) {
      accepted++;
      run(serve(client));
    }
  }

  function setMode(next: Mode): void {
    mode = next;
    release();
    release = () => {};
  }

  run(accept());

  return {
    port: listener.addr.port,
    get accepted() {
      return accepted;
    },
    get open() {
      return clients.intersection(open).size;
    },
    pass: () => setMode({ kind: "pass" }),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      setMode({ kind: "hold", released: promise });
      release = resolve;
    },
    drip: (pauseMs) => setMode({ kind: "drip", pauseMs }),
    cutAfter: (bytes) => setMode({ kind: "cut", left: bytes }),
    cut() {
      for (const connection of open) end(connection);
    },
    async close() {
      listener.close();
      setMode({ kind: "pass" });
      for (const connection of open) end(connection);
      await Promise.all(tasks);
    },
  };
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
