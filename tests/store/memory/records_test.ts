import { newMemoryRecords } from "../../../src/store/memory/records.ts";
import { testRecords } from "../conformance/records.ts";

testRecords({
  name: "memory",
  clock: "scripted",
  numRuns: 300,
  open({ bounds }) {
    let time = 0;
    return Promise.resolve({
      store: newMemoryRecords<Uint8Array>(() => time, bounds),
      advance: (ms) => Promise.resolve(void (time += ms)),
      close: () => Promise.resolve(),
    });
  },
});
