import { listen } from "../../src/cli/listen.ts";
import { newEndingHandler } from "../../src/simulator/ending.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";

/** Response of the simulator to one request of the gateway. */
export interface SimulatorResponse {
  readonly path: string;
  readonly status: number;
  readonly type: string;
  /** The text of the body as far as it has been sent. */
  text(): string;
}

/** The simulator as an upstream that records its answers by the mark in the request. */
export interface RecordingUpstream extends AsyncDisposable {
  readonly url: string;
  /** Returns what was said to the requests that have this mark, in order, and forgets them. */
  take(mark: string): readonly SimulatorResponse[];
}

/** A word of each request that no other use has. */
export function markOf(number: number): string {
  return `soak${number}x`;
}

const MARK = /soak\d+x/g;

/** Serves the simulator on a free port of this machine. */
export function serveUpstream(): RecordingUpstream {
  const world = newRealWorld();
  // Newer runtimes do not report that the gateway has left a request without a response.
  const { handle: simulate, end } = newEndingHandler(newSimulator(world));
  const responses = new Map<string, SimulatorResponse[]>();
  const server = listen(
    async (request) => {
      // The simulator reads the request itself, whose signal ends what a client has left.
      const mark = lastMark(await request.clone().bytes());
      const response = await simulate(request);
      if (mark === null) return response;
      const pieces: Uint8Array[] = [];
      const { status, headers } = response;
      const record = {
        path: new URL(request.url).pathname,
        status,
        type: headers.get("content-type") ?? "",
        text: () => textOf(pieces),
      };
      responses.set(mark, [...responses.get(mark) ?? [], record]);
      const recorded = response.body?.pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform(piece, controller) {
            pieces.push(piece);
            controller.enqueue(piece);
          },
        }),
      ) ?? null;
      return new Response(recorded, { status, headers });
    },
    "127.0.0.1",
    0,
  );
  if (!server.ok) throw new Error(server.trouble);
  return {
    url: server.url.replace(/\/$/, ""),
    take(mark) {
      const found = responses.get(mark) ?? [];
      responses.delete(mark);
      return found;
    },
    async [Symbol.asyncDispose]() {
      end();
      await server.close();
      world.close();
    },
  };
}

function lastMark(body: Uint8Array): string | null {
  return new TextDecoder().decode(body).match(MARK)?.at(-1) ?? null;
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
