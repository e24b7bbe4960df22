/** One HTTP request that the dashboard received, a WebSocket handshake among them. */
export interface DashboardRequest {
  readonly method: string;
  /** With the query, where there is one. */
  readonly path: string;
  readonly headers: Headers;
  /** Empty for a handshake. */
  readonly text: string;
}

/** How the dashboard behaves; what is left out behaves well. */
export interface DashboardScript {
  /**
   * Answers a POST of the collector; 202 without it. Counted from 1. A promise that stays open is a
   * slow one.
   */
  readonly collector?: (request: DashboardRequest, count: number) => Response | Promise<Response>;
  /**
   * Answers a handshake of the control channel instead of accepting it; null accepts it. Counted
   * from 1.
   */
  readonly handshake?: (request: DashboardRequest, count: number) => Response | null;
  /** Answers every other path, such as that of a release check; 404 without it. */
  readonly other?: (request: DashboardRequest) => Response | Promise<Response>;
}

/** Content of one POST of the collector. */
export interface Collected {
  readonly headers: Headers;
  /** The parsed body; undefined when it is no JSON. */
  readonly body: unknown;
}

/** One connection of the control channel, from the dashboard's side. */
export interface DashboardSocket {
  readonly request: DashboardRequest;
  /** Sends a text as it is, anything else as JSON. */
  send(message: unknown): void;
  /** The next message, parsed as JSON; null when the connection is over. */
  receive(): Promise<unknown>;
  /** Closes the connection and waits until it is. */
  close(): Promise<void>;
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
}

/** The other side of everything that a gateway sends by itself, on a loopback port. */
export interface Dashboard extends AsyncDisposable {
  /** Such as `http://127.0.0.1:50123`, without a slash at its end: `general.backend_url`. */
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly DashboardRequest[];
  /** The POSTs to the collector so far, in order of arrival. */
  readonly collected: readonly Collected[];
  /** Resolves with POST number `count` of the collector, counted from 1. */
  collection(count: number): Promise<Collected>;
  /** The next connection of the control channel that no earlier call of this has been given. */
  socket(): Promise<DashboardSocket>;
  /** Ends every connection, whatever runs. */
  close(): Promise<void>;
}

const COLLECTOR = "/collector";
const CONTROL = "/remote-control/ws/gateway";

/** Listens on a free loopback port. */
export function startDashboard(script: DashboardScript = {}): Dashboard {
  const requests: DashboardRequest[] = [];
  const collected = sequence<Collected>();
  const sockets = sequence<DashboardSocket>();
  const open = new Set<DashboardSocket>();
  const stop = new AbortController();
  let handshakes = 0;
  let taken = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, signal: stop.signal },
    answer,
  );

  async function answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const isHandshake = request.headers.get("upgrade")?.toLowerCase() === "websocket";
    const received = {
      method: request.method,
      path: pathname + search,
      // Newer runtimes close a request that is upgraded.
      headers: new Headers(request.headers),
      text: isHandshake ? "" : await request.text(),
    };
    requests.push(received);
    if (pathname === CONTROL && isHandshake) return accept(request, received);
    if (pathname !== COLLECTOR || request.method !== "POST") {
      return await script.other?.(received) ?? new Response(null, { status: 404 });
    }
    collected.add({ headers: received.headers, body: parsed(received.text) });
    const count = collected.all.length;
    return await script.collector?.(received, count) ?? new Response(null, { status: 202 });
  }

  function accept(request: Request, received: DashboardRequest): Response {
    const refused = script.handshake?.(received, ++handshakes) ?? null;
    if (refused !== null) return refused;
    const { socket, response } = Deno.upgradeWebSocket(request);
    const connection = connectionOn(socket, received);
    socket.onopen = () => {
      open.add(connection);
      sockets.add(connection);
    };
    void connection.closed.then(() => open.delete(connection));
    return response;
  }

  async function close() {
    await Promise.all([...open].map((connection) => connection.close()));
    stop.abort();
    await server.finished;
  }

  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    collected: collected.all,
    collection: (count) => collected.at(count - 1),
    socket: () => sockets.at(taken++),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function connectionOn(socket: WebSocket, request: DashboardRequest): DashboardSocket {
  const messages = sequence<unknown>();
  const over = Promise.withResolvers<void>();
  let read = 0;
  socket.onmessage = ({ data }) => {
    messages.add(typeof data === "string" ? parsed(data) : data);
  };
  socket.onclose = () => {
    messages.end(null);
    over.resolve();
  };
  return {
    request,
    send: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    receive: () => messages.at(read++),
    async close() {
      socket.close();
      await over.promise;
    },
    closed: over.promise,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Things that come one after the other and can be waited for. */
function sequence<Item>() {
  const all: Item[] = [];
  const waiting = new Map<number, ((item: Item) => void)[]>();
  let last: { readonly item: Item } | null = null;
  return {
    all,
    add(item: Item) {
      all.push(item);
      const key = all.length - 1;
      for (const resolve of waiting.get(key) ?? []) resolve(item);
      waiting.delete(key);
    },
    /** No more messages come: each waiting and each later call rejects with this error. */
    end(item: Item) {
      last = { item };
      for (const resolve of [...waiting.values()].flat()) resolve(item);
      waiting.clear();
    },
    at(index: number): Promise<Item> {
      for (const known of all.slice(index, index + 1)) return Promise.resolve(known);
      if (last !== null) return Promise.resolve(last.item);
      return new Promise((resolve) => {
        waiting.set(index, [...waiting.get(index) ?? [], resolve]);
      });
    },
  };
}
