/** Names of headers and of parameters that hold credentials more often than not. */
export const SECRET_NAME = /auth|key|token|secret|cookie|password|credential/i;
