import { createHash } from "node:crypto";
import { signatureHeaders, type SignedRequest } from "../../src/upstream/sign.ts";
import { assertEquals } from "../support/assert.ts";

/** A request that botocore has signed, as `scripts/differential/signatures.ts` writes it. */
interface Signed {
  readonly method: string;
  readonly url: string;
  readonly type: string | null;
  readonly body: { readonly text: string; readonly times: number } | null;
  readonly scope: readonly [region: string, service: string];
  readonly keys: readonly [id: string, secret: string, session: string | null];
  readonly wallMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

const FIXTURES = new URL("aws_signatures.jsonl", import.meta.url);

Deno.test("500 requests of all kinds get the headers that botocore signs them with", async () => {
  const lines = (await Deno.readTextFile(FIXTURES)).trim().split("\n");
  assertEquals(lines.length, 500);
  for (const line of lines) {
    const { method, url, type, body, scope, keys, wallMs, headers }: Signed = JSON.parse(line);
    const [region, service] = scope;
    const [accessKeyId, secretAccessKey, sessionToken] = keys;
    const request: SignedRequest = {
      method,
      url,
      contentType: type,
      bodyDigest: createHash("sha256").update(body?.text.repeat(body.times) ?? "").digest("hex"),
      wallMs,
    };
    const signed = { kind: "aws", accessKeyId, secretAccessKey, sessionToken } as const;
    assertEquals(signatureHeaders(signed, { region, service }, request), headers, url);
  }
});
