import { listen } from "../../src/cli/listen.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";

/** A wait that a gateway has requested. */
export interface Wait {
  readonly ms: number;
  readonly run: () => void;
}

/** A gateway on a socket, and what it asks of the real world. */
export interface ObservedGateway extends TestGateway, AsyncDisposable {
  /** Address of its chat endpoint. */
  readonly chat: string;
  /** The signals of its upstream calls, in order. */
  readonly signals: readonly AbortSignal[];
  /** Resolves when the first upstream call has its status and headers. */
  readonly answered: Promise<void>;
  /** Resolves when it begins a wait of this many milliseconds. */
  waits(ms: number): Promise<Wait>;
  close(): Promise<void>;
}

/** Serves a gateway whose outside is watched but real. */
export function observedGateway(config: string): ObservedGateway {
  const world = newRealWorld();
  const signals: AbortSignal[] = [];
  const answered = Promise.withResolvers<void>();
  const waits: Wait[] = [];
  const wanted: { readonly ms: number; readonly found: (wait: Wait) => void }[] = [];
  const gateway = testGateway(config, {
    ...world,
    after(ms, run) {
      waits.push({ ms, run });
      for (const { ms: wish, found } of wanted) if (wish === ms) found({ ms, run });
      return world.after(ms, run);
    },
    async send(url, request) {
      signals.push(request.cancellation.signal());
      const response = await world.send(url, request);
      answered.resolve();
      return response;
    },
  });
  const listening = listen((request) => gateway.app(request), "127.0.0.1", 0);
  if (!listening.ok) throw new Error(listening.trouble);

  async function close() {
    if (listening.ok) await listening.close();
    world.close();
  }

  return {
    ...gateway,
    chat: `${listening.url}/v1/chat/completions`,
    signals,
    answered: answered.promise,
    waits(ms) {
      const known = waits.find((wait) => wait.ms === ms);
      return known === undefined
        ? new Promise((found) => wanted.push({ ms, found }))
        : Promise.resolve(known);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
