import { createECDH, createVerify, randomBytes, sign, X509Certificate } from "node:crypto";
import { pem } from "./certificates.ts";

/** Certificate that a client presents in a handshake. */
export interface Shown {
  /** Whether the certificate is this one, in PEM. */
  isCertificate(text: string): boolean;
  /** Whether the client has the key of its certificate. */
  readonly hasKey: boolean;
  /** The bytes of the first message, one character for each: a name for SNI is in them. */
  readonly hello: string;
}

const HELLO_CODE = 1, SERVER_HELLO_CODE = 2, CERTIFICATE_CODE = 11, KEY_EXCHANGE_CODE = 12;
const CERTIFICATE_REQUEST_CODE = 13, SERVER_DONE_CODE = 14, VERIFY_CODE = 15;

/** ECDHE_ECDSA with AES-128-GCM, secp256r1 and ecdsa_secp256r1_sha256. */
const CIPHER = [0xc0, 0x2b], CURVE = [0x00, 0x17], SIGNATURE = [0x04, 0x03];

type Bytes = Uint8Array | readonly number[];

/**
 * The half of a TLS 1.2 handshake (RFC 5246) up to the proof that the client has its key; the
 * runtime's own servers cannot ask for a certificate. In this version the certificate goes in
 * plain.
 */
export async function askForCertificate(connection: Deno.Conn): Promise<Shown> {
  const messages = messagesOf(connection);
  const transcript: Uint8Array[] = [];
  const hello = await nextOf(messages, HELLO_CODE, transcript);
  const clientRandom = hello.subarray(6, 38);
  const serverRandom = randomBytes(32);
  const ours = [
    message(SERVER_HELLO_CODE, [[3, 3], serverRandom, [0], CIPHER, [0]]),
    message(CERTIFICATE_CODE, [sized(3, [sized(3, [derOf(pem("named.pem"))])])]),
    message(KEY_EXCHANGE_CODE, keyExchange(clientRandom, serverRandom)),
    message(CERTIFICATE_REQUEST_CODE, [[1, 64], [0, 2], SIGNATURE, [0, 0]]),
    message(SERVER_DONE_CODE, []),
  ];
  transcript.push(...ours);
  const flight = joined(ours);
  await connection.write(joined([[22, 3, 3], sized(2, [flight])]));
  const certificate = await nextOf(messages, CERTIFICATE_CODE, transcript);
  const before = transcript.length;
  const proof = await nextOf(messages, VERIFY_CODE, transcript);
  return {
    isCertificate: (text) => certificate.subarray(10).toHex() === derOf(text).toHex(),
    hasKey: isProof(proof, joined(transcript.slice(0, before + 1)), certificate.subarray(10)),
    hello: String.fromCharCode(...hello),
  };
}

function keyExchange(clientRandom: Uint8Array, serverRandom: Uint8Array): Bytes[] {
  const point = new Uint8Array(createECDH("prime256v1").generateKeys());
  const parameters = joined([[3], CURVE, sized(1, [point])]);
  const signed = joined([clientRandom, serverRandom, parameters]);
  return [parameters, SIGNATURE, sized(2, [sign("sha256", signed, pem("server.key"))])];
}

/** The signature of all messages before it. */
function isProof(proof: Uint8Array, transcript: Uint8Array, certificate: Uint8Array): boolean {
  const { publicKey } = new X509Certificate(certificate);
  return createVerify("sha256").update(transcript).verify(publicKey, proof.subarray(8));
}

/** Reads messages up to one of this type; all before it, and it, go to the transcript. */
async function nextOf(
  messages: AsyncGenerator<Uint8Array>,
  type: number,
  transcript: Uint8Array[],
): Promise<Uint8Array> {
  for (;;) {
    const { done, value } = await messages.next();
    if (done) throw new Error(`the client ended before message ${type}`);
    if (value[0] === type) {
      if (type !== VERIFY_CODE) transcript.push(value);
      return value;
    }
    transcript.push(value);
  }
}

/** The handshake messages out of the records of a connection. */
async function* messagesOf(connection: Deno.Conn): AsyncGenerator<Uint8Array> {
  let raw = new Uint8Array(0);
  let content = new Uint8Array(0);
  for (;;) {
    while (content.length >= 4 && content.length >= 4 + sizeAt(content, 1, 3)) {
      const length = 4 + sizeAt(content, 1, 3);
      yield content.slice(0, length);
      content = content.slice(length);
    }
    while (raw.length < 5 || raw.length < 5 + sizeAt(raw, 3, 2)) {
      const room = new Uint8Array(16_384);
      const count = await connection.read(room);
      if (count === null) return;
      raw = joined([raw, room.subarray(0, count)]);
    }
    const length = 5 + sizeAt(raw, 3, 2);
    if (raw[0] === 22) content = joined([content, raw.subarray(5, length)]);
    raw = raw.slice(length);
  }
}

function sizeAt(bytes: Uint8Array, at: number, width: number): number {
  return bytes.subarray(at, at + width).reduce((size, byte) => size * 256 + byte, 0);
}

function message(type: number, parts: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  return joined([[type], sized(3, parts)]);
}

/** Returns the parts after their length, which is written in this number of bytes. */
function sized(width: number, parts: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  const content = joined(parts);
  const length = Array.from(
    { length: width },
    (_, at) => (content.length >> (8 * (width - 1 - at))) & 255,
  );
  return joined([length, content]);
}

function joined(parts: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function derOf(text: string): Uint8Array<ArrayBuffer> {
  const [, base64 = ""] = /CERTIFICATE-----([^-]+)-----/.exec(text) ?? [];
  return Uint8Array.fromBase64(base64.replace(/\s/g, ""));
}
