import type { RequestHeaders } from "../core/request_headers.ts";
import { listenerRequest } from "./listener_request.ts";

/**
 * Returns the header fields of a request. Those of a request from the listener are put into a table once:
 * the runtime's `Headers` converts the name and compares all fields for each lookup, which costs 2 % of a small
 * request. Where a runtime has no list of fields, and for requests made in this process, `Headers` is used.
 */
export function requestHeaders(request: Request): RequestHeaders {
  const list = listenerRequest(request)?.headerList;
  return isFieldList(list) ? new FieldTable(list) : request.headers;
}

type FieldList = readonly (readonly [name: string, value: string])[];

function isFieldList(list: unknown): list is FieldList {
  return Array.isArray(list) && (list.length === 0 || isField(list[0]));
}

function isField(field: unknown): boolean {
  return Array.isArray(field) && field.length === 2 && typeof field[0] === "string" &&
    typeof field[1] === "string";
}

class FieldTable implements RequestHeaders {
  readonly #values = new Map<string, string>();

  constructor(list: FieldList) {
    for (const [written, value] of list) {
      // Newer runtimes do not convert names to lower case.
      const name = written.toLowerCase();
      const earlier = this.#values.get(name);
      this.#values.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  [Symbol.iterator]() {
    return this.#values.entries();
  }
}
