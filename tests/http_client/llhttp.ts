import { Buffer } from "node:buffer";
import wasm from "undici/lib/llhttp/llhttp-wasm.js";

/** Result of llhttp, the parser of Node.js, for an answer whose connection then ends. */
export type Verdict =
  | { readonly kind: "refused"; readonly reason: string }
  | {
    readonly kind: "read";
    readonly status: number;
    readonly body: string;
    /**
     * The connection can be used again: it need not end for the body to end, and nothing follows.
     */
    readonly isReusable: boolean;
  };

/** The exports of undici's build of llhttp that are used here; pointers are numbers. */
interface Parser {
  readonly memory: WebAssembly.Memory;
  malloc(size: number): number;
  free(pointer: number): void;
  llhttp_alloc(type: number): number;
  llhttp_free(parser: number): void;
  llhttp_execute(parser: number, data: number, length: number): number;
  llhttp_finish(parser: number): number;
  llhttp_get_error_pos(parser: number): number;
  llhttp_get_error_reason(parser: number): number;
  llhttp_get_status_code(parser: number): number;
  llhttp_should_keep_alive(parser: number): number;
}

const RESPONSE_CODE = 2, OK_CODE = 0, PAUSED_CODE = 21;

/** Values that the callbacks have read of the one answer at a time. */
const seen = { status: 0, body: "", isWhole: false, isKept: false };

const llhttp: Parser = instance();

function instance(): Parser {
  if (!Buffer.isBuffer(wasm)) throw new Error("the package holds no parser");
  const nothing = () => 0;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(wasm)), {
    env: {
      wasm_on_message_begin: nothing,
      wasm_on_url: nothing,
      wasm_on_status: nothing,
      wasm_on_header_field: nothing,
      wasm_on_header_value: nothing,
      wasm_on_headers_complete: nothing,
      wasm_on_body(_parser: number, at: number, length: number) {
        seen.body += latin1(new Uint8Array(llhttp.memory.buffer, at, length));
        return 0;
      },
      wasm_on_message_complete(parser: number) {
        seen.status = llhttp.llhttp_get_status_code(parser);
        seen.isKept = llhttp.llhttp_should_keep_alive(parser) !== 0;
        const isInterim = seen.status < 200 && seen.status !== 101;
        if (isInterim) return 0;
        seen.isWhole = true;
        return PAUSED_CODE;
      },
    },
  });
  return exports as unknown as Parser;
}

function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (code) => String.fromCharCode(code)).join("");
}

/** Returns the verdict of llhttp, as strict as it comes, on these bytes, one for each character. */
export function judged(text: string): Verdict {
  Object.assign(seen, { status: 0, body: "", isWhole: false, isKept: false });
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const data = llhttp.malloc(Math.max(bytes.length, 1));
  const parser = llhttp.llhttp_alloc(RESPONSE_CODE);
  try {
    new Uint8Array(llhttp.memory.buffer, data, bytes.length).set(bytes);
    let code = llhttp.llhttp_execute(parser, data, bytes.length);
    const used = code === OK_CODE ? bytes.length : llhttp.llhttp_get_error_pos(parser) - data;
    if (code === OK_CODE) code = llhttp.llhttp_finish(parser);
    if (!seen.isWhole) return { kind: "refused", reason: `${reason(parser)} (${code})` };
    const { status, body, isKept } = seen;
    return { kind: "read", status, body, isReusable: isKept && used === bytes.length };
  } finally {
    llhttp.llhttp_free(parser);
    llhttp.free(data);
  }
}

function reason(parser: number): string {
  const at = llhttp.llhttp_get_error_reason(parser);
  if (at === 0) return "the answer is not whole";
  const bytes = new Uint8Array(llhttp.memory.buffer, at);
  return latin1(bytes.subarray(0, bytes.indexOf(0)));
}
