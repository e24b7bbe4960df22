import {
  type Attack,
  countsOf,
  frame,
  keyHeaders,
  oneProvider,
  openSocket,
  pause,
  type RawConnection,
  reload,
  security,
  TEXT_CODE,
} from "./support.ts";

const LIMITED = "gk-attacks-limited-0123456789abcdef", GONE = "gk-attacks-gone-0123456789abcdef";

const MESSAGE_COUNT = 20, MESSAGE_CHARS = 1_600_000, ITEM_COUNT = 9_000;

/** Time for a reload, and for the last responses. */
const RELOAD_MS = 1_500;

/** Large messages of a key above its rate, and of a key that a reload has disabled. */
export const refusedMessages: Attack = {
  row: "A5",
  size: (times) => `${MESSAGE_COUNT * times} refused messages of 1.8 MB, on 2 sockets each`,
  config: (upstream) => ({
    ...oneProvider(`${upstream}/compat/v1`),
    security: security({
      limited: { value: LIMITED, requests_per_minute: 1 },
      gone: { value: GONE, requests_per_minute: 60_000 },
    }),
    rate_limiting: { enabled: true, burst_size: 2 },
  }),
  async load(target, times) {
    const content = "x".repeat(MESSAGE_CHARS / ITEM_COUNT);
    const items = Array(ITEM_COUNT).fill({ role: "user", content });
    const message = frame(
      TEXT_CODE,
      JSON.stringify({ type: "response.create", model: "sim-echo", input: items }),
    );
    const count = MESSAGE_COUNT * times;
    using limited = await openSocket(target, keyHeaders(LIMITED));
    using gone = await openSocket(target, keyHeaders(GONE));
    const received = [limited.readUntil("no end"), gone.readUntil("no end")];
    const sent = [0, 0];
    const sendAll = async (socket: RawConnection, at: number) => {
      for (let left = count; left > 0 && await socket.write(message); left--) sent[at]! += 1;
    };
    // The handshake has taken one of two tokens, so that one message is served.
    await sendAll(limited, 0);
    await reload(target, (text) => text.replace(`"${GONE}"`, `"${GONE}","disabled":true`));
    await pause(RELOAD_MS);
    await sendAll(gone, 1);
    await pause(RELOAD_MS);
    for (const socket of [limited, gone]) socket[Symbol.dispose]();
    const texts = await Promise.all(received);
    const codes = texts.map((text) =>
      countsOf(
        [...text.matchAll(/"error":\{[^}]*?"code":\s*"(\w+)"/g)].map(([, code = ""]) => code),
      )
    );
    return `limited: ${sent[0]} sent, ${codes[0]}; disabled: ${sent[1]} sent, ${codes[1]}`;
  },
};
