import type { RequestForms } from "../routing/explain.ts";
import { authorityIn } from "../core/authority.ts";
import { contentPolicy, importMapSource, TEXT_POLICY } from "./content_policy.ts";
import { newEvents } from "./events.ts";
import { type GuardedRequest, newAdminGuard } from "./guard.ts";
import { peerAddress } from "../core/peer_address.ts";
import type { Log } from "../observe/log.ts";
import { newAdminLog } from "./log.ts";
import { newFigureReader } from "./key_figures.ts";
import type { PageFile } from "./page_files.ts";
import { newSnapshots, type SnapshotSource } from "./take_snapshot.ts";
import { explainQuery, readUsage } from "./queries.ts";

/** The requests of the admin listener. */
export interface Admin {
  /** Answers a request; never rejects. */
  handle(request: Request, client?: AdminClient): Promise<Response>;
  /** Ends all streams of snapshots. */
  close(): void;
}

/** The client end of a connection, as far as the listener uses it. */
export interface AdminClient {
  /** Ends the connection at once. Absent if the sockets of the process are not accessible. */
  readonly abort?: () => void;
  readonly remoteAddr?: Deno.Addr;
}

/** Dependencies of the admin listener. */
export interface AdminOptions extends SnapshotSource {
  /** Forms of the requests that are explained, by client API. */
  readonly forms: RequestForms;
  /** Files of the page by path; `/` is the page itself. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** Receives a line for each look at the content of records. */
  readonly log: Pick<Log, "info">;
  /** Receives a thrown error, which is a bug. */
  onBug(error: unknown): void;
}

/** Maximum number of requests in flight. Open streams of snapshots have a bound of their own. */
const MAX_REQUESTS = 64;

/** A response before it has the headers of every response. */
interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

const TEXT_TYPE = "text/plain; charset=utf-8", JSON_TYPE = "application/json";

/** Returns the handler of the admin listener. It changes nothing and serves GET and HEAD only. */
export function newAdmin(options: AdminOptions): Admin {
  const { gateway, forms, files, onBug, gatewayUrl, recorder = null, log } = options;
  const { config } = gateway.generation;
  const { admin, server } = config;
  const guard = newAdminGuard({
    hosts: [gateway.hostname, admin.host, ...server.allowed_hosts],
    password: admin.password ?? null,
  });
  const importMap = importMapSource(files.get("/")?.text ?? "");
  const figures = newFigureReader(gateway);
  const take = newSnapshots(options, figures);
  const events = newEvents(gateway.world, take, () => figures.refresh(), onBug);
  options.notes.onChange(() => events.sendNow());
  const records = newAdminLog({
    gateway,
    // Only clients with the password see the content of calls, on this machine too.
    scan: admin.password === undefined ? null : recorder?.scan ?? null,
    log,
    gatewayUrl,
  });
  let inFlight = 0;
  /** Settles when the last report of usage has been made. */
  let reading: Promise<unknown> = Promise.resolve();

  async function answer(request: GuardedRequest, client: AdminClient): Promise<Answer> {
    const refused = guard(request);
    if (refused !== null) {
      const { status, text, headers } = refused;
      return { ...plain(status, text), headers };
    }
    if (inFlight > MAX_REQUESTS) return busy("Too many requests at once; try again.");
    // A `Host` may have a zone, which a URL may not.
    const authority = authorityIn(request.url);
    const { pathname, searchParams } = new URL(request.url.replace(authority, "localhost"));
    switch (pathname) {
      case "/events":
        return await openEvents(request.method === "HEAD", client);
      case "/snapshot":
        await figures.refresh();
        return json(take());
      case "/explain": {
        const explained = explainQuery(searchParams, gateway, forms);
        return typeof explained === "string" ? plain(400, explained) : json(explained);
      }
      case "/usage": {
        // One at a time: a report of very many models takes as much memory as all of its lines.
        const read = reading.then(() => readUsage(searchParams, gateway));
        // Not the report itself, which would stay in memory.
        reading = read.then(() => {}, () => {});
        const { status, type, text } = await read;
        return { status, type, body: text.endsWith("\n") ? text : `${text}\n` };
      }
      case LOG_PATH:
        // A search without a reader would never end.
        if (request.method === "HEAD") return { status: 200, type: JSON_TYPE, body: "" };
        return records.list(searchParams, peerAddress(client));
    }
    if (pathname.startsWith(RECORD_PATH)) {
      return await records.show(pathname.slice(RECORD_PATH.length), peerAddress(client));
    }
    const file = files.get(pathname);
    return file === undefined
      ? plain(404, "This path is not offered here.")
      : { status: 200, type: file.type, body: file.text };
  }

  async function openEvents(isHead: boolean, { abort }: AdminClient): Promise<Answer> {
    await figures.refresh();
    const body = isHead ? "" : events.open(abort);
    return body === null
      ? busy("Too many pages are open; close one of them.")
      : { status: 200, type: "text/event-stream", body };
  }

  function policy({ headers }: GuardedRequest): string {
    const names = server.allowed_hosts;
    return contentPolicy(importMap, headers.get("host"), { url: gatewayUrl(), names });
  }

  return {
    async handle(request, client = {}) {
      inFlight++;
      try {
        const { status, type, body, headers } = await answer(request, client);
        return new Response(request.method === "HEAD" ? null : body, {
          status,
          headers: {
            "content-type": type,
            ...FIXED_HEADERS,
            "content-security-policy": policy(request),
            ...headers,
          },
        });
      } catch (error) {
        onBug(error);
        return new Response("The admin listener has failed; this is a bug in it.\n", {
          status: 500,
          headers: {
            "content-type": TEXT_TYPE,
            ...FIXED_HEADERS,
            "content-security-policy": TEXT_POLICY,
          },
        });
      } finally {
        inFlight--;
      }
    },
    close: () => events.close(),
  };
}

/** Path of the records, and of one before its ID. */
const LOG_PATH = "/log";
const RECORD_PATH = "/log/";

/** Headers of every response besides the content policy. */
const FIXED_HEADERS = {
  "cache-control": "no-store, no-transform",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
} as const;

function plain(status: number, text: string): Answer {
  return { status, type: TEXT_TYPE, body: `${text}\n` };
}

function busy(text: string): Answer {
  return { ...plain(503, text), headers: { "retry-after": "1" } };
}

function json(value: unknown): Answer {
  return { status: 200, type: JSON_TYPE, body: `${JSON.stringify(value)}\n` };
}
