import { listenerRequest } from "./listener_request.ts";

/**
 * Calls `task` once when the client of a request disconnects before its response; it may also be
 * called after the response. A request from the listener is watched as its own signal does it, but
 * without that signal: the runtime makes an event target and two exceptions for it with each
 * request, which costs a sixth of a small request. Where a runtime has no such method, and for
 * requests made in this process, the signal is used.
 */
export function onDisconnect(request: Request, task: () => void): void {
  const inner = listenerRequest(request);
  if (inner !== null) inner.onCancel(task);
  else request.signal.addEventListener("abort", task, { once: true });
}
