import {
  type ConnectionCause,
  ConnectionError,
} from "../../../src/core/failure/connection_error.ts";
import { Cancellation } from "../../../src/core/cancellation.ts";
import { dial } from "../../../src/http_client/dial.ts";
import { newForceShutdown } from "../../../src/runtime/force_shutdown.ts";
import { bodyOf, errorText } from "./bodies.ts";
import { IN_BODY } from "./body_breaks.ts";
import type { Break } from "./break.ts";
import { OTHER_CONTENTS, OTHER_TYPES } from "./content_breaks.ts";

const encoder = new TextEncoder();
const always = () => true;

function unconnected(name: string, kind: ConnectionCause): Break {
  return {
    name,
    phase: "before sending",
    isUntaken: true,
    fits: always,
    answer: () => Promise.reject(new ConnectionError(kind, "no connection could be made")),
  };
}

/** The gateway's own dialling, with a resolver that knows no host: no real network decides. */
const UNRESOLVED: Break = {
  ...unconnected("unknown host (DNS)", "dns"),
  async answer() {
    const origin = { hostname: "provider.invalid", port: 443, isSecure: true };
    const find = () => Promise.reject(new Error("ENOTFOUND"));
    const connection = await dial(origin, new Cancellation(), newForceShutdown(), { find });
    connection.close();
    throw new Error("the host name was resolved");
  },
};

function unanswered(name: string, kind: ConnectionCause, isAnswered = false): Break {
  return {
    name,
    phase: "before the headers",
    isUntaken: false,
    fits: always,
    answer: () =>
      Promise.reject(new ConnectionError(kind, "broken", { mayHaveRun: true, isAnswered })),
  };
}

const TIMEOUT: Break = {
  name: "no answer within `timeout`",
  phase: "before the headers",
  isUntaken: false,
  fits: always,
  answer: ({ signal, fallSilent }) => {
    fallSilent();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  },
};

/** Statuses that say by definition that the request was not taken. */
const UNTAKEN_STATUSES: readonly number[] = [429, 503, 529];

function status(code: number): Break {
  return {
    name: `status ${code}`,
    phase: "the headers",
    isUntaken: UNTAKEN_STATUSES.includes(code),
    fits: always,
    answer(request) {
      const error = [encoder.encode(errorText(request.column.type))];
      const body = code === 204 || code === 302 ? null : bodyOf(error, "close", request);
      const headers = new Headers({ "content-type": "application/json", location: "/elsewhere" });
      return Promise.resolve({ status: code, headers, body });
    },
  };
}

/** Every break of the matrix. */
export const BREAKS: readonly Break[] = [
  unconnected("connection refused", "refused"),
  UNRESOLVED,
  unconnected("untrusted certificate (TLS)", "tls_untrusted"),
  unconnected("no TLS", "tls_other"),
  unconnected("no connection within `connect_timeout`", "timeout"),
  unconnected("no route", "unreachable"),
  unanswered("connection reset", "reset"),
  unanswered("connection closed", "closed"),
  unanswered("no valid HTTP", "malformed", true),
  TIMEOUT,
  ...[204, 302, 400, 401, 403, 404, 422, 429, 500, 501, 502, 503, 504, 529].map(status),
  ...OTHER_TYPES,
  ...IN_BODY,
  ...OTHER_CONTENTS,
];
