/** The kinds of frames that a test writes (RFC 9113, section 6). */
const HEADERS_CODE = 1, SETTINGS_CODE = 4, PING_CODE = 6;

/** Flags of frames. */
const ACK_CODE = 1, END_STREAM_CODE = 1, END_HEADERS_CODE = 4;

const MAGIC = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** First bytes of a client of HTTP/2, one character for each byte. */
export const PREFACE = `${MAGIC}${http2Frame(SETTINGS_CODE, 0, 0, "")}`;

/** The same from a client that takes no byte of a body until it opens the window of a stream. */
export const CLOSED_PREFACE = MAGIC + http2Frame(SETTINGS_CODE, 0, 0, "\x00\x04\x00\x00\x00\x00");

/** A ping of a client. */
export const CLIENT_PING = http2Frame(PING_CODE, 0, 0, "pingpong");

/** The answer to the server's settings. */
export const SETTINGS_ACK = http2Frame(SETTINGS_CODE, ACK_CODE, 0, "");

/**
 * A request `GET` for a path on a stream, with a field `host` unless it is empty. The fields are
 * written without compression (RFC 7541).
 */
export function http2Get(stream: number, path: string, authority: string, host = ""): string {
  // Indexed: `:method: GET` and `:scheme: http`; literal by indexed name: `:path` and `:authority`.
  const pseudo = `\x82\x86\x04${text(path)}\x01${text(authority)}`;
  const fields = host === "" ? pseudo : `${pseudo}\x00${text("host")}${text(host)}`;
  return http2Frame(HEADERS_CODE, END_STREAM_CODE | END_HEADERS_CODE, stream, fields);
}

function text(value: string): string {
  return String.fromCharCode(value.length) + value;
}

function http2Frame(kind: number, flags: number, stream: number, payload: string): string {
  const { length } = payload;
  return String.fromCharCode(
    length >> 16,
    (length >> 8) & 0xff,
    length & 0xff,
    kind,
    flags,
    stream >> 24,
    (stream >> 16) & 0xff,
    (stream >> 8) & 0xff,
    stream & 0xff,
  ) + payload;
}
