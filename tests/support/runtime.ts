const [MAJOR = 0, MINOR = 0] = Deno.version.deno.split(".").map(Number);

/**
 * From Deno 2.8 on the runtime does not report a client that leaves during a request of more than
 * about 512 bytes before its response has begun. The request is then finished without a client.
 */
export const NOTICES_EARLY_LEAVE = MAJOR === 2 && MINOR < 8;

/**
 * From Deno 2.9 on the runtime itself never ends a handshake whose client resets the connection
 * before its answer is out; one that closes it is let go of.
 */
export const ENDS_RESET_HANDSHAKES = MAJOR === 2 && MINOR < 9;

/**
 * From Deno 2.9 on a server of `node:https` that requires a certificate refuses a client without
 * one.
 */
export const CHECKS_CLIENT_CERTIFICATES = MAJOR > 2 || MINOR >= 9;

/** From Deno 2.9 on a test that waits for nothing fails alone; before, its file ends with it. */
export const ENDS_WAITING_TESTS = MAJOR > 2 || MINOR >= 9;
