type Reasons = readonly (readonly [pattern: RegExp, reason: string])[];

/** Reasons of the errors that a server sends, in the words of the log. */
const SERVER_REASONS: Reasons = [
  [/^WRONGPASS|invalid password/, "it refuses the user name or password"],
  [/^NOAUTH/, "it requires a password, and none is configured"],
  [
    /NOPERM|no permissions|user executing the script can't/,
    "the user has no permission for a command that the store needs",
  ],
  [/DB index|SELECT is not allowed/, "it has no database of this number"],
  [/OOM/, "its memory is full (maxmemory)"],
  [/READONLY/, "it is a replica, which accepts no writes"],
  [/MISCONF/, "it refuses writes because it cannot save its data on disk"],
  [/LOADING/, "it is loading its data"],
  [/MASTERDOWN/, "it is a replica without a primary"],
  [/CLUSTERDOWN/, "the cluster is down"],
  [/MOVED|CROSSSLOT/, "it is a node of a cluster; set state.valkey.cluster to true"],
  [/cluster support disabled/, "it is not a node of a cluster; set state.valkey.cluster to false"],
  [/BUSY|UNKILLABLE/, "it is busy with a script"],
  [/max number of clients/, "it has too many clients"],
  [/DENIED/, "it is in protected mode; configure a password at the server"],
  [/WRONGTYPE/, "a key with the prefix of the store has a value of another type"],
];

/** Reasons why there is no connection, in the words of the log. */
const CONNECTION_REASONS: Reasons = [
  [/ECONNREFUSED/, "the connection was refused"],
  [/ENOTFOUND|EAI_|ENODATA|getaddrinfo|lookup/, "its host name cannot be resolved"],
  [/EHOSTUNREACH|ENETUNREACH/, "there is no route to it"],
  [/Socket timeout/, "it does not answer"],
  [/ETIMEDOUT/, "the connection could not be made in time"],
  [/entinels/, "no sentinel knows the address of the primary"],
  [/startup nodes|slots cache/, "no node of the cluster answers"],
  [
    /UNKNOWN|[Cc]ertificate|CERT|altname/,
    "its certificate is not trusted or is for another name",
  ],
];

const UNKNOWN_ERROR = "it has sent an unknown error";

/** The reason of a connection that has ended without an error. */
export const CLOSED = "the connection was closed";

/**
 * Returns why a server does not execute commands, in our own words: the text of the library may
 * hold addresses, arguments and passwords. Null for an error that only follows from another one.
 */
export function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (isServerError(error)) return findReason(SERVER_REASONS, error.message) ?? UNKNOWN_ERROR;
  return findReason(CONNECTION_REASONS, `${codeOf(error)} ${error.message}`);
}

function findReason(reasons: Reasons, text: string): string | null {
  return reasons.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** Returns the first word of the error of a server, such as `NOSCRIPT`. */
export function errorCode(error: unknown): string {
  return error instanceof Error ? /^[A-Z]+/.exec(error.message)?.[0] ?? "" : "";
}

/** True if the reply of the server is about the type of a stored value. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.includes("WRONGTYPE");
}

/** True if the server has no database of the configured number. */
export function isWrongDatabase(error: unknown): boolean {
  return error instanceof Error && /DB index|SELECT is not allowed/.test(error.message);
}

/** True if the server refuses the configured user or password. */
export function isRefusedUser(error: unknown): boolean {
  return error instanceof Error && /^WRONGPASS|invalid password/.test(error.message);
}

/** True if the server itself has sent this error. */
export function isServerError(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
