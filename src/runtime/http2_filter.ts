// Until `Deno.serve` has an option for HTTP/1.1 only.

/** First bytes of a client of HTTP/2 that does not ask whether the server speaks it (RFC 9113). */
const PREFACE = "PRI * HTTP/2.0\r\n";

// Opcodes of a classic socket filter, from <linux/bpf_common.h> and <linux/filter.h>.
const LOAD_BYTE_CODE = 0x30, LOAD_BYTE_AFTER_X_CODE = 0x50, LOAD_LENGTH_CODE = 0x80;
const LOAD_STORED_CODE = 0x60, STORE_CODE = 0x02, COPY_TO_X_CODE = 0x07;
const AND_CODE = 0x54, SHIFT_RIGHT_CODE = 0x74, SUBTRACT_X_CODE = 0x1c;
const JUMP_IF_EQUAL_CODE = 0x15, RETURN_CODE = 0x06;

/** Byte of a TCP header whose upper half is the size of the header in words of 4 bytes. */
const HEADER_SIZE_OFFSET = 12;

/** Size of an instruction, `struct sock_filter`. */
export const INSTRUCTION_BYTES = 8;

/** An instruction: opcode, operand, and the instructions to skip if it is true and if not. */
type Instruction = readonly [opcode: number, operand: number, ifTrue?: number, ifFalse?: number];

/**
 * Returns a socket filter that drops the TCP segments with which a client begins HTTP/2, and
 * accepts all others. Dropped are those whose whole payload is a beginning of the preface, and
 * those that begin with it. The kernel takes what it drops for lost, so that the client repeats it:
 * a piece of a body that is no more than such a beginning arrives once the connection has no filter
 * any more.
 */
export function http2Filter(): Uint8Array<ArrayBuffer> {
  const begin: readonly Instruction[] = [
    [LOAD_BYTE_CODE, HEADER_SIZE_OFFSET],
    [AND_CODE, 0xf0],
    [SHIFT_RIGHT_CODE, 2],
    [COPY_TO_X_CODE, 0],
    [LOAD_LENGTH_CODE, 0],
    [SUBTRACT_X_CODE, 0],
    [STORE_CODE, 0],
  ];
  /** The instruction that drops; the one after it accepts. */
  const drop = begin.length + PREFACE.length * 4;
  const compare = [...PREFACE].flatMap((character, at): readonly Instruction[] => {
    const [ended, different] = [begin.length + at * 4 + 1, begin.length + at * 4 + 3];
    const end = at === 0 ? drop + 1 : drop;
    return [
      [LOAD_STORED_CODE, 0],
      [JUMP_IF_EQUAL_CODE, at, end - ended - 1, 0],
      [LOAD_BYTE_AFTER_X_CODE, at],
      [JUMP_IF_EQUAL_CODE, character.charCodeAt(0), 0, drop - different],
    ];
  });
  const instructions = [...begin, ...compare, [RETURN_CODE, 0], [RETURN_CODE, 0xffffffff]] as const;
  const program = new Uint8Array(instructions.length * INSTRUCTION_BYTES);
  const fields = new DataView(program.buffer);
  for (const [at, [opcode, operand, ifTrue = 0, ifFalse = 0]] of instructions.entries()) {
    const offset = at * INSTRUCTION_BYTES;
    fields.setUint16(offset, opcode, true);
    fields.setUint8(offset + 2, ifTrue);
    fields.setUint8(offset + 3, ifFalse);
    fields.setUint32(offset + 4, operand, true);
  }
  return program;
}
