import {
  type Attack,
  countsOf,
  frame,
  keyHeaders,
  oneProvider,
  openSocket,
  reload,
  security,
  TEXT_CODE,
} from "./support.ts";

const LIMITED = "gk-attacks-limited-0123456789abcdef", GONE = "gk-attacks-gone-0123456789abcdef";

const MESSAGE_COUNT = 20, MESSAGE_CHARS = 1_800_000;

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
    const items = Array.from({ length: MESSAGE_CHARS / 60 }, (_, at) => ({
      role: "user",
      content: `item ${at} `.padEnd(27, "x"),
    }));
    const message = frame(
      TEXT_CODE,
      JSON.stringify({ type: "response.create", model: "sim-echo", input: items }),
    );
    const count = MESSAGE_COUNT * times;
    using limited = await openSocket(target, keyHeaders(LIMITED));
    using gone = await openSocket(target, keyHeaders(GONE));
    let sent = 0, served = 0;
    // The handshake has taken one of two tokens, so that one message is served.
    while (sent < count && await limited.write(message)) {
      sent++;
      if (sent === Math.floor(count / 2)) {
        await reload(target, (text) => text.replace(`"${GONE}"`, `"${GONE}","disabled":true`));
      }
    }
    for (; served < count && await gone.write(message); served++);
    const texts = [
      await limited.readUntil("rate_limit_exceeded"),
      await gone.readUntil("\x03\xf0"),
    ];
    const codes = texts.map((text) =>
      countsOf([...text.matchAll(/"code":\s*"(\w+)"/g)].map(([, code]) => code ?? ""))
    );
    return `limited: ${sent} sent, ${codes[0]}; disabled: ${served} sent, ${codes[1]}`;
  },
};
