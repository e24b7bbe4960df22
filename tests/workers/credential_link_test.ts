import { type CredentialUpdate, newCredentialHolder } from "../../src/core/credential.ts";
import { newCredentialLink } from "../../src/workers/credential_link.ts";
import { token } from "../credentials/scripted_source.ts";
import { assertEquals } from "../support/assert.ts";

function updateTo(text: string): CredentialUpdate {
  return { issued: token(text, null), isFailing: false, nextMs: null };
}

Deno.test("a worker asks its parent once for a refresh, however many requests are refused", async () => {
  const sent: string[] = [];
  const link = newCredentialLink((id) => void sent.push(id));
  const holder = newCredentialHolder("c");
  link.follow([holder]);
  link.received(holder, "c", updateTo("t1"));
  const refused = holder.issued();
  const renewing = [holder.renew(refused), holder.renew(refused)];
  assertEquals(sent, ["c"]);
  link.received(holder, "c", updateTo("t2"));
  await Promise.all(renewing);
  assertEquals(holder.issued(), token("t2", null));
  // A request that was refused with the old one only reads the new one.
  await holder.renew(refused);
  assertEquals(sent.length, 1);
  void holder.renew(holder.issued());
  assertEquals(sent.length, 2);
});

Deno.test("a refresh that fails ends the wait, also for a credential that is not configured any more", async () => {
  const link = newCredentialLink(() => {});
  const holder = newCredentialHolder("c");
  link.follow([holder]);
  link.received(holder, "c", updateTo("t1"));
  const renewing = holder.renew(holder.issued());
  link.received(undefined, "c", { issued: null, isFailing: true, nextMs: 1 });
  await renewing;
  assertEquals(holder.issued(), token("t1", null));
});
