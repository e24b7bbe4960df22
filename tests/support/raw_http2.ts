/** The kinds of frames that a test writes (RFC 9113, section 6). */
const HEADERS_CODE = 1, SETTINGS_CODE = 4, PING_CODE = 6;

/** Flags of frames. */
const ACK_CODE = 1, END_STREAM_CODE = 1, END_HEADERS_CODE = 4;

/** What a client of HTTP/2 sends first, one character for each byte. */
export const PREFACE = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${http2Frame(SETTINGS_CODE, 0, 0, "")}`;

/** A ping of a client. */
export const CLIENT_PING = http2Frame(PING_CODE, 0, 0, "pingpong");

/** The answer to the server's settings. */
export const SETTINGS_ACK = http2Frame(SETTINGS_CODE, ACK_CODE, 0, "");

/** A request `GET` for a path on a stream. The fields are written without compression (RFC 7541). */
export function http2Get(stream: number, path: string, authority: string): string {
  // Indexed: `:method: GET` and `:scheme: http`; literal by indexed name: `:path` and `:authority`.
  const fields = `\x82\x86\x04${text(path)}\x01${text(authority)}`;
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
