// JavaScript, because an executable has this file next to the program under the same name, as the
// bundle of this one.
import { newReplayThread } from "./worker.ts";

const receive = newReplayThread((reply) => self.postMessage(reply));
self.onmessage = ({ data }) => void receive(data);
