import { contentPolicy, importMapSource } from "../../src/admin/content_policy.ts";
import { PAGE_FILES } from "../../src/admin/page_files.ts";
import type { ExplainView, Snapshot } from "../../src/admin/snapshot.ts";

/** The admin page over snapshots that the test writes, under the content policy of the listener. */
export interface ScriptedAdmin extends AsyncDisposable {
  readonly url: string;
  /**
   * Sends a snapshot to each page that is open. A page that opens the stream later, as after 6 s
   * without a snapshot, gets it too, or `later` if that is given.
   */
  send(snapshot: Snapshot, later?: Snapshot): void;
  /** Number of requests for the stream of snapshots. */
  readonly opened: number;
  /** Number of streams of snapshots that are open. */
  readonly open: number;
  /** Queries of the explained requests. */
  readonly explained: readonly string[];
  /** Ends the streams, as a connection that breaks does. */
  endStreams(): void;
  /** Ends the streams and stops listening, as a gateway that ends does. */
  close(): Promise<void>;
}

/** Serves the page at a port, by default a free one. */
export function serveScripted(
  first: Snapshot,
  { port = 0, explain = { lines: [], isServed: true } }: {
    readonly port?: number;
    readonly explain?: ExplainView;
  } = {},
): ScriptedAdmin {
  const encoder = new TextEncoder();
  const listeners = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const explained: string[] = [];
  let latest = first;
  let opened = 0;

  const stop = new AbortController();
  const { signal } = stop;
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {}, signal }, (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/events") {
      return new Response(events(), { headers: headers("text/event-stream") });
    }
    if (pathname === "/snapshot") {
      return new Response(null, { headers: headers("application/json") });
    }
    if (pathname === "/explain") {
      explained.push(search);
      return new Response(JSON.stringify(explain), { headers: headers("application/json") });
    }
    const file = PAGE_FILES.get(pathname);
    if (file === undefined) return new Response(null, { status: 404 });
    return new Response(file.text, { headers: headers(file.type) });
  });

  function headers(type: string): Record<string, string> {
    const page = PAGE_FILES.get("/")?.text ?? "";
    const gateway = { url: latest.gatewayUrl, names: [] };
    return {
      "content-type": type,
      "cache-control": "no-store",
      "content-security-policy": contentPolicy(importMapSource(page), null, gateway),
    };
  }

  function events(): ReadableStream<Uint8Array> {
    opened++;
    let own: ReadableStreamDefaultController<Uint8Array> | null = null;
    return new ReadableStream({
      start(controller) {
        own = controller;
        listeners.add(controller);
        controller.enqueue(eventOf(latest));
      },
      cancel() {
        if (own !== null) listeners.delete(own);
      },
    });
  }

  function eventOf(snapshot: Snapshot): Uint8Array {
    return encoder.encode(`data: ${JSON.stringify(snapshot)}\n\n`);
  }

  function endStreams() {
    for (const controller of listeners) controller.close();
    listeners.clear();
  }

  async function close() {
    endStreams();
    // Not `shutdown`: it waits for streams that the page opens again meanwhile.
    stop.abort();
    await server.finished;
  }

  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    send(snapshot, later = snapshot) {
      latest = later;
      for (const controller of listeners) controller.enqueue(eventOf(snapshot));
    },
    get opened() {
      return opened;
    },
    get open() {
      return listeners.size;
    },
    explained,
    endStreams,
    close,
    [Symbol.asyncDispose]: close,
  };
}
