// @ts-check
/** @import { Snapshot } from "../snapshot.ts" */

export const CHAT_PATH = "/v1/chat/completions";

/** Name by which a request leaves the model to the route and its provider. */
export const NO_MODEL = "auto";

/** Hosts that mean each address of the machine, at which no client can connect. */
const ANY_HOST = ["0.0.0.0", "[::]"];

/**
 * Returns the address of the gateway as the person can reach it: a gateway that listens on all
 * addresses is where this page is.
 * @param {Pick<Snapshot, "gatewayUrl">} snapshot
 * @param {{ hostname: string }} place
 */
export function gatewayUrl(snapshot, { hostname }) {
  if (!URL.canParse(snapshot.gatewayUrl)) return snapshot.gatewayUrl;
  const url = new URL(snapshot.gatewayUrl);
  if (ANY_HOST.includes(url.hostname)) url.hostname = hostname;
  // The content policy of the page has no form for IPv6 addresses.
  if (url.hostname === "[::1]") url.hostname = "localhost";
  return url.href.replace(/\/$/, "");
}

/**
 * Returns the model of an example call.
 * @param {Pick<Snapshot, "exampleModel">} snapshot
 */
export function firstModel({ exampleModel }) {
  return exampleModel ?? NO_MODEL;
}

/**
 * Returns the value of the header of a client key.
 * @param {Snapshot["keyHeader"]} header
 * @param {string} key
 */
export function keyValue({ prefix }, key) {
  return prefix === "" ? key : `${prefix} ${key}`;
}

/**
 * Returns the command that sends the same call. The key is a variable of the shell, so that it is
 * in no history.
 * @param {{ url: string, keyHeader: Snapshot["keyHeader"] | null, body: object }} call
 */
export function curlText({ url, keyHeader, body }) {
  return [
    `curl ${quoted(`${url}${CHAT_PATH}`)}`,
    ...(keyHeader === null ? [] : [`  -H ${keyWord(keyHeader)}`]),
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n");
}

/**
 * Returns the header of a client key as a word for a POSIX shell, in which only the key is
 * expanded.
 * @param {Snapshot["keyHeader"]} header
 */
function keyWord(header) {
  const before = `${header.name}: ${keyValue(header, "")}`.replace(/[\\"$`]/g, "\\$&");
  return `"${before}$SWITCHYARD_KEY"`;
}

/**
 * Returns a word for a POSIX shell, in which nothing is expanded.
 * @param {string} text
 */
export function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
