/** The runtime's own form of a request from its listener, of which these members are undocumented. */
export interface ListenerRequest {
  /** Calls `task` when the client disconnects, and also after a complete response. */
  onCancel(task: () => void): void;
  /** Names and values of the header fields, in the order in which they arrived. */
  readonly headerList: unknown;
}

/** The symbol under which the runtime stores its form of a request; undefined if it has none. */
let innerSymbol: symbol | undefined;

/** Returns the runtime's own form of a request from its listener; null for any other request. */
export function listenerRequest(request: Request): ListenerRequest | null {
  innerSymbol ??= Object.getOwnPropertySymbols(request)
    .find(({ description }) => description === "request");
  const inner: unknown = innerSymbol === undefined ? null : Reflect.get(request, innerSymbol);
  return isListenerRequest(inner) ? inner : null;
}

function isListenerRequest(inner: unknown): inner is ListenerRequest {
  return typeof inner === "object" && inner !== null && "onCancel" in inner &&
    typeof inner.onCancel === "function";
}
