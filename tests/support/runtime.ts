const [MAJOR = 0, MINOR = 0] = Deno.version.deno.split(".").map(Number);

/**
 * From Deno 2.8 on the runtime does not report a client that leaves during a request of more than
 * about 512 bytes while its answer is not begun. What was asked for is then finished for nobody.
 */
export const NOTICES_EARLY_LEAVE = MAJOR === 2 && MINOR < 8;
