/** A further thread, as the thread of the gateway sees it. */
export interface WorkerThread<Request> {
  post(request: Request): void;
  /** Ends the thread without waiting for it. */
  terminate(): void;
}

/** Reports of a further thread. */
export interface WorkerEvents<Reply> {
  onReply(reply: Reply): void;
  /** The thread has ended by itself. */
  onCrash(): void;
}

/** Starts a thread that runs the file at this URL. */
export function startWorker<Request, Reply>(
  file: URL,
  { onReply, onCrash }: WorkerEvents<Reply>,
): WorkerThread<Request> {
  const worker = new Worker(file, { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Reply>) => onReply(data);
  worker.onmessageerror = onCrash;
  worker.onerror = (event) => {
    // An error that is not handled here would end the process.
    event.preventDefault();
    onCrash();
  };
  return {
    post: (request) => worker.postMessage(request),
    terminate: () => worker.terminate(),
  };
}
