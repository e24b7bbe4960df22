import type { ValkeyConnection } from "../../../src/store/valkey/connection.ts";
import {
  ADMIT,
  BUCKET_TTL,
  RELEASE,
  RENEW,
  SERVER_TIME,
  SETTLE,
  SPENT,
} from "../../../src/store/valkey/quota_scripts.ts";

/** Time for which the keys of buckets are stored, longer than a test. */
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Returns a connection on which the scripts of quotas read the time of a test, in milliseconds,
 * instead of that of the server, in which no bucket expires. Everything else in them stays as it
 * is.
 */
export function withScriptedTime(
  connection: ValkeyConnection,
  now: () => number,
): ValkeyConnection {
  const texts = new Map([ADMIT, SETTLE, RENEW, RELEASE, SPENT].map(({ digest, text }) => [
    digest,
    text,
  ]));
  return {
    ...connection,
    send(command, args) {
      const text = command === "EVALSHA" ? texts.get(String(args[0])) : undefined;
      if (text === undefined) return connection.send(command, args);
      const time = `local now = ${now() * 1000}\nlocal ms = math.floor(now / 1000)`;
      return connection.send("EVAL", [
        text.replace(SERVER_TIME, time).replace(BUCKET_TTL, String(DAY_MS)),
        ...args.slice(1),
      ]);
    },
  };
}
